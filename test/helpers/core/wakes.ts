import { applyDecision } from "../../../src/core/flow/applyDecision.ts";
import type { WorkerCore } from "../../../src/core/flow/core.ts";
import { deliver } from "../../../src/core/flow/deliver.ts";
import { runTurns } from "../../../src/core/flow/runTurn.ts";
import { verifyDecision } from "../../../src/core/flow/verifyDecision.ts";
import type { Wake } from "../../../src/core/ports.ts";

/** A queue that only collects: nothing runs until a test says so. */
export interface Wakes {
  readonly ring: (wakes: readonly Wake[]) => Promise<void>;
  /** What was rung and not taken; delayed ones not included. */
  readonly waiting: readonly Wake[];
  readonly delayed: readonly Wake[];
  /** Takes everything that waits without running it: the wakes are lost. */
  lose(): Wake[];
  /** Delays that are over after so many milliseconds more. */
  pass(ms: number): void;
  /** Runs the handlers, one wake after another, until none waits. */
  drain(core: WorkerCore): Promise<void>;
}

export function createWakes(): Wakes {
  const waiting: Wake[] = [];
  let delayed: Wake[] = [];
  return {
    waiting,
    get delayed() {
      return delayed;
    },
    async ring(wakes) {
      for (const wake of wakes) (wake.delayMs ? delayed : waiting).push(wake);
    },
    lose() {
      delayed = [];
      return waiting.splice(0);
    },
    pass(ms) {
      const left = delayed.map((wake) => ({ ...wake, delayMs: (wake.delayMs ?? 0) - ms }));
      delayed = left.filter((wake) => wake.delayMs > 0);
      waiting.push(...left.filter((wake) => wake.delayMs <= 0).map(({ kind, id }) => ({ kind, id })));
    },
    async drain(core) {
      // A worker that shuts down takes nothing more.
      const next = () => (core.leases.closing() ? undefined : waiting.shift());
      for (let wake = next(); wake; wake = next()) await run(core, wake);
    },
  };
}

function run(core: WorkerCore, { kind, id }: Wake): Promise<void> {
  switch (kind) {
    case "turn":
      return runTurns(core, id);
    case "apply":
      return applyDecision(core, id);
    case "deliver":
      return deliver(core, id);
    case "verify":
      return verifyDecision(core, id);
  }
}
