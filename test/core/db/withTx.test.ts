import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isOutage } from "../../../src/core/db/outage.ts";
import { type Client, createPool } from "../../../src/core/db/pool.ts";
import { withTx } from "../../../src/core/db/withTx.ts";
import { createTestDatabase, type TestDatabase, waitForLock, waitUntil } from "../../helpers/database.ts";
import { fillDisk, makeRoom } from "../../helpers/diskFull.ts";
import { silentLog } from "../../helpers/log.ts";
import { createTcpProxy } from "../../helpers/tcpProxy.ts";

describe("withTx", () => {
  let db: TestDatabase;

  beforeAll(async () => {
    db = await createTestDatabase();
    await db.pool.query("create table counter (id int primary key, value int8 not null)");
  });
  beforeEach(async () => {
    await db.pool.query("delete from counter");
    await db.pool.query("insert into counter values (1, 0), (2, 0)");
  });
  afterAll(async () => {
    await db.drop();
  });

  const add = (client: Client, id: number) => client.query("update counter set value = value + 1 where id = $1", [id]);
  const values = async () =>
    (await db.pool.query<{ value: number }>("select value from counter order by id")).rows.map((row) => row.value);

  it("commits what the work returns, and reads int8 as a number", async () => {
    expect(await withTx(db.pool, async (client) => (await add(client, 1)).rowCount)).toBe(1);
    expect(await values()).toEqual([1, 0]);
  });

  it("rolls back what the work throws, and throws it on", async () => {
    const reason = new Error("no");
    const failing = withTx(db.pool, async (client) => {
      await add(client, 1);
      throw reason;
    });
    await expect(failing).rejects.toBe(reason);
    expect(await values()).toEqual([0, 0]);
  });

  it("runs the loser of a deadlock again", async () => {
    let runs = 0;
    let holding = 0;
    const cross = (mine: number, other: number) =>
      withTx(db.pool, async (client) => {
        runs++;
        await client.query("set local deadlock_timeout = '20ms'");
        await add(client, mine);
        holding++;
        await waitUntil(() => holding >= 2, "both to hold their row");
        await add(client, other);
      });
    await Promise.all([cross(1, 2), cross(2, 1)]);
    expect(runs).toBe(3);
    expect(await values()).toEqual([2, 2]);
  });

  it("gives up after three retries", async () => {
    let runs = 0;
    const hopeless = withTx(db.pool, async (client) => {
      runs++;
      await client.query("do $$ begin raise exception 'always' using errcode = '40001'; end $$");
    });
    await expect(hopeless).rejects.toThrow("always");
    expect(runs).toBe(4);
  });

  it("says so when PostgreSQL rolled back at the commit, because a failed statement was passed over", async () => {
    const passedOver = withTx(db.pool, async (client) => {
      await add(client, 1);
      await client.query("select 1 / 0").catch(() => {});
      return "done";
    });
    await expect(passedOver).rejects.toThrow("not committed but ended in ROLLBACK");
    expect(await values()).toEqual([0, 0]);
  });

  it("30 keeps its connection when the commit itself finds no room, and fails so", async () => {
    await fillDisk(db.pool, "counter", "at the commit");
    try {
      let pid: unknown;
      const full = withTx(db.pool, async (client) => {
        pid = (await client.query("select pg_backend_pid() as pid")).rows[0];
        await add(client, 1);
      });
      await expect(full).rejects.toMatchObject({ code: "53100" });
      const alive = "select count(*)::int as n from pg_stat_activity where pid = $1";
      expect((await db.pool.query(alive, [(pid as { pid: number }).pid])).rows).toEqual([{ n: 1 }]);
    } finally {
      await makeRoom(db.pool);
    }
    expect(await values()).toEqual([0, 0]);
  });

  it("18 never runs what may have been committed again: its connection was cut at the commit", async () => {
    const url = new URL(db.url);
    const proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    const pool = createPool({ url: url.href, max: 1, applicationName: "test", log: silentLog });
    let runs = 0;
    for (const when of ["before", "after"] as const) {
      const cut = proxy.cutAt("commit\0", when);
      const error = await withTx(pool, (client) => {
        runs++;
        return add(client, 1);
      }).catch((reason: unknown) => reason);
      await cut;
      expect(isOutage(error)).toBe(true);
    }
    expect([runs, await values()]).toEqual([2, [1, 0]]);
    await pool.end();
    await proxy.close();
  });

  it("fails when its connection is cut, and the pool goes on with another", async () => {
    const holder = await db.pool.connect();
    await holder.query("begin");
    await holder.query("select from counter where id = 1 for update");
    const cut = expect(withTx(db.pool, (client) => add(client, 1))).rejects.toThrow(/terminat/i);
    await waitForLock(db.pool);
    await holder.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    await cut;
    await holder.query("rollback");
    holder.release();
    await withTx(db.pool, (client) => add(client, 1));
    expect(await values()).toEqual([1, 0]);
  });
});
