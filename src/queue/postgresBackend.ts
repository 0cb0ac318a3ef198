import { createPostgresBackend, type PostgresPoolConfig, withBackend } from "bullmq";
import { CountersignError } from "../core/domain/errors.ts";
import type { Backend } from "./backend.ts";

/**
 * Bound here once: a backend factory handed to a constructor in the wrong place is ignored, and BullMQ dials Redis on
 * localhost without a word.
 */
const { Queue, Worker } = withBackend(createPostgresBackend);

/**
 * Every queue and worker has a pool of its own, and a worker one connection more to listen on: with these sizes all
 * kinds together stay under 20 of the server's 100 connections.
 */
const CONNECTIONS = 2;
/** Callers are answered sooner, by the queue that uses these; this is for a start on a busy machine. */
const CONNECT_WITHIN_MS = 10_000;
/** A server that fell silent closes nothing: a connection that does not answer by then is given up for a new one. */
const SILENT_MS = 10_000;

/** Processes that start together wait for each other's migration. */
const MIGRATE_WITHIN_MS = 60_000;

/** Makes BullMQ's tables in schema `namespace` when they are not there. Throws `queue_unreachable`. */
export async function connectPostgres(
  url: string,
  namespace: string,
  onError: (error: Error) => void,
): Promise<Backend> {
  const connection = {
    connectionString: url,
    schema: namespace,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    query_timeout: SILENT_MS,
    application_name: "countersign-queue",
    keepAlive: true,
    // BullMQ checks connections out without listening to them: one lost just then would end the process.
    onConnect: (client: { on(event: "error", listener: (error: Error) => void): unknown }) => {
      client.on("error", onError);
    },
  } satisfies PostgresPoolConfig;
  await makeTables(connection);
  return {
    openQueue: (name) => new Queue(name, { connection }),
    openWorker: (name, process, settings) => new Worker(name, process, { connection, ...settings }),
    close() {},
  };
}

/** Through a queue of its own, so that the others only look at the version instead of taking the migration's lock. */
async function makeTables(connection: PostgresPoolConfig): Promise<void> {
  const queue = new Queue("countersign-migration", {
    connection: { ...connection, query_timeout: MIGRATE_WITHIN_MS, migrate: true },
  });
  queue.on("error", () => {}); // The wait below rejects with the same error.
  try {
    await queue.waitUntilReady();
  } catch (error) {
    throw new CountersignError(
      "queue_unreachable",
      "The queue's tables in PostgreSQL cannot be reached or made; check DATABASE_URL.",
      { cause: error },
    );
  } finally {
    await queue.close();
  }
}
