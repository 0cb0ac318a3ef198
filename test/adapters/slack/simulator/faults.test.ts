import { WebAPIRateLimitedError } from "@slack/web-api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSetting, refused, type Setting } from "./setting.ts";

let setting: Setting;
let channel: string;

beforeEach(async () => {
  setting = await createSetting();
  channel = setting.sim.general;
});
afterEach(() => setting.close());

const post = (text = "hello", to = channel) => setting.web.chat.postMessage({ channel: to, text });

test("429 carries Retry-After, posts nothing, and strikes once", async () => {
  setting.sim.faults.next("chat.postMessage", { kind: "429", retryAfter: 7 });
  const error = await refused(post());
  expect(error).toBeInstanceOf(WebAPIRateLimitedError);
  expect(error).toMatchObject({ retryAfter: 7 });
  expect(setting.sim.messages(channel)).toEqual([]);
  await post();
  expect(setting.sim.messages(channel)).toHaveLength(1);
});

test("ok:false comes with status 200 and is no violation", async () => {
  setting.sim.faults.next("chat.postMessage", { kind: "okFalse", error: "ratelimited" });
  expect(await refused(post())).toMatchObject({ ok: false, error: "ratelimited" });
  expect(setting.sim.violations).toEqual([]);
});

test("an HTTP status of its own", async () => {
  setting.sim.faults.next("chat.postMessage", { kind: "status", status: 500 });
  expect(await refused(post())).toMatchObject({ statusCode: 500 });
  expect(setting.sim.messages(channel)).toEqual([]);
});

test("a reset before leaves nothing behind, one after leaves the message; the caller cannot tell them apart", async () => {
  setting.sim.faults.next("chat.postMessage", { kind: "resetBefore" });
  setting.sim.faults.next("chat.postMessage", { kind: "resetAfterAccept" });
  const before = await refused(post("lost"));
  const after = await refused(post("kept"));
  expect(after.constructor.name).toBe(before.constructor.name);
  expect(setting.sim.messages(channel).map(({ text }) => text)).toEqual(["kept"]);
});

test("a held call does its work at once and answers when it is let go", async () => {
  let letGo = (): void => undefined;
  const until = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  setting.sim.faults.next("chat.postMessage", { kind: "hold", until });
  let answered = false;
  const call = post().then(() => {
    answered = true;
  });
  await setting.sim.waitFor(() => setting.sim.messages(channel).length === 1);
  expect(answered).toBe(false);
  letGo();
  await call;
});

test("a delay comes after the work", async () => {
  setting.sim.faults.next("chat.postMessage", { kind: "delay", ms: 30 });
  const began = performance.now();
  await post();
  expect(performance.now() - began).toBeGreaterThanOrEqual(25);
});

test("a fault strikes its channel and its count alone", async () => {
  const other = setting.sim.addChannel("other").id;
  setting.sim.faults.next("chat.postMessage", { kind: "okFalse", error: "fatal_error" }, { channel: other, count: 2 });
  await post();
  await setting.web.auth.test();
  expect((await refused(post("1", other))).error).toBe("fatal_error");
  expect((await refused(post("2", other))).error).toBe("fatal_error");
  await post("3", other);
  expect(setting.sim.messages(other).map(({ text }) => text)).toEqual(["3"]);
});

test("every call is logged with its channel and outcome, those that were struck too", async () => {
  setting.sim.faults.next("chat.postMessage", { kind: "resetAfterAccept" });
  await refused(post());
  await post();
  await refused(setting.web.chat.update({ channel, ts: "1700000000.000001", text: "t" }));
  expect(setting.sim.requests).toMatchObject([
    { method: "chat.postMessage", channel, outcome: "fault:resetAfterAccept" },
    { method: "chat.postMessage", channel, outcome: "ok" },
    { method: "chat.update", channel, outcome: "message_not_found" },
  ]);
  expect(setting.sim.requestCount("chat.postMessage")).toBe(2);
});
