import type { Log } from "../../core/ports.ts";

/** One thing the gateway depends on. */
export interface DependencyCheck {
  readonly name: "database" | "queue" | "slack" | "linear" | "runtime";
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

export interface Readiness {
  readonly ready: boolean;
  readonly dependencies: Readonly<Record<string, Reading>>;
}

/** Under what probes wait by default (Kubernetes: 1 s), with room for the answer. */
const ANSWER_WITHIN_MS = 800;
/** Many probes cost one look. */
const FRESH_MS = 1_000;

/** Reads every dependency, each within bounded time and at most once a second, however many ask. */
export function createReadiness(checks: readonly DependencyCheck[], log: Log): () => Promise<Readiness> {
  const probes = checks.map((dependency) => ({ dependency, read: createProbe(dependency, log) }));
  return async () => {
    const readings = await Promise.all(
      probes.map(async ({ dependency, read }) => [dependency.name, await read()] as const),
    );
    return {
      ready: readings.every(([, reading]) => reading.state === "up" || !reading.required),
      dependencies: Object.fromEntries(readings),
    };
  };
}

function createProbe({ name, required, check }: DependencyCheck, log: Log): () => Promise<Reading> {
  let last: { state: Reading["state"]; at: number; since: number } | null = null;
  /** The call itself. One that hangs is not made a second time on top. */
  let calling: Promise<void> | null = null;
  let looking: Promise<void> | null = null;

  const call = (): Promise<void> => {
    calling ??= Promise.resolve()
      .then(check)
      .then(() => {})
      .finally(() => {
        calling = null;
      });
    return calling;
  };

  async function look(): Promise<void> {
    const error = await within(call()).then(
      () => null,
      (reason: unknown) => reason ?? new Error("rejected"),
    );
    const at = performance.now();
    const state = error === null ? "up" : "down";
    if (state !== last?.state) {
      if (error !== null) log.warn({ err: error, dependency: name, required }, "a dependency does not answer");
      else if (last) log.info({ dependency: name }, "a dependency answers again");
    }
    last = { state, at, since: last?.state === state ? last.since : at };
  }

  return async () => {
    if (!last || performance.now() - last.at >= FRESH_MS) {
      looking ??= look().finally(() => {
        looking = null;
      });
      await looking;
    }
    const now = performance.now();
    const { state, at, since } = last ?? { state: "down", at: now, since: now };
    return { state, required, ageMs: Math.round(now - at), forMs: Math.round(now - since) };
  };
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
