import { afterAll, beforeAll, expect, it } from "vitest";
import { withSnapshot } from "../../../src/core/db/withTx.ts";
import { createTestDatabase, type TestDatabase } from "../../helpers/database.ts";

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
  await db.pool.query("create table two (a int, b int); insert into two values (1, 1)");
});
afterAll(() => db.drop());

it("reads what was true together, whatever is committed between two of its reads", async () => {
  const seen = await withSnapshot(db.pool, async (client) => {
    const first = await client.query<{ a: number }>("select a from two");
    await db.pool.query("update two set a = 2, b = 2");
    const second = await client.query<{ b: number }>("select b from two");
    return [first.rows[0]?.a, second.rows[0]?.b];
  });
  expect(seen).toEqual([1, 1]);
});

it("writes nothing", async () => {
  const write = withSnapshot(db.pool, (client) => client.query("update two set a = 3"));
  await expect(write).rejects.toMatchObject({ code: "25006" });
});
