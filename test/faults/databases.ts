import { randomBytes } from "node:crypto";
import pg from "pg";
import { createPool, type Pool } from "../../src/core/db/pool.ts";
import { deploy } from "../../src/core/flow/deploy.ts";
import { TEMPLATE, withDatabase } from "../helpers/databaseUrl.ts";
import { silentLog } from "../helpers/log.ts";
import type { Violation } from "./invariants.ts";
import { MUTATIONS, type MutationName, replaceSurely } from "./mutations.ts";
import { checkRecord } from "./recordInvariant.ts";
import { DEPLOYMENT } from "./stories.ts";

/** Databases for runs, one after another in each: to make and to drop one costs more than a whole run. */
export interface Databases {
  /** The connection string of a new one that holds the schema and the agent's deployment, and nothing else. */
  create(): Promise<string>;
  /** An empty one, for a queue. */
  createEmpty(): Promise<string>;
  /** The decision records of every run so far, each database's as one chain. */
  checkRecords(): Promise<Violation[]>;
  close(): Promise<void>;
}

/** `serverUrl`: a PostgreSQL that holds the migrated template, as its superuser. */
export async function openDatabases(serverUrl: string, mutation: MutationName | null): Promise<Databases> {
  const server = new pg.Pool({ connectionString: serverUrl, max: 2 });
  const user = await createUser(server);
  const made: string[] = [];
  const queues = new Set<string>();

  async function make(from: string): Promise<string> {
    const name = `faults_${randomBytes(6).toString("hex")}`;
    await server.query(`create database ${name} ${from}`);
    made.push(name);
    return name;
  }
  const urlOf = (name: string): string => {
    const url = new URL(withDatabase(serverUrl, name));
    url.username = user;
    url.password = user;
    return url.href;
  };

  const template = await make(`template ${TEMPLATE}`);
  const pool = createPool({ url: urlOf(template), max: 1, applicationName: "faults", log: silentLog });
  await deploy({ pool }, DEPLOYMENT);
  if (mutation) await mutateFunction(pool, mutation);
  await pool.end();

  return {
    create: async () => urlOf(await make(`template ${template} strategy file_copy`)),
    async checkRecords() {
      const found: Violation[] = [];
      for (const name of made.filter((one) => one !== template && !queues.has(one))) {
        const db = createPool({ url: urlOf(name), max: 2, applicationName: "faults", log: silentLog });
        found.push(...(await checkRecord(db)));
        await db.end();
      }
      return found;
    },
    createEmpty: async () => {
      const name = await make("");
      queues.add(name);
      return urlOf(name);
    },
    async close() {
      for (const name of made) await server.query(`drop database ${name} with (force)`);
      await server.query(`drop role ${user}`);
      await server.end();
    },
  };
}

/**
 * A superuser of this sweep whose password is its name, hashed once instead of 4,096 times: each crash costs a dozen
 * connections, and the server listens on loopback for as long as the sweep takes.
 */
async function createUser(server: pg.Pool): Promise<string> {
  const name = `faults_${randomBytes(16).toString("hex")}`;
  const client = await server.connect();
  try {
    await client.query("set scram_iterations = 1");
    await client.query(`create role ${name} superuser login password '${name}'`);
  } finally {
    client.release(true);
  }
  return name;
}

async function mutateFunction(pool: Pool, name: MutationName): Promise<void> {
  const { in: where, of, text, by } = MUTATIONS[name];
  if (where !== "function") return;
  const { rows } = await pool.query<{ text: string }>("select pg_get_functiondef($1::regproc) as text", [of]);
  await pool.query(replaceSurely(rows[0]?.text ?? "", text, by));
}
