import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { createPool, type Pool } from "../../src/core/db/pool.ts";
import { TEMPLATE, withDatabase } from "./databaseUrl.ts";
import { silentLog } from "./log.ts";
import { waitUntil } from "./waitUntil.ts";

export { waitUntil } from "./waitUntil.ts";

export interface TestDatabase {
  readonly url: string;
  readonly pool: Pool;
  /** Ends the pool and deletes the database, whoever is still connected. */
  drop(): Promise<void>;
}

/** A database of its own with the current schema; one per test file, in `beforeAll`, dropped in `afterAll`. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return await makeDatabase(`template ${TEMPLATE} strategy file_copy`);
}

/** A database with nothing in it, for tests about the schema itself. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return await makeDatabase("");
}

async function makeDatabase(from: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  await onServer(`create database ${name} ${from}`);
  const url = withDatabase(inject("databaseServerUrl"), name);
  const pool = createPool({ url, max: 10, applicationName: "test", log: silentLog });
  return {
    url,
    pool,
    drop: async () => {
      await pool.end();
      await onServer(`drop database ${name} with (force)`);
    },
  };
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject("databaseServerUrl") });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Waits until a statement on this database is blocked by a lock: the point at which a race has begun. */
export async function waitForLock(pool: Pool, blocked = 1): Promise<void> {
  await waitUntil(async () => {
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and wait_event_type = 'Lock'`,
    );
    return (rows[0]?.count ?? 0) >= blocked;
  }, `${blocked} blocked statement(s)`);
}
