import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Client } from "../../../src/core/db/pool.ts";
import { withTx } from "../../../src/core/db/withTx.ts";
import { createTestDatabase, type TestDatabase, waitForLock, waitUntil } from "../../helpers/database.ts";

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
