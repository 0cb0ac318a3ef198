import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { sweep } from "../../../src/core/flow/sweep.ts";
import { findDecision } from "../../../src/core/store/decisions.ts";
import { clickCard, createTestCore, newThread, post, type TestCore } from "../../helpers/core.ts";

let t: TestCore;
beforeAll(async () => {
  t = await createTestCore();
});
beforeEach(() => t.reset());
afterEach(() => {
  vi.useRealTimers();
});
afterAll(() => t.close());

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** This process' clock, set wrong from here on; the database's goes on. */
const setClock = (byMs: number) => {
  const at = Date.now() + byMs;
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ["Date"], now: at });
};

/** Fault 20: what is stored and what runs out is timed by the database alone. */
it.each([
  ["two hours ahead", 2 * HOUR_MS],
  ["two hours behind", -2 * HOUR_MS],
  ["two days ahead, past every expiry", 2 * DAY_MS],
])("20 A4 on a machine that is %s, a write is approved, applied once, and no lease is lost", async (_, byMs) => {
  setClock(byMs);
  const thread = newThread();
  t.model.script({ calls: [{ tool: "attach", input: {} }] });
  await t.receive(post(thread, "go"));
  await t.drain();
  const card = t.lastCard();
  // A replica that is five minutes from this one.
  setClock(-5 * 60_000);
  await sweep(t.anotherWorker());
  await t.receive(clickCard(thread, card, "approve"));
  await t.drain();
  await sweep(t.core);
  await t.drain();
  const settled = await findDecision(t.core.pool, card.decisionId);
  expect(settled).toMatchObject({ status: "applied", attempt: 1 });
  const { rows } = await t.core.pool.query<{ near: boolean }>(
    `select abs(extract(epoch from decided_at - clock_timestamp())) < 60 and
       abs(extract(epoch from expires_at - clock_timestamp()) - 86400) < 60 as near from decisions`,
  );
  expect(rows).toEqual([{ near: true }]);
});

it("20 A4 expires when the database says so, whatever this machine thinks", async () => {
  const thread = newThread();
  t.model.script({ calls: [{ tool: "attach", input: {} }] });
  await t.receive(post(thread, "go"));
  await t.drain();
  const card = t.lastCard();
  setClock(-2 * DAY_MS);
  await t.passTime(DAY_MS + 1);
  await t.receive(clickCard(thread, card, "approve"));
  await t.drain();
  expect((await findDecision(t.core.pool, card.decisionId))?.status).toBe("expired");
  expect(t.runtime.invokes.filter(({ entry }) => entry === "apply")).toEqual([]);
});
