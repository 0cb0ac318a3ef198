import { Redis } from "ioredis";
import { CountersignError } from "../core/domain/errors.ts";

const ANSWER_WITHIN_MS = 5_000;

/** What decides whether a Redis keeps what is put into it; null where it does not say. */
export interface RedisFacts {
  /** `7.2.4`. */
  readonly version: string | null;
  readonly maxmemoryPolicy: string | null;
}

/** INFO and not CONFIG, which hosted Redis refuses. Throws `queue_unreachable`. */
export async function inspectRedis(url: string): Promise<RedisFacts> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: ANSWER_WITHIN_MS,
    commandTimeout: ANSWER_WITHIN_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  client.on("error", () => {}); // The call that fails says the same.
  try {
    await client.connect();
    const info = await client.info();
    const read = (name: string): string | null => new RegExp(`^${name}:(.+?)\\r?$`, "m").exec(info)?.[1] ?? null;
    return { version: read("redis_version"), maxmemoryPolicy: read("maxmemory_policy") };
  } catch (error) {
    throw new CountersignError("queue_unreachable", undefined, { cause: error });
  } finally {
    client.disconnect();
  }
}
