import { afterAll, beforeAll, expect, it } from "vitest";
import { deliver } from "../../../src/core/flow/deliver.ts";
import { runTurns } from "../../../src/core/flow/runTurn.ts";
import { sweep } from "../../../src/core/flow/sweep.ts";
import { createTestCore, newThread, post, race, type TestCore } from "../../helpers/core.ts";

let t: TestCore;
beforeAll(async () => {
  t = await createTestCore();
  await t.reset();
});
afterAll(() => t.close());

it("G5 a worker that stood still behind its claim posts nothing: who took its place looks, and posts once", async () => {
  const { sessionId } = (await t.receive(post(newThread(), "go"))) as { sessionId: string };
  t.wakes.lose();
  await runTurns(t.core, sessionId);
  t.wakes.lose();
  const slow = { ...t.core, limits: { ...t.core.limits, leaseMs: 1 } };
  // Its claim waits for the row, which takes longer than half of such a lease.
  const holdDeliveries = { text: "select from deliveries where lane = $1 for update", values: [sessionId] };
  await race(t.core.pool, holdDeliveries, () => deliver(slow, sessionId));
  expect(t.chat.sends).toEqual([]);

  await t.passTime(1_000);
  await sweep(t.core);
  await t.drain();
  expect(t.chat.finds).toHaveLength(1);
  expect(t.chat.posts).toHaveLength(1);
});
