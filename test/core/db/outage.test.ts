import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isCut, isOutage } from "../../../src/core/db/outage.ts";
import { createPool } from "../../../src/core/db/pool.ts";
import { withTx } from "../../../src/core/db/withTx.ts";
import { createTestDatabase, type TestDatabase } from "../../helpers/database.ts";
import { silentLog } from "../../helpers/log.ts";
import { createTcpProxy } from "../../helpers/tcpProxy.ts";

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "it did not fail",
    (error: unknown) => error,
  );

describe("isOutage", () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.drop());

  /** What a query on a pool for this address fails with. */
  async function askAt(url: string): Promise<unknown> {
    const pool = createPool({ url, max: 1, applicationName: "test", log: silentLog });
    const error = await failure(pool.query("select 1"));
    await pool.end();
    return error;
  }

  it("is a server that nobody listens for, at a port or at a socket", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    await new Promise((resolve) => server.close(resolve));
    const port = typeof address === "object" ? address?.port : undefined;
    expect(isOutage(await askAt(`postgres://u@127.0.0.1:${port}/x`))).toBe(true);
    expect(isOutage(await askAt("postgres://u@%2Fno%2Fsuch%2Ffolder/x"))).toBe(true);
  });

  it("is a connection that the server ends, in the middle of a statement or between two", async () => {
    const client = await db.pool.connect();
    client.on("error", () => {});
    expect(isOutage(await failure(client.query("select pg_terminate_backend(pg_backend_pid())")))).toBe(true);
    expect(isOutage(await failure(client.query("select 1")))).toBe(true);
    client.release(true);
  });

  it("is a server that keeps its connections and answers nothing", async () => {
    const url = new URL(db.url);
    const proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    const pool = createPool({ url: url.href, max: 2, applicationName: "test", log: silentLog, queryTimeoutMs: 200 });
    const client = await pool.connect();
    await Promise.all([pool.query("select 1"), client.query("select 1")]);
    client.release();
    proxy.freeze();
    const errors = await Promise.all([
      failure(pool.query("select 1")),
      failure(withTx(pool, (tx) => tx.query("select 1"))),
    ]);
    expect(errors.map(isOutage)).toEqual([true, true]);
    expect(pool.totalCount).toBe(0);
    await Promise.all([pool.end(), proxy.close()]);
  });

  it.each([
    ["30 no room on the disk", "53100", false],
    ["30 no memory", "53200", false],
    ["30 a disk that fails", "58030", false],
    ["a conflict, more often than it is done again", "40001", false],
    ["a deadlock, more often than it is done again", "40P01", false],
    ["19 a standby, where the primary was before a failover", "25006", true],
    ["a transaction that idled for too long", "25P03", true],
    ["no connection left", "53300", true],
  ])("is %s (%s), whether or not the connection is to be dropped for it", async (_, code, cut) => {
    const error = await failure(db.pool.query(`do $$ begin raise exception 'so' using errcode = '${code}'; end $$`));
    expect([isOutage(error), isCut(error)]).toEqual([true, cut]);
  });

  it("is no mistake of ours: a wrong statement, a wrong database, a missing file, a bug", async () => {
    const url = new URL(db.url);
    url.pathname = "/no_such_database";
    const missing = Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT", syscall: "open" });
    const errors = [
      await failure(db.pool.query("select nothing from nowhere")),
      await failure(db.pool.query("select $1::text", ["\u0000"])),
      await askAt(url.href),
      missing,
      new TypeError("x is undefined"),
      "timeout expired",
    ];
    expect(errors.map(isOutage)).toEqual(errors.map(() => false));
  });
});
