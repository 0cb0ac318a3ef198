import { randomBytes } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CountersignError } from "../core/domain/errors.ts";
import { processStart } from "./processes.ts";

export interface FolderLock {
  /** Gives the folder back. */
  release(): Promise<void>;
}

/** A `config_invalid` that passes once the owner ends. */
export class FolderInUse extends CountersignError {
  constructor(folder: string, pid: number) {
    super(
      "config_invalid",
      `The data folder ${folder} is in use by process ${pid}; stop it, choose another with --data, or set DATABASE_URL so that both share one database.`,
    );
  }
}

/** A process that was killed is seen for a while yet: the kernel takes its memory back before its pid goes. */
const OWNER_ENDS_WITHIN_MS = 2_000;
const LOOK_AGAIN_MS = 50;

/**
 * Takes a data folder for this process: one living owner at a time. The owner is kept as pid and start time, so that
 * a kill -9, or a container that reuses pids, leaves nothing to clean up by hand. Throws `FolderInUse` when
 * another process owns it and does not end within two seconds.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const path = join(folder, "owner");
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  const mine = `${process.pid} ${processStart(process.pid)}`;
  await writeFile(draft, mine, { mode: 0o600 });
  try {
    // A link appears with its whole content or fails; a file that is created and then written can be read half-made.
    const until = performance.now() + OWNER_ENDS_WITHIN_MS;
    while (!(await made(link(draft, path)))) {
      const pid = await dropStale(path);
      if (pid === null) continue;
      if (performance.now() >= until) throw new FolderInUse(folder, pid);
      await sleep(LOOK_AGAIN_MS);
    }
  } finally {
    await rm(draft, { force: true });
  }
  return {
    release: async () => {
      if ((await contentOf(path)) === mine) await rm(path, { force: true });
    },
  };
}

/** The pid of the living process that has the folder; null: nobody has. */
export const folderOwner = async (folder: string): Promise<number | null> =>
  living(await contentOf(join(folder, "owner")));

function living(owner: string): number | null {
  const [pid = "", start = ""] = owner.split(/ (.*)/s);
  return owner !== "" && processStart(Number(pid)) === start ? Number(pid) : null;
}

/** Clears the way when the owner is gone. A pid: it lives. */
async function dropStale(path: string): Promise<number | null> {
  const owner = await contentOf(path);
  const pid = living(owner);
  if (pid !== null) return pid;
  // Moved aside rather than deleted: what another process puts there meanwhile is seen, and put back.
  const aside = `${path}.${randomBytes(6).toString("hex")}.stale`;
  if (!(await made(rename(path, aside)))) return null;
  if ((await contentOf(aside)) !== owner) await made(link(aside, path));
  await rm(aside, { force: true });
  return null;
}

const contentOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");

/** False when the file was there already, or is gone already. */
async function made(step: Promise<void>): Promise<boolean> {
  try {
    await step;
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "EEXIST" || error.code === "ENOENT")) return false;
    throw error;
  }
}
