import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { deliver } from "../../../src/core/flow/deliver.ts";
import { runTurns } from "../../../src/core/flow/runTurn.ts";
import { createTestCore, newThread, post, type TestCore, waitUntil } from "../../helpers/core.ts";

let t: TestCore;
beforeAll(async () => {
  t = await createTestCore();
});
beforeEach(() => t.reset());
afterAll(() => t.close());

/** A session with two answers that wait to be sent. */
async function twoAnswers(): Promise<string> {
  const thread = newThread();
  t.model.script({ text: "one" }, { text: "two" });
  const [first] = [await t.receive(post(thread, "a")), await t.receive(post(thread, "b"))];
  const lane = first.status === "received" ? (first.sessionId ?? "") : "";
  await runTurns(t.core, lane);
  t.wakes.lose();
  return lane;
}
const statuses = async () =>
  (await t.core.pool.query<{ status: string }>("select status from deliveries order by position")).rows.map(
    ({ status }) => status,
  );

it("G5 a worker that shuts down sends what it has in hand, claims nothing more, and rings for the rest", async () => {
  const lane = await twoAnswers();
  const worker = t.anotherWorker();
  let accepted = () => {};
  t.chat.answerNext((_, accept) => new Promise((resolve) => (accepted = () => resolve(accept()))));
  const delivering = deliver(worker, lane);
  await waitUntil(() => t.chat.sends.length === 1, "the first to be on its way");
  const closed = worker.leases.close(0, delivering);
  accepted();
  await closed;
  expect(await statuses()).toEqual(["sent", "queued"]);
  expect(t.wakes.waiting).toEqual([{ kind: "deliver", id: lane }]);
  await t.drain();
  expect(await statuses()).toEqual(["sent", "sent"]);
  expect([t.chat.sends.length, t.chat.finds.length]).toEqual([2, 0]);
});

it("S2 a worker that shuts down starts no other turn of the session", async () => {
  const thread = newThread();
  const worker = t.anotherWorker();
  let answer = () => {};
  t.model.script(() => new Promise((resolve) => (answer = () => resolve({ text: "one" }))), { text: "two" });
  for (const text of ["a", "b"]) await t.receive(post(thread, text));
  const [wake] = t.wakes.lose();
  const running = runTurns(worker, wake?.id ?? "");
  await waitUntil(() => t.model.requests.length === 1, "the first turn to be at work");
  const closed = worker.leases.close(60_000, running);
  answer();
  await closed;
  const { rows } = await t.core.pool.query("select status from turns order by position");
  expect(rows).toEqual([{ status: "completed" }, { status: "queued" }]);
});
