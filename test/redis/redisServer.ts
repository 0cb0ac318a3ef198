import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { waitUntil } from "../helpers/waitUntil.ts";

/** A redis-server of a test's own, on a port that stays the same, with nothing on disk but what `save` put there. */
export interface RedisServer {
  readonly url: string;
  start(): Promise<void>;
  /** SIGKILL: what was not saved is gone. */
  kill(): Promise<void>;
  flush(): Promise<void>;
  /** Writes its whole content down. */
  save(): Promise<void>;
  /** Kills it and starts it with what was last saved. */
  restore(): Promise<void>;
  /** Kills it and deletes what it left. */
  close(): Promise<void>;
}

export async function createRedisServer(): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-redis-"));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const [dump, kept] = [join(folder, "dump.rdb"), join(folder, "kept.rdb")];
  let server: ChildProcess | null = null;

  async function ask<T>(command: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
    client.on("error", () => {});
    try {
      await client.connect();
      return await command(client);
    } finally {
      client.disconnect();
    }
  }

  async function start(): Promise<void> {
    const settings = {
      port,
      bind: "127.0.0.1",
      dir: folder,
      save: "",
      appendonly: "no",
      "maxmemory-policy": "noeviction",
    };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    server = spawn("redis-server", args, { stdio: "ignore" });
    await once(server, "spawn");
    await waitUntil(
      () =>
        ask((client) => client.ping()).then(
          () => true,
          () => false,
        ),
      "redis-server to answer",
    );
  }

  async function kill(): Promise<void> {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, "exit");
    server.kill("SIGKILL");
    await gone;
  }

  return {
    url,
    start,
    kill,
    flush: async () => void (await ask((client) => client.flushall())),
    async save() {
      await ask((client) => client.save());
      await copyFile(dump, kept);
    },
    async restore() {
      await kill();
      await copyFile(kept, dump);
      await start();
      await rm(dump);
    },
    async close() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("The system gave no port.");
  return address.port;
}
