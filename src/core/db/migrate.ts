import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { PG_MIGRATE_LOCK_ID, runner } from "node-pg-migrate";
import pg from "pg";
import { CountersignError } from "../domain/errors.ts";
import { packageRoot } from "../packageRoot.ts";

/** Where the names of those that ran are kept. */
export const TABLE = "schema_migrations";
export const MIGRATIONS = join(packageRoot(), "src/core/db/migrations");
/** A server that takes the connection and says nothing is as unreachable as one that is not there. */
const CONNECT_WITHIN_MS = 15_000;

export interface Migrated {
  /** Names of the migrations this call ran, in order; empty when the schema was up to date. */
  readonly applied: readonly string[];
}

/**
 * Brings the schema up to this code's version; forward only, safe to call from any number of processes at once.
 * Throws `database_unreachable`, and `config_invalid` when the database was migrated by a newer version.
 */
export async function migrate(url: string, folder: string = MIGRATIONS): Promise<Migrated> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "countersign-migrate",
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
  });
  client.on("error", () => {}); // A lost connection fails the query that runs, which says so.
  try {
    await client.connect();
  } catch (error) {
    throw new CountersignError("database_unreachable", undefined, { cause: error });
  }
  try {
    // The runner's own lock: it takes it a second time, which PostgreSQL allows to its holder. Held from here on, so
    // that nobody migrates between the look and the run.
    await client.query("select pg_advisory_lock($1)", [PG_MIGRATE_LOCK_ID]);
    await refuseNewer(client, folder);
    const ran = await runner({
      dbClient: client,
      dir: folder,
      migrationsTable: TABLE,
      direction: "up",
      advisoryLockMode: "wait",
      checkOrder: true,
      singleTransaction: true,
      logger: SILENT,
    });
    return { applied: ran.map((migration) => migration.name) };
  } catch (error) {
    // The runner wraps what PostgreSQL said and drops its code: a connection that is gone says it better.
    const alive = await client.query("select 1").then(
      () => true,
      () => false,
    );
    throw alive ? error : new CountersignError("database_unreachable", undefined, { cause: error });
  } finally {
    await client.end();
  }
}

async function refuseNewer(client: pg.Client, folder: string): Promise<void> {
  const { rows } = await client.query<{ table: string | null }>("select to_regclass($1)::text as table", [
    `public.${TABLE}`,
  ]);
  if (!rows[0]?.table) return;
  const known = new Set((await readdir(folder)).map((file) => file.replace(/\.sql$/, "")));
  const { rows: ran } = await client.query<{ name: string }>(`select name from public.${TABLE} order by id`);
  const newer = ran.find((row) => !known.has(row.name));
  if (newer) {
    throw new CountersignError(
      "config_invalid",
      `The database was migrated by a newer version of Countersign (${newer.name}); start that version, or another database.`,
    );
  }
}

/** The runner prints whole statements; what failed is in the error it throws. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
