import type { WorkerCore } from "../core/flow/core.ts";
import { sweep } from "../core/flow/sweep.ts";

/** How soon a lost wake or a dead worker's claim is found; each sweep is a handful of indexed look-ups. */
const SWEEP_MS = 2_000;

/** Long enough for a sweep of a hundred rows of every kind on a slow database. */
const LATE_MS = 30_000;

export interface Sweeper {
  /** Since this worker last swept, or last left it to the one that was sweeping. */
  ageMs(): number;
  /** Rejects when that is too long ago. */
  check(): Promise<void>;
  /** Starts no more; resolves when the sweep that runs has ended. */
  stop(): Promise<void>;
}

/** Sweeps on a timer of its own: recovery must not depend on what it recovers. */
export function startSweeper(core: WorkerCore, everyMs = SWEEP_MS): Sweeper {
  let sweeping: Promise<void> | null = null;
  let sweptAt = performance.now();
  let failing = false;

  async function once(): Promise<void> {
    try {
      await sweep(core);
      sweptAt = performance.now();
      failing = false;
    } catch (error) {
      if (!failing) core.log.warn({ err: error }, "a sweep failed; the next ones try again");
      failing = true;
    }
  }

  const timer = setInterval(() => {
    sweeping ??= once().finally(() => {
      sweeping = null;
    });
  }, everyMs);
  const ageMs = (): number => performance.now() - sweptAt;
  return {
    ageMs,
    async check() {
      if (ageMs() > LATE_MS) throw new Error(`nothing was swept for ${Math.round(ageMs() / 1000)} s`);
    },
    async stop() {
      clearInterval(timer);
      await sweeping;
    },
  };
}
