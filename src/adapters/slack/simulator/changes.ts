export interface Changes {
  /** Grows by one with every change. */
  revision(): number;
  notify(): void;
  /**
   * Resolves with the predicate's value as soon as a change makes it truthy (or at once). Rejects after `timeoutMs`
   * (10,000 unless given), when the predicate throws, and when the simulator stops.
   */
  waitFor<T>(predicate: () => T, options?: WaitOptions): Promise<NonNullable<T>>;
  /** Rejects whoever waits. */
  close(): void;
}

export interface WaitOptions {
  readonly timeoutMs?: number;
  /** What is waited for, for the message of the rejection. */
  readonly what?: string;
}

interface Waiter {
  check(): void;
  fail(error: Error): void;
}

/** Says that something changed, to whoever waits for a condition: nobody has to poll or sleep. */
export function createChanges(): Changes {
  const waiters = new Set<Waiter>();
  let revision = 0;
  return {
    revision: () => revision,
    notify() {
      revision += 1;
      for (const waiter of [...waiters]) waiter.check();
    },
    waitFor<T>(predicate: () => T, { timeoutMs = 10_000, what }: WaitOptions = {}) {
      return new Promise<NonNullable<T>>((resolve, reject) => {
        const settle = (act: () => void): void => {
          waiters.delete(waiter);
          clearTimeout(timer);
          act();
        };
        const waiter: Waiter = {
          check() {
            try {
              const value = predicate();
              if (value) settle(() => resolve(value));
            } catch (error) {
              settle(() => reject(error));
            }
          },
          fail: (error) => settle(() => reject(error)),
        };
        const timer = setTimeout(
          () => waiter.fail(new Error(`Slack simulator: not within ${timeoutMs} ms: ${what ?? predicate.toString()}`)),
          timeoutMs,
        );
        waiters.add(waiter);
        waiter.check();
      });
    },
    close() {
      for (const waiter of [...waiters]) waiter.fail(new Error("Slack simulator: stopped while somebody waited"));
    },
  };
}
