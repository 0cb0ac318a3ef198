import type { JobQueue, Log, Wake } from "../core/ports.ts";

/** Rings after a commit. A wake that is not heard is no loss: the sweeper finds its row. */
export const createRing =
  (queue: JobQueue, log: Log) =>
  async (wakes: readonly Wake[]): Promise<void> => {
    if (wakes.length === 0) return;
    await queue
      .wake(wakes)
      .catch((error) => log.warn({ err: error, wakes: wakes.length }, "the queue did not take a wake"));
  };
