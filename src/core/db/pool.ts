import pg from "pg";
import type { Log } from "../ports.ts";

/** What a store function runs on: the pool, or the client of the transaction it is part of. */
export type Db = pg.Pool | pg.PoolClient;
export type Pool = pg.Pool;
export type Client = pg.PoolClient;

export interface PoolOptions {
  readonly url: string;
  /** Connections at most. */
  readonly max: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly log: Log;
  /** One query at most; longer is an outage. Default 10 s. */
  readonly queryTimeoutMs?: number;
}

/**
 * A pool of connections, opened when first used. `int8` comes back as a number: ours are sequences and counts, far
 * below 2^53.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.applicationName,
    // Under the 3 s Slack waits for an answer: a webhook that cannot be stored is told so, and comes again (G2).
    connectionTimeoutMillis: 2_500,
    // A server that is stopped, or behind a network that swallows packets, answers no query and closes nothing: without
    // this its callers, requests and claims alike, hang for the quarter of an hour until TCP gives up. Half a lease.
    query_timeout: options.queryTimeoutMs ?? 10_000,
    // Transactions hold no network call, so one idle for this long belongs to a stopped process that holds row locks.
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    types: { getTypeParser: parserOf },
  });
  // Without a listener, a connection that the server closes ends the process: the pool listens to idle ones only, and
  // hands on what it hears.
  pool.on("error", (error) => {
    // Every connection says so when the server goes; that it went is told once, by whoever watches it.
    options.log.debug({ err: error }, "an idle database connection was lost");
  });
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

const parserOf = ((oid: number, format?: "text" | "binary") =>
  oid === pg.types.builtins.INT8 && format !== "binary"
    ? Number
    : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser;
