import { createPool, type Pool } from "../../src/core/db/pool.ts";
import type { InboundEvent } from "../../src/core/domain/message.ts";
import { type JobQueue, WAKE_KINDS } from "../../src/core/ports.ts";
import { createJobQueue } from "../../src/queue/jobQueue.ts";
import { silentLog } from "../helpers/log.ts";
import type { Called } from "./crashPoints.ts";
import { createHttpClient } from "./httpCall.ts";
import { patiently } from "./patiently.ts";
import { type OpenRun, openWorkerRun, type WorkerRun } from "./workerRun.ts";

/** Which queue a process rings and hears. Without `redisUrl` it is on PostgreSQL. */
export interface QueueAt {
  readonly databaseUrl: string;
  readonly redisUrl: string | null;
  readonly namespace: string;
}

/** What the harness asks of a worker process; `run` says which run is meant. */
export type Request =
  | { readonly do: "start"; readonly queue: QueueAt }
  | { readonly do: "open"; readonly runs: readonly OpenRun[] }
  | { readonly do: "receive"; readonly run: string; readonly event: InboundEvent }
  | { readonly do: "settle"; readonly run: string }
  /** Until what is under way here has ended; nothing new is looked for. */
  | { readonly do: "end"; readonly run: string }
  | { readonly do: "pass"; readonly run: string; readonly ms: number }
  | { readonly do: "thaw"; readonly run: string }
  | { readonly do: "called"; readonly run: string }
  /** What the checker looks at, on a connection that counts nothing and rewrites nothing. */
  | { readonly do: "stored"; readonly run: string }
  /** `forget`: leaves the run's database as if it had never been. */
  | { readonly do: "close"; readonly run: string; readonly forget: boolean };

export type FromProcess =
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failed"; readonly id: number; readonly error: string }
  | { readonly kind: "stopped"; readonly run: string; readonly at: Called };

interface Pools {
  readonly pool: Pool;
  readonly lockPool: Pool;
}

/** Wakes of every run of this process at once; one that is stopped keeps its place until the process dies. */
const CONCURRENCY = 64;

/** A worker process of the sweep, for several runs at once; it does as the harness says and ends with it. */
const http = createHttpClient();
const runs = new Map<string, WorkerRun>();
/** By database, kept for the next run on it: a connection that knows its tables answers in a quarter of the time. */
const pools = new Map<string, Pools>();
let queue: JobQueue | undefined;
let hearing: Promise<void> | undefined;

const tell = (message: FromProcess): void => void process.send?.(message);

process.on("message", ({ id, ...request }: Request & { id: number }) => {
  answer(request as Request).then(
    (value) => tell({ kind: "answer", id, value: value ?? null }),
    (error: unknown) =>
      tell({ kind: "failed", id, error: error instanceof Error ? (error.stack ?? "") : String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));

async function answer(request: Request): Promise<unknown> {
  switch (request.do) {
    case "start": {
      const { redisUrl, ...at } = request.queue;
      queue = await createJobQueue({ ...at, log: silentLog, ...(redisUrl !== null && { redisUrl }) });
      return;
    }
    case "open":
      for (const run of request.runs) await open(run);
      // Only now: what a dead process left in the queue is for these runs.
      hearing ??= hear();
      return hearing;
    case "receive":
      return find(request.run).receive(request.event);
    case "settle":
      return find(request.run).settle();
    case "end":
      return find(request.run).end();
    case "pass":
      return find(request.run).passTime(request.ms);
    case "thaw":
      return find(request.run).thaw();
    case "called":
      return find(request.run).called();
    case "stored":
      return find(request.run).stored();
    case "close": {
      const run = find(request.run);
      runs.delete(request.run);
      return run.close(request.forget);
    }
  }
}

async function open(run: OpenRun): Promise<void> {
  if (!queue) throw new Error("the process was not started");
  const { pool, lockPool } = poolsOf(run.databaseUrl);
  // One after another: two dozen at once take a busy machine longer than a pool waits for a connection.
  for (const one of [pool, lockPool]) await patiently(() => one.query("select"));
  const onStop = (at: Called) => tell({ kind: "stopped", run: run.run, at });
  runs.set(run.run, openWorkerRun(run, { queue, pool, lockPool, http, onStop }));
}

function poolsOf(url: string): Pools {
  const one = () => createPool({ url, max: 1, applicationName: "faults", log: silentLog });
  const kept = pools.get(url) ?? { pool: one(), lockPool: one() };
  pools.set(url, kept);
  return kept;
}

async function hear(): Promise<void> {
  const at = queue;
  if (!at) throw new Error("the process was not started");
  await Promise.all(
    WAKE_KINDS.map((kind) =>
      at.consume(kind, CONCURRENCY, async (tagged) => {
        const [name = "", id = ""] = tagged.split("~");
        // One of a run that is over: the doorbell rang late.
        await runs.get(name)?.handle(kind, id);
      }),
    ),
  );
}

function find(name: string): WorkerRun {
  const run = runs.get(name);
  if (!run) throw new Error(`run ${name} is not open here`);
  return run;
}
