import { AsyncLocalStorage } from "node:async_hooks";
import type { Traffic } from "../../domain/decision.ts";
import { RUNTIME_LIMITS } from "../limits.ts";

/** What one invocation sent, while it runs. */
export class Attempt {
  readonly #writes: { status: number | null }[] = [];
  #opaque = 0;

  /** A write left; returns what notes its answer. */
  write(): (status: number) => void {
    const write: { status: number | null } = { status: null };
    if (this.#writes.length < RUNTIME_LIMITS.listedWrites) this.#writes.push(write);
    else this.#opaque++;
    return (status) => {
      write.status = status;
    };
  }

  opaque(): void {
    this.#opaque++;
  }

  read(): Traffic {
    return { writes: this.#writes.map(({ status }) => ({ status })), opaque: this.#opaque };
  }
}

/**
 * Who sent it? The invocation whose asynchronous context something is in; where that was lost, every one that runs:
 * a write too many on the list makes an outcome unconfirmed, one too few would make it a failure that it is not.
 */
export interface Attribution {
  run<T>(attempt: Attempt, fn: () => T): T;
  /** Those that may have caused what happens now. */
  current(): readonly Attempt[];
  running(): readonly Attempt[];
  end(attempt: Attempt): void;
}

export function createAttribution(): Attribution {
  const context = new AsyncLocalStorage<Attempt>();
  const running = new Set<Attempt>();
  return {
    run(attempt, fn) {
      running.add(attempt);
      return context.run(attempt, fn);
    },
    current() {
      const attempt = context.getStore();
      return attempt ? [attempt] : [...running];
    },
    running: () => [...running],
    end: (attempt) => void running.delete(attempt),
  };
}
