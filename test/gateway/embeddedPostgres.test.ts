import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { isCode } from "../../src/core/domain/errors.ts";
import { createEmbeddedPostgres, type EmbeddedPostgres } from "../../src/gateway/embeddedPostgres.ts";
import { type PostgresIdentity, postgresIdentity } from "../../src/gateway/postgresIdentity.ts";
import { processCommand, processStart } from "../../src/gateway/processes.ts";
import { silentLog } from "../helpers/log.ts";
import { runScript } from "../helpers/runScript.ts";
import { waitUntil } from "../helpers/waitUntil.ts";

async function query<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

const postmasterOf = async (dataDir: string): Promise<number> =>
  Number((await readFile(join(dataDir, "data/postmaster.pid"), "utf8")).split("\n")[0]);

describe("embedded PostgreSQL", () => {
  let dataDir: string;
  let postgres: EmbeddedPostgres;
  const bystanders: ChildProcess[] = [];

  const create = (sync = false) => createEmbeddedPostgres({ dataDir, log: silentLog, sync });

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "countersign-postgres-"));
    // What a start that was killed inside initdb leaves.
    await mkdir(join(dataDir, "data.new"));
    await writeFile(join(dataDir, "data.new/PG_VERSION"), "18\n");
    postgres = create();
    await postgres.start();
    await query(postgres.url, "create table kept (id int primary key)");
  });
  afterEach(async () => {
    for (const bystander of bystanders.splice(0)) bystander.kill("SIGKILL");
    await postgres.stop();
  });
  afterAll(async () => {
    await rm(dataDir, { recursive: true, force: true });
  });

  it("listens on loopback alone, with a password that only its owner can read", async () => {
    const [row] = await query(
      postgres.url,
      `select current_setting('listen_addresses') as listens, current_setting('unix_socket_directories') as sockets,
              current_setting('max_connections')::int as connections, current_setting('server_encoding') as encoding`,
    );
    expect(row).toEqual({ listens: "127.0.0.1", sockets: "", connections: 100, encoding: "UTF8" });
    expect((await stat(join(dataDir, "password"))).mode & 0o777).toBe(0o600);
    const guessed = new URL(postgres.url);
    guessed.password = "guessed";
    await expect(query(guessed.href, "select 1")).rejects.toThrow("password authentication failed");
  });

  it("keeps its data over a stop and a start, and writes to disk unless it is told not to", async () => {
    postgres = create(true);
    await postgres.start();
    await query(postgres.url, "insert into kept values (1)");
    expect(await query(postgres.url, "show fsync")).toEqual([{ fsync: "on" }]);
    await postgres.stop();
    await postgres.stop();
    await postgres.start();
    expect(await query(postgres.url, "select id from kept where id = 1")).toEqual([{ id: 1 }]);
  });

  it("refuses a folder that a living process owns, and leaves that one alone", async () => {
    await postgres.start();
    const error = await create()
      .start()
      .catch((reason: unknown) => reason);
    expect(isCode(error, "config_invalid")).toBe(true);
    expect(error).toHaveProperty("message", expect.stringContaining(`in use by process ${process.pid}`));
    expect(await query(postgres.url, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  it("starts again on the same port when PostgreSQL is killed", async () => {
    await postgres.start();
    const { url } = postgres;
    const before = await postmasterOf(dataDir);
    process.kill(before, "SIGKILL");
    const answers = () =>
      query(url, "select 1").then(
        () => true,
        () => false,
      );
    await waitUntil(async () => (await answers()) && (await postmasterOf(dataDir)) !== before, "PostgreSQL to be back");
    expect(postgres.url).toBe(url);
  });

  it("loses nothing committed when its gateway is killed, and leaves no orphan", async () => {
    const { child, firstLine: url } = await runScript("test/fixtures/embeddedPostgresProcess.ts", dataDir);
    await query(url, "insert into kept values (2)");
    const postmaster = await postmasterOf(dataDir);
    child.kill("SIGKILL");
    // At once, while the old one may still be shutting down.
    postgres = create();
    await postgres.start();
    expect(await query(postgres.url, "select id from kept where id = 2")).toEqual([{ id: 2 }]);
    expect(processStart(postmaster)).toBeNull();
  });

  /** A process of another program, and a zombie that nobody reaps. */
  async function bystander(): Promise<{ living: number; zombie: number }> {
    const child = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 600"], { stdio: ["ignore", "pipe", "ignore"] });
    bystanders.push(child);
    const [line] = await once(createInterface(child.stdout), "line");
    const zombie = Number(line);
    // Not before: as long as it is a shell it reaps its children.
    await waitUntil(() => processCommand(Number(child.pid)).startsWith("sleep"), "the shell to have become sleep");
    process.kill(zombie, "SIGKILL");
    await waitUntil(() => processStart(zombie) === null, "the zombie");
    return { living: Number(child.pid), zombie };
  }

  it.each(["living", "zombie"] as const)(
    "is not held up by a pid file that names a %s process of others",
    async (kind) => {
      const pid = (await bystander())[kind];
      expect(() => process.kill(pid, 0)).not.toThrow();
      const lines = [pid, join(dataDir, "data"), 1, 1, "", "127.0.0.1", "", "ready"];
      await writeFile(join(dataDir, "data/postmaster.pid"), `${lines.join("\n")}\n`);
      postgres = create();
      await postgres.start();
      expect(await query(postgres.url, "select 1 as one")).toEqual([{ one: 1 }]);
      if (kind === "living") expect(processStart(pid)).not.toBeNull();
    },
  );

  it("tells an orphan to stop, where the host ends no children with their parent", async () => {
    const { child, firstLine: url } = await runScript("test/fixtures/embeddedPostgresProcess.ts", dataDir, "orphan");
    const orphan = await postmasterOf(dataDir);
    child.kill("SIGKILL");
    await once(child, "exit");
    await query(url, "insert into kept values (3)");
    postgres = create();
    await postgres.start();
    expect(processStart(orphan)).toBeNull();
    expect(await query(postgres.url, "select id from kept where id = 3")).toEqual([{ id: 3 }]);
  });

  it("says where to look when it cannot start", async () => {
    await postgres.stop();
    const version = join(dataDir, "data/PG_VERSION");
    const kept = await readFile(version);
    await writeFile(version, "9\n");
    const error = await postgres.start().catch((reason: unknown) => reason);
    await writeFile(version, kept);
    expect(isCode(error, "database_unreachable")).toBe(true);
    expect(error).toHaveProperty("message", expect.stringContaining(join(dataDir, "postgres.log")));
    await postgres.start();
  });
});

describe("whom PostgreSQL runs as", () => {
  // Root has two ways, and each must take over what the other made; anybody else runs it as it is.
  const nobody: PostgresIdentity = { prefix: [], spawnAs: { uid: 65534, gid: 65534 }, owner: 65534, deathSignal: [] };

  it("runs as every identity this host and user allow, on one and the same data", async () => {
    const above = await mkdtemp(join(tmpdir(), "countersign-identity-"));
    const own = await postgresIdentity();
    let rows = 0;
    const identities = process.getuid?.() === 0 ? [nobody, own, nobody] : [own];
    try {
      for (const identity of identities) {
        const options = { dataDir: join(above, "postgres"), log: silentLog, sync: false, identity };
        const postgres = createEmbeddedPostgres(options);
        await postgres.start();
        try {
          await query(postgres.url, "create table if not exists kept (id int); insert into kept values (1)");
          rows = (await query(postgres.url, "select id from kept")).length;
        } finally {
          await postgres.stop();
        }
      }
      expect(rows).toBe(identities.length);
    } finally {
      await rm(above, { recursive: true, force: true });
    }
  });
});
