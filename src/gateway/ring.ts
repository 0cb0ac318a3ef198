import type { JobQueue, Log, Wake } from "../core/ports.ts";
import type { Dependency } from "./dependency.ts";

export interface RingDeps {
  readonly queue: Pick<JobQueue, "wake">;
  /** The queue as this process last saw it: says when one that did not take a wake answers again. */
  readonly state: Pick<Dependency, "isUp" | "failed">;
  /** Where a worker handles what the queue did not take. Null in a gateway: its wakes are left to the sweepers. */
  readonly own: Pick<JobQueue, "wake"> | null;
  readonly log: Log;
}

/**
 * Rings after a commit; never rejects. A wake that nobody hears is no loss: the sweeper finds its row, and handlers
 * claim rows, so that one heard twice does nothing.
 */
export function createRing({ queue, state, own, log }: RingDeps): (wakes: readonly Wake[]) => Promise<void> {
  /** It did not take a wake, and nobody shall wait for it to say so again. A probe that was slow is no such sign. */
  let away = false;

  return async (wakes) => {
    if (wakes.length === 0) return;
    away &&= !state.isUp();
    if (!away) {
      try {
        return await queue.wake(wakes);
      } catch (error) {
        away = true;
        state.failed(error);
      }
    }
    log.debug({ wakes: wakes.length, own: own !== null }, "wakes go without the queue");
    await own?.wake(wakes);
  };
}
