/** What a pool keeps warm: something that can end, by itself or by being told. */
export interface Pooled {
  readonly alive: boolean;
  readonly gone: Promise<unknown>;
  end(reason: string): Promise<void>;
}

export interface Pool<T extends Pooled> {
  /**
   * A warm one of this key, or null: the caller starts one and holds a slot for it. Waits while every slot is leased,
   * oldest first; rejects with the signal's reason.
   */
  acquire(key: string, signal: AbortSignal): Promise<T | null>;
  /** Ends a lease: keeps what is alive warm for its key, or frees the slot of what is gone (null: never started). */
  release(key: string, value: T | null): Promise<void>;
  /** Ends what is idle and refuses who waits; leases stay with their holders. */
  close(): Promise<void>;
}

interface Idle<T> {
  readonly key: string;
  readonly value: T;
  readonly timer: NodeJS.Timeout;
}

interface Waiter<T> {
  readonly key: string;
  grant(value: T | null): void;
  refuse(reason: unknown): void;
}

/** At most `size` at a time, leased, idle or dying; an idle one ends after `idleMs`, or when its slot is wanted. */
export function createPool<T extends Pooled>({ size, idleMs }: { size: number; idleMs: number }): Pool<T> {
  /** Least recently used first. */
  const idle: Idle<T>[] = [];
  const waiting: Waiter<T>[] = [];
  let free = size;
  let closed = false;

  const freeSlot = () => {
    const next = waiting.shift();
    if (next) next.grant(null);
    else free++;
  };

  /** True for the one caller that took it from the shelf. */
  const unshelve = (entry: Idle<T>): boolean => {
    const at = idle.indexOf(entry);
    if (at < 0) return false;
    idle.splice(at, 1);
    clearTimeout(entry.timer);
    return true;
  };

  const evict = async (entry: Idle<T>, reason: string) => {
    if (!unshelve(entry)) return;
    await entry.value.end(reason);
    freeSlot();
  };

  const shelve = (key: string, value: T) => {
    const timer = setTimeout(() => void evict(entry, "it was idle"), idleMs).unref();
    const entry: Idle<T> = { key, value, timer };
    idle.push(entry);
    void value.gone.then(() => evict(entry, "it ended"));
  };

  const wait = (key: string, signal: AbortSignal) =>
    new Promise<T | null>((resolve, reject) => {
      const settle = <A>(then: (value: A) => void) => {
        return (value: A) => {
          signal.removeEventListener("abort", onAbort);
          then(value);
        };
      };
      const waiter: Waiter<T> = { key, grant: settle(resolve), refuse: settle(reject) };
      const onAbort = () => {
        waiting.splice(waiting.indexOf(waiter), 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      waiting.push(waiter);
    });

  return {
    async acquire(key, signal) {
      signal.throwIfAborted();
      if (closed) throw new Error("the runtime host is closed");
      const warm = idle.findLast((entry) => entry.key === key && entry.value.alive);
      if (warm && unshelve(warm)) return warm.value;
      if (free > 0) {
        free--;
        return null;
      }
      const granted = wait(key, signal);
      const oldest = idle[0];
      if (oldest) void evict(oldest, "its place was needed");
      return granted;
    },

    async release(key, value) {
      if (!value?.alive) {
        await value?.gone;
        return freeSlot();
      }
      const same = waiting.findIndex((waiter) => waiter.key === key);
      const [successor] = same < 0 ? [] : waiting.splice(same, 1);
      if (successor) return successor.grant(value);
      if (!closed && waiting.length === 0) return shelve(key, value);
      await value.end("its place was needed");
      freeSlot();
    },

    async close() {
      closed = true;
      for (const waiter of waiting.splice(0)) waiter.refuse(new Error("the runtime host is closed"));
      await Promise.all([...idle].map((entry) => evict(entry, "the runtime host closed")));
    },
  };
}
