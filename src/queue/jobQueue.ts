import { randomBytes } from "node:crypto";
import type { JobsOptions } from "bullmq";
import { CountersignError } from "../core/domain/errors.ts";
import { type JobQueue, type Log, WAKE_KINDS, type Wake, type WakeKind } from "../core/ports.ts";
import type { Backend, WakeQueue, WakeWorker } from "./backend.ts";
import { connectPostgres } from "./postgresBackend.ts";
import { connectRedis } from "./redisBackend.ts";
import { within } from "./within.ts";

export interface JobQueueOptions {
  /** Absent: the queue runs on PostgreSQL. */
  readonly redisUrl?: string;
  readonly databaseUrl: string;
  readonly log: Log;
  /** Redis key prefix, or PostgreSQL schema. Default `bullmq`. */
  readonly namespace?: string;
}

/** A caller has committed and only rings: the sweeper rings again, so waiting longer buys nothing. */
const ANSWER_WITHIN_MS = 2_000;
/** A start has nobody waiting for an answer, and two busy cores were seen to take 5 s for a first connection. */
const OPEN_WITHIN_MS = 20_000;
/** How often `close` looks whether anything still runs that is worth waiting for. */
const CLOSE_POLL_MS = 2_000;

/**
 * The doorbell over BullMQ: one queue a kind, in Redis or in PostgreSQL. Jobs run once and leave nothing behind, as
 * the row they name is the truth. Every call but `close` settles within seconds, whatever the backend does. Throws
 * `queue_unreachable` when the backend does not answer now.
 */
export async function createJobQueue(options: JobQueueOptions): Promise<JobQueue> {
  const { log, redisUrl, namespace = "bullmq" } = options;
  const onError = quietly(log);
  const backend = redisUrl
    ? await connectRedis(redisUrl, namespace, onError)
    : await connectPostgres(options.databaseUrl, namespace, onError);
  const queues = await openQueues(backend, onError);
  const workers = new Map<WakeKind, WakeWorker>();
  const running = new Set<Promise<void>>();
  let stopping: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  async function wake(wakes: readonly Wake[]): Promise<void> {
    const kinds = WAKE_KINDS.map((kind) => ({ kind, jobs: wakes.filter((one) => one.kind === kind).map(toJob) }));
    const adding = kinds.filter(({ jobs }) => jobs.length > 0).map(({ kind, jobs }) => queues[kind].addBulk(jobs));
    await answer("Ringing", Promise.all(adding));
  }

  async function consume(kind: WakeKind, concurrency: number, handler: (id: string) => Promise<void>): Promise<void> {
    if (stopping || workers.has(kind)) throw new Error(`Wakes of kind ${kind} are not taken twice, nor after a stop.`);
    const handle = async (id: string) => {
      try {
        await handler(id);
      } catch (error) {
        log.error({ err: error, kind, id }, "a wake's handler failed");
      }
    };
    const process = async ({ data }: { data: { id: string } }) => {
      const run = handle(data.id);
      running.add(run);
      await run;
      running.delete(run);
    };
    const worker = backend.openWorker(queueName(kind), process, { concurrency, maxStalledCount: 0 });
    workers.set(kind, worker);
    worker.on("error", onError);
    worker.on("stalled", (job) => log.warn({ kind, job }, "a wake was lost with its worker; the sweeper rings again"));
    await answer("Taking wakes", worker.waitUntilReady(), OPEN_WITHIN_MS);
  }

  async function counts() {
    const entries = WAKE_KINDS.map(async (kind) => {
      const { waiting = 0, active = 0, delayed = 0 } = await queues[kind].getJobCounts("waiting", "active", "delayed");
      return [kind, { waiting, active, delayed }] as const;
    });
    return Object.fromEntries(await answer("Counting", Promise.all(entries))) as Awaited<
      ReturnType<JobQueue["counts"]>
    >;
  }

  async function stop(): Promise<void> {
    const orderly = Promise.all([...workers.values()].map((worker) => worker.close()));
    // A worker waits for its handlers, and then for a backend that may be gone: only the first is worth waiting for.
    while (!(await settledWithin(CLOSE_POLL_MS, orderly))) if (running.size === 0) break;
  }

  const stopOnce = (): Promise<void> => (stopping ??= stop());

  async function close(): Promise<void> {
    await stopOnce();
    await settledWithin(CLOSE_POLL_MS, Promise.all(Object.values(queues).map((queue) => queue.close())));
    backend.close();
  }

  return {
    wake,
    consume,
    counts,
    ping: async () => void (await answer("The round trip", queues[WAKE_KINDS[0]].isPaused())),
    stop: stopOnce,
    close: () => (closing ??= close()),
  };
}

