import type { Dependency, Reading } from "../dependency.ts";

/**
 * `ready`; `degraded`: something is away, and what comes is taken all the same, a little slower; `not_ready`: what
 * comes could not be kept; `draining`: this process is about to end.
 */
export type Status = "ready" | "degraded" | "not_ready" | "draining";

export interface Readiness {
  readonly status: Status;
  readonly dependencies: Readonly<Record<string, Reading>>;
}

export interface ReadinessProbe {
  read(): Promise<Readiness>;
  /** From now on this process wants no traffic. */
  drain(): void;
}

export function createReadiness(dependencies: readonly Dependency[]): ReadinessProbe {
  let draining = false;
  return {
    async read() {
      const readings = await Promise.all(dependencies.map(async (one) => [one.name, await one.read()] as const));
      const down = readings.filter(([, { state }]) => state === "down");
      const worst = down.length === 0 ? "ready" : down.some(([, { required }]) => required) ? "not_ready" : "degraded";
      return { status: draining ? "draining" : worst, dependencies: Object.fromEntries(readings) };
    },
    drain() {
      draining = true;
    },
  };
}

/** What a probe or a load balancer goes by. */
export const takesTraffic = (status: Status): boolean => status === "ready" || status === "degraded";
