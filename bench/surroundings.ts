import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { cpus, loadavg, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import pg from "pg";
import { createEmbeddedPostgres } from "../src/gateway/embeddedPostgres.ts";
import { createLog } from "../src/gateway/log.ts";

/** What the contestants stand on: a PostgreSQL made for this run, a Redis, and a folder; all gone with `close`. */
export interface Surroundings {
  readonly folder: string;
  readonly machine: object;
  /** Null: the queue runs on PostgreSQL. */
  readonly redisUrl: string | null;
  /** An empty database. */
  createDatabase(name: string): Promise<string>;
  close(): Promise<void>;
}

/** `redisUrl`: a Redis the bench may write to; null: one of its own where `redis-server` is on the PATH. */
export async function openSurroundings(redisUrl: string | null): Promise<Surroundings> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const postgres = createEmbeddedPostgres({ dataDir: join(folder, "postgres"), log: createLog("error") });
  await postgres.start();
  const own = redisUrl ? null : await startRedis(folder);
  return {
    folder,
    redisUrl: redisUrl ?? own?.url ?? null,
    machine: {
      cores: cpus().length,
      cpu: cpus()[0]?.model ?? "unknown",
      // What else ran here when the bench began: figures of a busy machine compare with nothing.
      loadAverage: loadavg()[0],
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      node: process.version,
      postgres: await ask(postgres.url, "show server_version"),
      queue: redisUrl || own ? "redis" : "postgres",
      ...(own === null && !redisUrl && { note: "no redis-server on the PATH: the queue ran on PostgreSQL" }),
    },
    async createDatabase(name) {
      await ask(postgres.url, `create database ${name}`);
      const url = new URL(postgres.url);
      url.pathname = `/${name}`;
      return url.href;
    },
    async close() {
      await own?.stop();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function ask(url: string, statement: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, string>>(statement);
    return Object.values(rows[0] ?? {})[0] ?? "";
  } finally {
    await client.end();
  }
}

/** In memory alone, as a doorbell may be: what it loses is rung again. Null: there is none to start. */
async function startRedis(folder: string): Promise<{ url: string; stop(): Promise<void> } | null> {
  const port = await freePort();
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder];
  const server = spawn("redis-server", args, { stdio: "ignore" });
  if (!(await spawned(server))) return null;
  const url = `redis://127.0.0.1:${port}`;
  const probe = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
  probe.on("error", () => {}); // Until it listens.
  await Promise.race([
    probe.ping(),
    sleep(5_000).then(() => Promise.reject(new Error("redis-server does not answer."))),
  ]);
  probe.disconnect();
  return {
    url,
    async stop() {
      const exited = once(server, "exit");
      server.kill("SIGTERM");
      await exited;
    },
  };
}

const spawned = (child: ChildProcess): Promise<boolean> =>
  once(child, "spawn").then(
    () => true,
    () => false,
  );

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === "string") throw new Error("The system gave no port.");
  return address.port;
}
