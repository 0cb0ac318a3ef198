import type { Log } from "../core/ports.ts";

/** One thing this process depends on. */
export interface DependencyCheck {
  readonly name: "database" | "queue" | "sweeper";
  /** Without it the process should get no traffic. */
  readonly required: boolean;
  /** Rejects when it does not answer. */
  readonly check: () => Promise<unknown>;
}

export interface Reading {
  readonly state: "up" | "down";
  readonly required: boolean;
  /** How old this reading is. */
  readonly ageMs: number;
  /** How long the state has been what it is, as far as this process has seen. */
  readonly forMs: number;
}

/**
 * A dependency as this process sees it. That it went, and that it is back, is told to the log once each; of one that
 * comes and goes (a Redis that answers and takes nothing), once a minute.
 */
export interface Dependency {
  readonly name: DependencyCheck["name"];
  /** As it was last seen; one nobody has looked at is taken to be up. */
  isUp(): boolean;
  /** Somebody who used it was let down. */
  failed(error: unknown): void;
  /** Looks, within bounded time and at most once a second, however many ask. */
  read(): Promise<Reading>;
}

/** Under what probes wait by default (Kubernetes: 1 s), with room for the answer. */
const ANSWER_WITHIN_MS = 800;
/** Many probes cost one look. */
const FRESH_MS = 1_000;
const TELL_AGAIN_MS = 60_000;

export function createDependency({ name, required, check }: DependencyCheck, log: Log): Dependency {
  let last: { state: Reading["state"]; at: number; since: number } | null = null;
  /** The call itself. One that hangs is not made a second time on top. */
  let calling: Promise<void> | null = null;
  let looking: Promise<void> | null = null;
  let toldGone = false;
  let toldAt = Number.NEGATIVE_INFINITY;

  const call = (): Promise<void> => {
    calling ??= Promise.resolve()
      .then(check)
      .then(() => {})
      .finally(() => {
        calling = null;
      });
    return calling;
  };

  function note(state: Reading["state"], error?: unknown): void {
    const at = performance.now();
    if (state === "down" && !toldGone && at - toldAt >= TELL_AGAIN_MS) {
      log.warn({ err: error, dependency: name, required }, "a dependency does not answer");
      toldGone = true;
      toldAt = at;
    }
    if (state === "up" && toldGone) {
      log.info({ dependency: name }, "a dependency answers again");
      toldGone = false;
    }
    last = { state, at, since: last?.state === state ? last.since : at };
  }

  const look = (): Promise<void> =>
    within(call()).then(
      () => note("up"),
      (error: unknown) => note("down", error),
    );

  return {
    name,
    isUp: () => last?.state !== "down",
    failed: (error) => note("down", error),
    async read() {
      if (!last || performance.now() - last.at >= FRESH_MS) {
        looking ??= look().finally(() => {
          looking = null;
        });
        await looking;
      }
      const now = performance.now();
      const { state, at, since } = last ?? { state: "down", at: now, since: now };
      return { state, required, ageMs: Math.round(now - at), forMs: Math.round(now - since) };
    },
  };
}

/** Looks all the time, so that what goes and comes back is seen whether or not anybody probes. */
export function watch(dependencies: readonly Dependency[], everyMs: number): { stop(): void } {
  const timer = setInterval(() => {
    for (const dependency of dependencies) void dependency.read();
  }, everyMs);
  return { stop: () => clearInterval(timer) };
}

async function within(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_WITHIN_MS} ms`)), ANSWER_WITHIN_MS);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
