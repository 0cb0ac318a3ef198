import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Pool } from "../../core/db/pool.ts";
import type { JobQueue, Log } from "../../core/ports.ts";
import { readBacklog } from "../../core/store/backlog.ts";
import { type ReadinessProbe, takesTraffic } from "./readiness.ts";

export interface MetricsDeps {
  readonly pool: Pool;
  readonly queue: Pick<JobQueue, "counts">;
  readonly readiness: Pick<ReadinessProbe, "read">;
  /** Since this worker last swept. Null: this process does not sweep. */
  readonly sweepAgeMs: (() => number) | null;
  readonly log: Log;
}

export interface Metrics {
  readonly contentType: string;
  /** Reads everything anew, in Prometheus' text format. What cannot be read now is absent: an old number looks true. */
  scrape(): Promise<string>;
}

/** Adds one metric to an answer: a number, or one for each value of a label. */
type Tell = (name: string, help: string, value: number | Labelled) => void;

interface Labelled {
  readonly by: string;
  readonly values: Readonly<Record<string, number>>;
}

/** Registries of its own: two gateways in one process, as in tests, do not share theirs. */
export function createMetrics(deps: MetricsDeps): Metrics {
  const process = new Registry();
  collectDefaultMetrics({ register: process });

  return {
    contentType: process.contentType,
    async scrape() {
      const answer = new Registry();
      await readAll(deps, tellInto(answer));
      return [await process.metrics(), await answer.metrics()].join("\n");
    },
  };
}

async function readAll(deps: MetricsDeps, tell: Tell): Promise<void> {
  const { status, dependencies } = await deps.readiness.read();
  const isUp = (name: string): boolean => dependencies[name]?.state !== "down";
  const up = Object.fromEntries(Object.keys(dependencies).map((name) => [name, isUp(name) ? 1 : 0]));
  tell("ready", "1 while this process takes traffic.", takesTraffic(status) ? 1 : 0);
  tell("dependency_up", "1 while the dependency answers.", { by: "dependency", values: up });
  if (deps.sweepAgeMs)
    tell("sweep_age_seconds", "Since this worker last looked for lost work.", deps.sweepAgeMs() / 1000);

  const absent = (error: unknown): void => deps.log.debug({ err: error }, "a part of the metrics cannot be read");
  await Promise.all([
    isUp("database") ? readRows(deps.pool, tell).catch(absent) : null,
    isUp("queue") ? readQueue(deps.queue, tell).catch(absent) : null,
  ]);
}

async function readRows(pool: Pool, tell: Tell): Promise<void> {
  const { decisions, deliveries, turns, startLag, undeliveredCards, deliveryLag, turnLag } = await readBacklog(pool);
  const by = "status";
  tell("decisions", "Decisions that are not settled, by status.", { by, values: decisions });
  tell("decision_start_lag_seconds", "How long the oldest approved write has waited to be started.", startLag);
  tell("cards_undelivered", "Pending decisions whose card has reached nobody.", undeliveredCards);
  tell("deliveries", "Messages that are not sent, by status.", { by, values: deliveries });
  tell("delivery_lag_seconds", "How long the oldest message has been due.", deliveryLag);
  tell("turns", "Turns that are not settled, by status.", { by, values: turns });
  tell("turn_start_lag_seconds", "How long the oldest turn that could start has waited.", turnLag);
}

async function readQueue(queue: MetricsDeps["queue"], tell: Tell): Promise<void> {
  const counts = Object.entries(await queue.counts());
  for (const state of ["waiting", "active", "delayed"] as const) {
    const values = Object.fromEntries(counts.map(([kind, of]) => [kind, of[state]]));
    tell(`queue_jobs_${state}`, `Wakes in the queue that are ${state}, by kind.`, { by: "kind", values });
  }
}

const tellInto =
  (registry: Registry): Tell =>
  (name, help, value) => {
    const of = { name: `countersign_${name}`, help, registers: [registry] };
    if (typeof value === "number") return new Gauge(of).set(value);
    const gauge = new Gauge({ ...of, labelNames: [value.by] });
    for (const [label, count] of Object.entries(value.values)) gauge.set({ [value.by]: label }, count);
  };
