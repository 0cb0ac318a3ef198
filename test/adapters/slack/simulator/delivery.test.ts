import { afterEach, expect, test } from "vitest";
import { createSlackSimulator, SLACK_RETRY_DELAYS_MS } from "../../../../src/adapters/slack/simulator/index.ts";
import { createSetting, type Setting } from "./setting.ts";

let setting: Setting;
afterEach(() => setting?.close());

const mention = (order: "mention-only" | "message-only" = "mention-only") =>
  setting.sim.people.ada.mention(setting.sim.general, "hello", { order });

test("G3 an event delivered again has the same body and event id, and says which retry it is", async () => {
  setting = await createSetting();
  const { sim, app } = setting;
  const [delivery] = (await mention()).deliveries;
  if (!delivery) throw new Error("nothing was delivered");
  await sim.redeliver(delivery, { retryNum: 2, retryReason: "http_timeout" });
  const [first, second] = app.received;
  expect(second?.body).toBe(first?.body);
  expect(first?.headers).not.toHaveProperty("x-slack-retry-num");
  expect(second?.headers).toMatchObject({ "x-slack-retry-num": "2", "x-slack-retry-reason": "http_timeout" });
  expect(delivery.attempts.map(({ retryNum, status }) => [retryNum, status])).toEqual([
    [0, 200],
    [2, 200],
  ]);
});

test("without retries a refused event is sent once", async () => {
  setting = await createSetting();
  setting.app.answerNext({ status: 500 });
  const [delivery] = (await mention()).deliveries;
  await setting.sim.settled();
  expect(delivery?.attempts).toMatchObject([{ retryNum: 0, status: 500 }]);
});

test("with retries, one that fails or is not answered in time comes again until it is acknowledged", async () => {
  // Two busy cores were seen to take over 100 ms for the answers that do come.
  setting = await createSetting({ retryDelaysMs: [0, 1, 1], ackTimeoutMs: 1_000 });
  setting.app.answerNext({ status: 503 }, "never");
  const [delivery] = (await mention()).deliveries;
  await setting.sim.waitFor(() => delivery?.attempts.length === 3);
  expect(delivery?.attempts).toMatchObject([
    { retryNum: 0, status: 503 },
    { retryNum: 1, failure: "http_timeout" },
    { retryNum: 2, status: 200 },
  ]);
  expect(setting.app.received.map(({ headers }) => headers["x-slack-retry-reason"])).toEqual([
    undefined,
    "http_error",
    "http_timeout",
  ]);
});

test("Slack gives up after its last retry, and at once when the app says x-slack-no-retry", async () => {
  setting = await createSetting({ retryDelaysMs: [0, 0, 0] });
  const { app, sim } = setting;
  app.answerNext(...Array.from({ length: 4 }, () => ({ status: 500 })));
  const [tried] = (await mention()).deliveries;
  await sim.waitFor(() => tried?.attempts.length === 4);
  app.answerNext({ status: 500, headers: { "x-slack-no-retry": "1" } });
  const [once] = (await mention()).deliveries;
  const [after] = (await mention()).deliveries;
  expect(after?.attempts).toHaveLength(1);
  expect(once?.attempts).toHaveLength(1);
  expect(tried?.attempts).toHaveLength(4);
  expect(app.received).toHaveLength(6);
});

test("G2 a click is never retried", async () => {
  setting = await createSetting({ retryDelaysMs: [0, 0, 0] });
  const { app, sim, web } = setting;
  const blocks = [{ type: "actions", elements: [{ type: "button", text: { type: "plain_text", text: "Go" } }] }];
  const { ts = "" } = await web.chat.postMessage({ channel: sim.general, text: "Go?", blocks });
  app.answerNext({ status: 503 });
  const click = await sim.people.ada.click({ channel: sim.general, ts }, { buttonText: "Go" });
  await mention();
  expect(click.attempts).toMatchObject([{ status: 503 }]);
  expect(app.received).toHaveLength(2);
});

test("G1 anything can be sent: an old or future timestamp, a bad signature, another content type", async () => {
  setting = await createSetting({ now: () => 1_767_406_613_000 });
  const { sim, app } = setting;
  await sim.deliverRaw({ type: "url_verification", challenge: "c" });
  await sim.deliverRaw({ type: "url_verification", challenge: "c" }, { timestampOffset: -301 });
  await sim.deliverRaw({ type: "url_verification", challenge: "c" }, { badSignature: true });
  await sim.deliverRaw("ssl_check=1", { contentType: "application/x-www-form-urlencoded; charset=utf-8" });
  const [good, old, forged, form] = app.received;
  expect(good).toMatchObject({ signed: true, payload: { challenge: "c" } });
  expect(good?.headers["x-slack-request-timestamp"]).toBe("1767406613");
  expect(old?.headers["x-slack-request-timestamp"]).toBe("1767406312");
  expect(old?.signed).toBe(true);
  expect(forged?.signed).toBe(false);
  expect(form).toMatchObject({ signed: true, body: "ssl_check=1" });
  expect(form?.headers["content-type"]).toContain("charset=utf-8");
});

test("an app that is away fails the delivery, one without an address gets none; the post is there all the same", async () => {
  setting = await createSetting();
  await setting.app.close();
  const [delivery] = (await mention()).deliveries;
  expect(delivery?.attempts).toMatchObject([{ failure: "connection_failed" }]);

  const alone = createSlackSimulator();
  await alone.start();
  try {
    const { ts, deliveries } = await alone.people.ada.mention(alone.general, "anybody?");
    expect(deliveries.map(({ attempts }) => attempts)).toEqual([[], []]);
    expect(alone.thread(alone.general, ts)).toHaveLength(1);
  } finally {
    await alone.stop();
  }
});

test("stop ends retries that wait, and whoever waits for a change", async () => {
  setting = await createSetting({ retryDelaysMs: SLACK_RETRY_DELAYS_MS.slice(1) });
  setting.app.answerNext({ status: 500 });
  await mention();
  const waiting = expect(setting.sim.waitFor(() => false)).rejects.toThrow("stopped");
  await setting.sim.stop();
  await waiting;
});

test("event ids do not come again in the next simulator: a gateway keeps those it saw", async () => {
  setting = await createSetting();
  const other = await createSetting();
  try {
    await mention();
    await other.sim.people.ada.mention(other.sim.general, "hello", { order: "mention-only" });
    expect(setting.app.received[0]?.payload.event_id).not.toBe(other.app.received[0]?.payload.event_id);
  } finally {
    await other.close();
  }
});
