import { type JobQueue, type Log, WAKE_KINDS, type Wake, type WakeKind } from "../core/ports.ts";

/** What may wait of one kind. It bounds memory, and loses nothing: the sweeper rings again for what is left out. */
const WAITING_AT_MOST = 1_000;

interface Taker {
  readonly concurrency: number;
  readonly handler: (id: string) => Promise<void>;
  /** In the order they were rung; a row waits once however often it is rung. */
  readonly waiting: Set<string>;
  /** A row is handled once at a time, and again when it was rung meanwhile. */
  readonly running: Map<string, Promise<void>>;
}

/**
 * A doorbell inside one process, for while the one between processes is away. A delayed wake is not kept: its row is
 * due by then, and what is due the sweeper rings for.
 */
export function createOwnQueue(log: Log): Pick<JobQueue, "wake" | "consume" | "stop"> {
  const takers = new Map<WakeKind, Taker>();
  let stopped = false;

  function startNext(kind: WakeKind, taker: Taker): void {
    for (const id of taker.waiting) {
      if (stopped || taker.running.size >= taker.concurrency) return;
      if (taker.running.has(id)) continue;
      taker.waiting.delete(id);
      taker.running.set(id, run(kind, taker, id));
    }
  }

  async function run(kind: WakeKind, taker: Taker, id: string): Promise<void> {
    try {
      await taker.handler(id);
    } catch (error) {
      log.error({ err: error, kind, id }, "a wake's handler failed");
    } finally {
      taker.running.delete(id);
      startNext(kind, taker);
    }
  }

  return {
    async wake(wakes: readonly Wake[]) {
      for (const { kind, id, delayMs = 0 } of wakes) {
        const taker = takers.get(kind);
        if (taker && delayMs === 0 && taker.waiting.size < WAITING_AT_MOST) taker.waiting.add(id);
      }
      for (const kind of WAKE_KINDS) {
        const taker = takers.get(kind);
        if (taker) startNext(kind, taker);
      }
    },
    async consume(kind, concurrency, handler) {
      takers.set(kind, { concurrency, handler, waiting: new Set(), running: new Map() });
    },
    async stop() {
      stopped = true;
      await Promise.all([...takers.values()].flatMap(({ running }) => [...running.values()]));
    },
  };
}