const queueName = (kind: WakeKind): string => `countersign-${kind}`;

/**
 * Every queue has connected once when this resolves: on PostgreSQL, BullMQ remembers a first connection that failed
 * and never tries again, so that one slow moment at the start would leave a kind without its doorbell for good.
 */
async function openQueues(backend: Backend, onError: (error: Error) => void): Promise<Record<WakeKind, WakeQueue>> {
  const open = (kind: WakeKind): WakeQueue => {
    const queue = backend.openQueue(queueName(kind));
    queue.on("error", onError);
    return queue;
  };
  const queues = { turn: open("turn"), apply: open("apply"), verify: open("verify"), deliver: open("deliver") };
  const all = Object.values(queues);
  try {
    await answer("Opening", Promise.all(all.map((queue) => queue.waitUntilReady())), OPEN_WITHIN_MS);
    return queues;
  } catch (error) {
    await settledWithin(CLOSE_POLL_MS, Promise.all(all.map((queue) => queue.close())));
    backend.close();
    throw error;
  }
}

function toJob({ kind, id, delayMs, priority }: Wake): {
  name: string;
  data: { kind: WakeKind; id: string };
  opts: JobsOptions;
} {
  return {
    name: kind,
    data: { kind, id },
    opts: {
      // Random, because BullMQ drops a job whose id it knows, even while that one is active: a ring would be lost just
      // when the row changed again. The row's id is for the reader; BullMQ refuses colons in it.
      jobId: `${kind}-${id.replaceAll(/[^\w-]/g, "_")}-${randomBytes(6).toString("hex")}`,
      attempts: 1,
      removeOnComplete: true,
      removeOnFail: true,
      ...(delayMs === undefined ? {} : { delay: delayMs }),
      ...(priority === undefined ? {} : { priority }),
    },
  };
}

async function answer<T>(what: string, work: Promise<T>, ms = ANSWER_WITHIN_MS): Promise<T> {
  try {
    return await within(ms, what, work);
  } catch (error) {
    throw new CountersignError(
      "queue_unreachable",
      "The queue does not answer; check Redis, or PostgreSQL without it.",
      {
        cause: error,
      },
    );
  }
}

/** True once `work` has settled either way; false after `ms`. */
async function settledWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  return await within(ms, "Closing", settled).catch(() => false);
}

/**
 * That the backend is away is told by whoever asks for it, once: every connection complains at every retry. What else
 * connections say (no memory, no write on a replica) is told, at most once in five seconds.
 */
function quietly(log: Log): (error: Error) => void {
  let quietUntil = 0;
  return (error) => {
    if (isConnectionLoss(error)) return log.debug({ err: error }, "a connection of the queue was lost");
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + 5_000;
    log.warn({ err: error }, "the queue's backend has trouble");
  };
}

const isConnectionLoss = (error: Error): boolean =>
  ("code" in error && /^(E[A-Z_]+|57P0[1-5]|08\w{3})$/.test(String(error.code))) ||
  /^(Connection (is closed|terminated)|Socket timeout|connect ETIMEDOUT|timeout)/i.test(error.message);
