import { afterAll, beforeAll, expect, it } from "vitest";
import { startSweeper } from "../../src/gateway/sweeper.ts";
import { createTestCore, type TestCore, waitUntil } from "../helpers/core.ts";

let t: TestCore;
beforeAll(async () => {
  t = await createTestCore();
});
afterAll(() => t.close());

const AGE_MS = 200;

it("15 sweeps by itself, grows old while it cannot, says so once, and is young again", async () => {
  const sweeper = startSweeper(t.core, 20);
  try {
    await waitUntil(() => sweeper.ageMs() < AGE_MS, "a first sweep");
    await t.core.pool.query("alter table inbox rename to inbox_away");
    await waitUntil(() => sweeper.ageMs() > AGE_MS, "it to grow old");
    await t.core.pool.query("alter table inbox_away rename to inbox");
    await waitUntil(() => sweeper.ageMs() < AGE_MS, "it to be young again");
  } finally {
    await sweeper.stop();
  }
  expect(t.log.lines.map(({ message }) => message)).toEqual(["a sweep failed; the next ones try again"]);
});

it("is as young where another worker sweeps", async () => {
  const other = await t.core.pool.connect();
  await other.query("select pg_advisory_lock(7061970)");
  const sweeper = startSweeper(t.core, 2 * AGE_MS);
  try {
    await waitUntil(() => sweeper.ageMs() > AGE_MS, "some time");
    await waitUntil(() => sweeper.ageMs() < AGE_MS, "a look at the lock");
    await sweeper.check();
  } finally {
    await sweeper.stop();
    other.release(true);
  }
});
