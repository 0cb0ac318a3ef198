import { applyDecision } from "../core/flow/applyDecision.ts";
import type { WorkerCore } from "../core/flow/core.ts";
import { deliver } from "../core/flow/deliver.ts";
import { runTurns } from "../core/flow/runTurn.ts";
import { sweep } from "../core/flow/sweep.ts";
import { verifyDecision } from "../core/flow/verifyDecision.ts";
import type { JobQueue } from "../core/ports.ts";

/**
 * Turns wait for models most of their time, deliveries for a platform; what bounds them is the children and
 * connections they hold.
 */
const CONCURRENCY = { turn: 16, apply: 8, verify: 4, deliver: 16 } as const;

/** How soon a lost wake or a dead worker's claim is found; each sweep is a handful of indexed look-ups. */
const SWEEP_MS = 2_000;

export interface Workers {
  /** Stops the sweeper, waits for the one that runs. Taking wakes is stopped by closing the queue. */
  close(): Promise<void>;
}

/** Takes wakes of every kind, and sweeps. */
export async function startWorkers(core: WorkerCore, queue: JobQueue): Promise<Workers> {
  await queue.consume("turn", CONCURRENCY.turn, (id) => runTurns(core, id));
  await queue.consume("apply", CONCURRENCY.apply, (id) => applyDecision(core, id));
  await queue.consume("verify", CONCURRENCY.verify, (id) => verifyDecision(core, id));
  await queue.consume("deliver", CONCURRENCY.deliver, (id) => deliver(core, id));

  let sweeping: Promise<unknown> = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    sweeping = sweep(core)
      .catch((error) => core.log.warn({ err: error }, "a sweep failed; the next one tries again"))
      .finally(() => {
        busy = false;
      });
  }, SWEEP_MS);
  return {
    async close() {
      clearInterval(timer);
      await sweeping;
    },
  };
}
