import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../core/config.ts";
import { migrate } from "../core/db/migrate.ts";
import { isOutage } from "../core/db/outage.ts";
import { createPool, type Pool } from "../core/db/pool.ts";
import { isCode } from "../core/domain/errors.ts";
import type { Log } from "../core/ports.ts";
import { createEmbeddedPostgres } from "./embeddedPostgres.ts";
import { FolderInUse } from "./folderLock.ts";
import { findRunning } from "./runningPostgres.ts";

/** How often whoever runs the embedded PostgreSQL may come or go under one command, and how soon it looks again. */
const TRIES = 10;
const TRY_AGAIN_MS = 300;

/**
 * For a command that is not the gateway: DATABASE_URL's database, else the embedded one, the gateway's where one runs,
 * else started for as long as `work` takes. `work` runs again when that ended under it, so it has to bear repeating.
 */
export async function withDatabase<T>(config: Config, log: Log, work: (pool: Pool) => Promise<T>): Promise<T> {
  const run = async (url: string): Promise<T> => {
    await migrate(url);
    const pool = createPool({ url, max: 1, applicationName: "countersign-command", log });
    try {
      return await work(pool);
    } finally {
      await pool.end();
    }
  };
  if (config.databaseUrl) return run(config.databaseUrl);

  const dataDir = join(config.dataDir, "postgres");
  const runOnOurs = async (): Promise<T> => {
    const embedded = createEmbeddedPostgres({ dataDir, log });
    await embedded.start();
    try {
      return await run(embedded.url);
    } finally {
      await embedded.stop();
    }
  };
  for (let left = TRIES - 1; ; left--) {
    const running = await findRunning(dataDir);
    try {
      return running ? await run(running) : await runOnOurs();
    } catch (error) {
      const cameOrWent = running ? isGone(error) : error instanceof FolderInUse;
      if (left === 0 || !cameOrWent) throw error;
      await sleep(TRY_AGAIN_MS);
    }
  }
}

const isGone = (error: unknown): boolean => isOutage(error) || isCode(error, "database_unreachable");
