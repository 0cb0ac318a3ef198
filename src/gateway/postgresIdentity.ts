import { execFile } from "node:child_process";
import { chmod, chown, lstat, readdir, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Where `unshare` and `setpriv` are looked for; nothing else of our environment is PostgreSQL's to know. */
export const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** `nobody` on every Linux: owns nothing that matters. */
const NOBODY = 65534;

/** As whom PostgreSQL runs, since it refuses to run as root. */
export interface PostgresIdentity {
  /** Put before the program: `unshare …`, or nothing. */
  readonly prefix: readonly string[];
  /** Absent: this process's own. */
  readonly spawnAs?: { readonly uid: number; readonly gid: number };
  /** Who must own the cluster's files; absent: whoever makes them. */
  readonly owner?: number;
  /** Ends PostgreSQL in an orderly way when this process is killed; empty where the host cannot. */
  readonly deathSignal: readonly string[];
}

/**
 * An ordinary user runs it as it is. Root, and a user id without a name (`docker run --user 1234`), which initdb
 * refuses too, run it in a user namespace where they are `nobody` while the files stay their own; where the host
 * refuses namespaces, root runs it as the real `nobody`, who then owns the cluster.
 */
export async function postgresIdentity(): Promise<PostgresIdentity> {
  const isRoot = process.getuid?.() === 0;
  const deathSignal = (await works("setpriv", "--pdeathsig", "INT")) ? ["setpriv", "--pdeathsig", "INT"] : [];
  if (!isRoot && hasName()) return { prefix: [], deathSignal };
  const unshare = ["unshare", "-U", `--map-user=${NOBODY}`, `--map-group=${NOBODY}`] as const;
  if (await works(...unshare)) return { prefix: unshare, deathSignal, ...(isRoot && { owner: 0 }) };
  if (!isRoot) return { prefix: [], deathSignal };
  return { prefix: [], spawnAs: { uid: NOBODY, gid: NOBODY }, owner: NOBODY, deathSignal };
}

function hasName(): boolean {
  try {
    return userInfo().username !== "";
  } catch {
    return false;
  }
}

async function works(program: string, ...args: readonly string[]): Promise<boolean> {
  try {
    await run(program, [...args, "true"], { env: { PATH: SYSTEM_PATH } });
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes `folder` and all in it the identity's own; the host may refuse today what it allowed yesterday. The folder
 * above is ours and nobody else's to read: the real `nobody` is only let through.
 */
export async function handOver(identity: PostgresIdentity, folder: string): Promise<void> {
  if (identity.owner === undefined) return;
  await giveTo(identity.owner, folder);
  if (!identity.spawnAs) return;
  const above = dirname(folder);
  const { mode } = await stat(above);
  if ((mode & 0o001) === 0) await chmod(above, mode | 0o001);
}

/** Stops at a folder that is the owner's already. */
export async function giveTo(owner: number, path: string): Promise<void> {
  const found = await lstat(path);
  if (found.isDirectory()) {
    if (found.uid === owner) return;
    for (const name of await readdir(path)) await giveTo(owner, join(path, name));
  }
  if (!found.isSymbolicLink()) await chown(path, owner, owner);
}
