import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { folderOwner } from "./folderLock.ts";

/** The role and superuser of an embedded cluster. */
export const USER = "countersign";
/** As long as its owner gives PostgreSQL to start. */
const READY_WITHIN_MS = 60_000;
const POLL_MS = 20;

/**
 * The connection string of the embedded PostgreSQL that another process runs in `dataDir`, once it takes connections;
 * null where nobody runs one. It ends when its owner does.
 */
export async function findRunning(dataDir: string): Promise<string | null> {
  const folder = resolve(dataDir);
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline && (await folderOwner(folder)) !== null) {
    const { ready, port } = await readPidFile(folder);
    if (ready) return await urlOf(folder, port);
    await sleep(POLL_MS);
  }
  return null;
}

export interface PidFile {
  /** Who wrote it. */
  readonly pid: number;
  readonly port: number;
  /** Connections are taken. */
  readonly ready: boolean;
}

/** What PostgreSQL says of itself in `postmaster.pid`: pid in the first line, port in the fourth, state in the eighth. */
export async function readPidFile(folder: string): Promise<PidFile> {
  const lines = (await readFile(join(folder, "data/postmaster.pid"), "utf8").catch(() => "")).split("\n");
  return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.trim() === "ready" };
}

/** With the password that only the folder's owner can read. */
export async function urlOf(folder: string, port: number): Promise<string> {
  const password = (await readFile(join(folder, "password"), "utf8")).trim();
  return `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`;
}
