import { readdirSync, readlinkSync } from "node:fs";
import { readFile, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CountersignError } from "../core/domain/errors.ts";
import { processCommand } from "./processes.ts";

/** A fast shutdown with a full cache on a slow disk; 80-150 ms were measured. */
const GONE_WITHIN_MS = 30_000;
const POLL_MS = 20;

/**
 * Clears what a killed gateway left in its cluster: a PostgreSQL still shutting down is waited for, an orphan is told
 * to, and the pid file of a dead one is removed, since PostgreSQL would mistake it for a living one's while its zombie
 * is not reaped, or once another program has its pid. Call it as the folder's owner only.
 */
export async function clearLeftover(cluster: string): Promise<void> {
  const pidFile = join(cluster, "postmaster.pid");
  const pid = Number((await readFile(pidFile, "utf8").catch(() => "")).split("\n")[0]);
  if (!pid) return;
  const isPostmaster = () => processCommand(pid).includes(`-D ${cluster} `);
  if (isPostmaster()) interrupt(pid);
  const folder = await realpath(cluster);
  const deadline = Date.now() + GONE_WITHIN_MS;
  // All of them, not the postmaster alone: a backend that outlives it may still write.
  while (isPostmaster() || anyoneWorksIn(folder)) {
    if (Date.now() > deadline) {
      throw new CountersignError(
        "database_unreachable",
        `An earlier PostgreSQL (process ${pid}) still uses ${cluster} and does not stop; stop it and start again.`,
      );
    }
    await sleep(POLL_MS);
  }
  await rm(pidFile, { force: true });
}

/** Every PostgreSQL process keeps its cluster as working directory, which only Linux lets us see cheaply. */
function anyoneWorksIn(folder: string): boolean {
  if (process.platform !== "linux") return false;
  return readdirSync("/proc").some((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`) === folder;
    } catch {
      return false; // Gone meanwhile, or somebody else's.
    }
  });
}

function interrupt(pid: number): void {
  try {
    process.kill(pid, "SIGINT");
  } catch {
    // It ended meanwhile.
  }
}
