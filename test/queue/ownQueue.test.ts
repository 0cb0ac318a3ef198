import { expect, it } from "vitest";
import type { Wake } from "../../src/core/ports.ts";
import { createOwnQueue } from "../../src/queue/ownQueue.ts";
import { recordingLog, silentLog } from "../helpers/log.ts";
import { waitUntil } from "../helpers/waitUntil.ts";

const turns = (count: number): Wake[] =>
  Array.from({ length: count }, (_, index) => ({ kind: "turn", id: `ses_${index}` }));

/** Handles one wake at a time for each `letGo`. */
function stepwise() {
  const started: string[] = [];
  const open: (() => void)[] = [];
  const handler = async (id: string) => {
    started.push(id);
    await new Promise<void>((resolve) => open.push(resolve));
  };
  return { started, handler, open, letGo: () => open.shift()?.() };
}

it("handles at most so many at once, in the order they were rung", async () => {
  const queue = createOwnQueue(silentLog);
  const { started, handler, letGo, open } = stepwise();
  await queue.consume("turn", 2, handler);
  await queue.wake(turns(4));
  expect(started).toEqual(["ses_0", "ses_1"]);
  letGo();
  await waitUntil(() => open.length === 2, "the third");
  expect(started).toEqual(["ses_0", "ses_1", "ses_2"]);
});

it("handles a row once at a time, and once more when it was rung meanwhile, however often", async () => {
  const queue = createOwnQueue(silentLog);
  const { started, handler, letGo } = stepwise();
  await queue.consume("turn", 8, handler);
  for (let i = 0; i < 5; i++) await queue.wake(turns(1));
  expect(started).toHaveLength(1);
  letGo();
  await waitUntil(() => started.length === 2, "the ring that came meanwhile");
  letGo();
  await queue.wake([{ kind: "turn", id: "ses_9" }]);
  expect(started).toEqual(["ses_0", "ses_0", "ses_9"]);
});

it("keeps a thousand waiting and no more: memory is bounded, and the sweeper rings again", async () => {
  const queue = createOwnQueue(silentLog);
  const handled: string[] = [];
  let letGo = () => {};
  const gone = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await queue.consume("turn", 1, async (id) => {
    await gone;
    handled.push(id);
  });
  await queue.wake(turns(3_000));
  letGo();
  await waitUntil(() => handled.length >= 1_000, "a thousand");
  await queue.stop();
  expect(handled).toHaveLength(1_000);
});

it("leaves delayed wakes, and kinds nobody takes, to the sweeper", async () => {
  const queue = createOwnQueue(silentLog);
  const { started, handler } = stepwise();
  await queue.consume("turn", 1, handler);
  await queue.wake([{ kind: "turn", id: "later", delayMs: 1 }, { kind: "apply", id: "dec_1" }, ...turns(1)]);
  expect(started).toEqual(["ses_0"]);
});

it("logs a handler that throws, and goes on", async () => {
  const log = recordingLog();
  const queue = createOwnQueue(log);
  const handled: string[] = [];
  await queue.consume("turn", 1, async (id) => {
    handled.push(id);
    if (id === "ses_0") throw new Error("broken");
  });
  await queue.wake(turns(2));
  await waitUntil(() => handled.length === 2, "both");
  expect(log.lines.map(({ level }) => level)).toEqual(["error"]);
});

it("stops: nothing more is started, and what runs is waited for", async () => {
  const queue = createOwnQueue(silentLog);
  const { started, handler, letGo } = stepwise();
  await queue.consume("turn", 1, handler);
  await queue.wake(turns(2));
  let stopped = false;
  const stopping = queue.stop().then(() => {
    stopped = true;
  });
  await queue.wake([{ kind: "turn", id: "ses_late" }]);
  expect(stopped).toBe(false);
  letGo();
  await stopping;
  expect(started).toEqual(["ses_0"]);
});
