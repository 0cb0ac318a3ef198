import { afterAll, beforeAll, expect, it } from "vitest";
import { withSweepLock } from "../../../src/core/store/sweepLock.ts";
import { createTestDatabase, type TestDatabase } from "../../helpers/database.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const HOLDER = `from pg_stat_activity join pg_locks using (pid)
  where datname = current_database() and locktype = 'advisory'`;

it("is one worker's at a time, and free when its sweep has ended, well or not", async () => {
  const seen = await withSweepLock(db.pool, async () => {
    expect(await withSweepLock(db.pool, async () => {})).toBe(false);
  });
  expect(seen).toBe(true);
  await expect(withSweepLock(db.pool, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await withSweepLock(db.pool, async () => {})).toBe(true);
});

it("16 is taken back by PostgreSQL from a worker that is paused in the middle of a sweep", async () => {
  const paused = withSweepLock(db.pool, async () => {
    // What PostgreSQL ends by itself after `idle_in_transaction_session_timeout`, which is 30 s on every connection.
    const { rows } = await db.pool.query(`select state ${HOLDER}`);
    expect(rows).toEqual([{ state: "idle in transaction" }]);
    expect((await db.pool.query("show idle_in_transaction_session_timeout")).rows).toEqual([
      { idle_in_transaction_session_timeout: "30s" },
    ]);
    await db.pool.query(`select pg_terminate_backend(pid) ${HOLDER}`);
    await expect.poll(() => withSweepLock(db.pool, async () => {})).toBe(true);
  });
  // Two sweeps at once do no harm: what it swept is swept.
  expect(await paused).toBe(true);
  expect(await withSweepLock(db.pool, async () => {})).toBe(true);
});
