import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { migrate } from "../src/core/db/migrate.ts";
import { createEmbeddedPostgres } from "../src/gateway/embeddedPostgres.ts";
import { TEMPLATE, withDatabase } from "./helpers/databaseUrl.ts";
import { silentLog } from "./helpers/log.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Of the one PostgreSQL all test files share, as its superuser. */
    databaseServerUrl: string;
  }
}

/** One PostgreSQL for the whole run, and in it the migrated template that every test file's database is cloned from. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-test-"));
  const postgres = createEmbeddedPostgres({ dataDir: folder, log: silentLog, sync: false });
  const teardown = async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await postgres.start();
    await makeTemplate(postgres.url);
    project.provide("databaseServerUrl", postgres.url);
    return teardown;
  } catch (error) {
    await teardown();
    throw error;
  }
}

/** Makes the template on a server that has none. */
export async function makeTemplate(serverUrl: string): Promise<void> {
  const server = new pg.Client({ connectionString: serverUrl });
  await server.connect();
  try {
    await server.query(`create database ${TEMPLATE}`);
    await migrate(withDatabase(serverUrl, TEMPLATE));
    // Nobody may connect any more: PostgreSQL clones only what nobody uses.
    await server.query(`alter database ${TEMPLATE} with is_template true allow_connections false`);
  } finally {
    await server.end();
  }
}
