import { isOutage } from "../core/db/outage.ts";
import { applyDecision } from "../core/flow/applyDecision.ts";
import type { WorkerCore } from "../core/flow/core.ts";
import { deliver } from "../core/flow/deliver.ts";
import { runTurns } from "../core/flow/runTurn.ts";
import { verifyDecision } from "../core/flow/verifyDecision.ts";
import { type JobQueue, WAKE_KINDS, type WakeKind } from "../core/ports.ts";

interface Taking {
  /**
   * Turns wait for models most of their time, deliveries for a platform; what bounds them is the children and
   * connections they hold.
   */
  readonly concurrency: number;
  readonly handle: (core: WorkerCore, id: string) => Promise<void>;
}

const TAKING: Readonly<Record<WakeKind, Taking>> = {
  turn: { concurrency: 16, handle: runTurns },
  apply: { concurrency: 8, handle: applyDecision },
  verify: { concurrency: 4, handle: verifyDecision },
  deliver: { concurrency: 16, handle: deliver },
};

/** Takes wakes of every kind, from each of the queues. */
export async function startWorkers(core: WorkerCore, queues: readonly Pick<JobQueue, "consume">[]): Promise<void> {
  for (const kind of WAKE_KINDS) {
    const { concurrency, handle } = TAKING[kind];
    for (const queue of queues) {
      await queue.consume(kind, concurrency, async (id) => {
        try {
          await handle(core, id);
        } catch (error) {
          if (!isOutage(error)) throw error;
          // Everything under way says the same then; that the database is away is told where it is watched.
          core.log.debug({ err: error, kind, id }, "a wake was left to the sweeper: the database is away");
        }
      });
    }
  }
}
