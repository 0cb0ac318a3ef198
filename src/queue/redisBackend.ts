import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { CountersignError } from "../core/domain/errors.ts";
import type { Backend } from "./backend.ts";

const CONNECT_WITHIN_MS = 5_000;
/**
 * A Redis that is partitioned away, or was moved behind its name, closes nothing: without this its commands pile up in
 * the client for the quarter of an hour until TCP gives up, and so does the recovery. Longer than any caller waits.
 */
const SILENT_MS = 5_000;
/** The same for workers, whose longest command blocks for ten seconds by itself. */
const WORKER_SILENT_MS = 20_000;

/**
 * One connection rings for every kind, one takes jobs for every kind, and each worker adds the one it blocks on.
 * Throws `queue_unreachable` when Redis does not answer now.
 */
export async function connectRedis(url: string, namespace: string, onError: (error: Error) => void): Promise<Backend> {
  // Neither kept until Redis is back nor sent again: a wake fails while Redis is away, and its caller goes on.
  const producer = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_WITHIN_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    socketTimeout: SILENT_MS,
  });
  // BullMQ demands null: a worker outlives any outage.
  const consumer = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_WITHIN_MS,
    maxRetriesPerRequest: null,
    socketTimeout: WORKER_SILENT_MS,
  });
  producer.on("error", onError);
  consumer.on("error", onError);
  try {
    await producer.connect();
    await producer.ping();
  } catch (error) {
    producer.disconnect();
    throw new CountersignError("queue_unreachable", undefined, { cause: error });
  }
  return {
    openQueue: (name) => new Queue(name, { connection: producer, prefix: namespace }),
    openWorker: (name, process, settings) =>
      new Worker(name, process, { connection: consumer, prefix: namespace, ...settings }),
    close() {
      producer.disconnect();
      consumer.disconnect();
    },
  };
}
