import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSlackSender } from "../../../src/adapters/slack/send.ts";
import type { Conversation, OutboundMessage } from "../../../src/core/domain/message.ts";
import type { Outgoing } from "../../../src/core/ports.ts";
import { recordingLog, silentLog } from "../../helpers/log.ts";
import { createFakeSlack, json } from "./fakeSlack.ts";

const deliveryId = "6a2c1d1e-0001-4000-8000-000000000001";
const at = (conversationId: string): Conversation => ({
  provider: "slack",
  connectionId: "slack:T1",
  workspaceId: "T1",
  conversationId,
});
const thread = at("C1:1700000000.000100");
const text = (words: string): OutboundMessage => ({ kind: "text", text: words });
const notice: OutboundMessage = {
  kind: "notice",
  to: { provider: "slack", workspaceId: "T1", userId: "U2" },
  text: "Already decided.",
};
const outgoing = (changes: Partial<Outgoing> = {}): Outgoing => ({
  deliveryId,
  conversation: thread,
  message: text("It is on its way."),
  ...changes,
});

let slack: Awaited<ReturnType<typeof createFakeSlack>>;
beforeAll(async () => {
  slack = await createFakeSlack();
});
afterAll(async () => {
  await slack.close();
});

const sender = (options: { timeoutMs?: number } = {}) =>
  createSlackSender({ botToken: "xoxb-1", apiUrl: slack.url, log: silentLog, ...options });

const ok = json({ ok: true, channel: "C1", ts: "1700000001.000100" });

describe("a post", () => {
  it("G5 carries the delivery's id, goes to the thread's root, and unfurls nothing", async () => {
    slack.answers(ok);
    expect(await sender().send(outgoing())).toEqual({ outcome: "sent", ref: "C1:1700000001.000100" });
    expect(slack.asked).toHaveLength(1);
    const [{ method, args } = { method: "", args: {} as Record<string, string> }] = slack.asked;
    expect(method).toBe("chat.postMessage");
    expect(args).toMatchObject({
      channel: "C1",
      thread_ts: "1700000000.000100",
      text: "It is on its way.",
      unfurl_links: "false",
      unfurl_media: "false",
    });
    expect(JSON.parse(args["metadata"] ?? "")).toEqual({
      event_type: "countersign_delivery",
      event_payload: { delivery_id: deliveryId },
    });
  });

  it("G4 in an unthreaded DM opens no thread", async () => {
    slack.answers(ok);
    await sender().send(outgoing({ conversation: at("D1") }));
    expect(slack.asked[0]?.args).toMatchObject({ channel: "D1" });
    expect(slack.asked[0]?.args).not.toHaveProperty("thread_ts");
  });

  it("an edit replaces the message it names", async () => {
    slack.answers(ok);
    const result = await sender().send(outgoing({ editRef: "C1:1700000009.000200" }));
    expect(result.outcome).toBe("sent");
    expect(slack.asked).toMatchObject([{ method: "chat.update", args: { channel: "C1", ts: "1700000009.000200" } }]);
  });

  it("Q5 a private note goes to one person", async () => {
    slack.answers(json({ ok: true, message_ts: "1700000002.000100" }));
    expect(await sender().send(outgoing({ message: notice }))).toEqual({
      outcome: "sent",
      ref: "C1:1700000002.000100",
    });
    expect(slack.asked).toMatchObject([{ method: "chat.postEphemeral", args: { user: "U2", channel: "C1" } }]);
  });

  it("G6 lone surrogates and NUL are posted at once", async () => {
    slack.answers(ok);
    expect((await sender().send(outgoing({ message: text("a\ud83d b\u0000c") }))).outcome).toBe("sent");
    expect(slack.asked[0]?.args["text"]).toBe("a\ufffd b\u0000c");
  });

  it("no message text and no token reaches the log", async () => {
    const log = recordingLog();
    const noisy = createSlackSender({ botToken: "xoxb-secret", apiUrl: slack.url, log });
    slack.answers(
      json({
        ok: false,
        error: "invalid_blocks",
        response_metadata: { messages: ["[ERROR] no [json-pointer:/blocks/0]"] },
      }),
    );
    await noisy.send(outgoing({ message: text("the customer's words") }));
    expect(log.lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(log.lines)).not.toMatch(/xoxb-secret|customer/);
  });
});

describe("an answer that is no", () => {
  const refused = (error: string) => json({ ok: false, error });

  it("G5 a 429 is a retry after what Slack says, and nobody asks again before, in this method and channel", async () => {
    const one = sender();
    slack.answers(json({ ok: false, error: "ratelimited" }, 429, { "retry-after": "7" }));
    expect(await one.send(outgoing())).toEqual({ outcome: "retry", code: "ratelimited", afterMs: 7_000 });
    const again = await one.send(outgoing({ conversation: at("C1:1700000000.000200") }));
    expect(again).toMatchObject({ outcome: "retry", code: "ratelimited" });
    expect(again).toHaveProperty(
      "afterMs",
      expect.toSatisfy((ms: number) => ms > 0 && ms <= 7_000),
    );
    expect(slack.asked).toHaveLength(1);
    slack.answers(ok);
    expect((await one.send(outgoing({ message: notice }))).outcome).toBe("sent");
  });

  it("G5 a 429 pauses no other channel", async () => {
    const one = sender();
    slack.answers((response, asked, request) => {
      const limited = asked.args["channel"] === "C1";
      (limited ? json({ ok: false }, 429, { "retry-after": "3600" }) : ok)(response, asked, request);
    });
    const [limited, other] = await Promise.all([
      one.send(outgoing()),
      one.send(outgoing({ conversation: at("C2:1.1") })),
    ]);
    expect([limited.outcome, other.outcome]).toEqual(["retry", "sent"]);
    expect((await one.send(outgoing({ conversation: at("C2:1.1") }))).outcome).toBe("sent");
  });

  it.each([
    ["a 429 without Retry-After", json({}, 429)],
    ["ratelimited under 200", json({ ok: false, error: "ratelimited" })],
  ])("G5 %s is a retry too", async (_what, answer) => {
    slack.answers(answer);
    expect(await sender().send(outgoing())).toMatchObject({ outcome: "retry", code: "ratelimited", afterMs: 10_000 });
  });

  it("G5 ratelimited under 200 honours its Retry-After", async () => {
    slack.answers(json({ ok: false, error: "ratelimited" }, 200, { "retry-after": "3" }));
    expect(await sender().send(outgoing())).toMatchObject({ outcome: "retry", afterMs: 3_000 });
  });

  it.each(["channel_not_found", "is_archived", "invalid_blocks", "msg_too_long", "no_text", "never_heard_of_it"])(
    "%s is final",
    async (error) => {
      slack.answers(refused(error));
      expect(await sender().send(outgoing())).toEqual({ outcome: "dead", code: error });
    },
  );

  it.each(["invalid_auth", "token_revoked", "missing_scope", "not_in_channel"])(
    "%s waits for an operator",
    async (error) => {
      slack.answers(refused(error));
      expect(await sender().send(outgoing())).toEqual({ outcome: "retry", code: error, afterMs: 60_000 });
    },
  );

  it("G5 Slack's own failure may have posted", async () => {
    slack.answers(refused("internal_error"));
    expect((await sender().send(outgoing())).outcome).toBe("unknown");
  });

  it("a proxy's 403 posted nothing", async () => {
    slack.answers(json({}, 403));
    expect(await sender().send(outgoing())).toEqual({ outcome: "retry", code: "http_403" });
  });
});

describe("no answer", () => {
  it("G5 a socket reset after Slack took the post is one request, and unknown", async () => {
    slack.answers((_response, _asked, request) => request.socket.resetAndDestroy());
    expect((await sender().send(outgoing())).outcome).toBe("unknown");
    expect(slack.asked).toHaveLength(1);
  });

  it.each([
    ["a 503", json({}, 503)],
    ["a page instead of JSON", (r) => r.end("<html>gateway</html>")],
    [
      "a body that breaks off",
      (r, _asked, request) => r.writeHead(200, { "content-length": "99" }).write("{", () => request.socket.destroy()),
    ],
    ["ok without a ts", json({ ok: true })],
  ] satisfies [string, Parameters<typeof slack.answers>[0]][])("G5 %s is unknown", async (_what, answer) => {
    slack.answers(answer);
    expect((await sender().send(outgoing())).outcome).toBe("unknown");
    expect(slack.asked).toHaveLength(1);
  });

  it("G5 silence is unknown after the timeout", async () => {
    slack.answers(() => {});
    expect((await sender({ timeoutMs: 100 }).send(outgoing())).outcome).toBe("unknown");
    expect(slack.asked).toHaveLength(1);
  });

  it("G5 an edit without an answer is simply done again", async () => {
    slack.answers((_response, _asked, request) => request.socket.resetAndDestroy());
    expect((await sender().send(outgoing({ editRef: "C1:1.1" }))).outcome).toBe("retry");
  });

  it("G5 a private note without an answer is not repeated", async () => {
    slack.answers((_response, _asked, request) => request.socket.resetAndDestroy());
    expect(await sender().send(outgoing({ message: notice }))).toEqual({ outcome: "dead", code: "notice_unconfirmed" });
  });

  it("G5 where nothing listens, nothing was posted", async () => {
    const gone = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => gone.once("listening", resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const result = await createSlackSender({
      botToken: "xoxb-1",
      apiUrl: `http://127.0.0.1:${port}/api/`,
      log: silentLog,
    }).send(outgoing());
    expect(result).toEqual({ outcome: "retry", code: "ECONNREFUSED" });
  });
});

describe("looking for a post", () => {
  const posted = (ts: string, id: string, eventType = "countersign_delivery") => ({
    ts,
    text: "…",
    metadata: { event_type: eventType, event_payload: { delivery_id: id } },
  });
  const clock = { now: () => Date.parse("2026-01-10T00:00:00Z") };
  const finder = () => createSlackSender({ botToken: "xoxb-1", apiUrl: slack.url, log: silentLog, clock });

  it("G5 reads the thread with all metadata, no further back than a week", async () => {
    slack.answers(json({ ok: true, messages: [{ ts: "1.1" }, posted("2.2", "other"), posted("3.3", deliveryId)] }));
    expect(await finder().find(outgoing())).toEqual({ found: true, ref: "C1:3.3" });
    expect(slack.asked).toMatchObject([
      {
        method: "conversations.replies",
        args: { channel: "C1", ts: "1700000000.000100", include_all_metadata: "true", oldest: "1767398400.000000" },
      },
    ]);
  });

  it("G5 reads the history of an unthreaded DM", async () => {
    slack.answers(json({ ok: true, messages: [posted("3.3", deliveryId, "somebody_elses")] }));
    expect(await finder().find(outgoing({ conversation: at("D1") }))).toEqual({ found: false });
    expect(slack.asked[0]?.method).toBe("conversations.history");
  });

  it("G5 follows the pages, and not for ever", async () => {
    slack.answers((response, asked, request) => {
      const last = asked.args["cursor"] === "p2";
      const messages = last ? [posted("3.3", deliveryId)] : [];
      json({ ok: true, messages, response_metadata: { next_cursor: last ? "" : "p2" } })(response, asked, request);
    });
    expect(await finder().find(outgoing())).toEqual({ found: true, ref: "C1:3.3" });
    slack.answers(json({ ok: true, messages: [], response_metadata: { next_cursor: "again" } }));
    expect(await finder().find(outgoing())).toEqual({ found: "unknown" });
    expect(slack.asked.length).toBeLessThanOrEqual(20);
  });

  it.each([
    ["a refusal", json({ ok: false, error: "missing_scope" }), "unknown"],
    ["a 429", json({}, 429, { "retry-after": "1" }), "unknown"],
    ["no such channel", json({ ok: false, error: "channel_not_found" }), false],
  ] as const)("G5 %s", async (_what, answer, found) => {
    slack.answers(answer);
    expect(await finder().find(outgoing())).toEqual({ found });
  });

  it("G5 an edit is not looked for, and a private note cannot be", async () => {
    slack.answers(ok);
    expect(await finder().find(outgoing({ editRef: "C1:1.1" }))).toEqual({ found: false });
    expect(await finder().find(outgoing({ message: notice }))).toEqual({ found: "never" });
    expect(slack.asked).toEqual([]);
  });
});

describe("the status line", () => {
  it("is set on the thread", async () => {
    slack.answers(ok);
    await sender().status(thread, "is thinking");
    expect(slack.asked).toEqual([
      {
        method: "assistant.threads.setStatus",
        args: { channel_id: "C1", thread_ts: "1700000000.000100", status: "is thinking" },
      },
    ]);
  });

  it("is asked for once where Slack does not take it, and never throws", async () => {
    const one = sender();
    slack.answers(json({ ok: false, error: "unknown_method" }));
    await one.status(thread, "is thinking");
    await one.status(thread, "is thinking");
    expect(slack.asked).toHaveLength(1);
  });

  it("is asked for again after a passing failure", async () => {
    const one = sender();
    slack.answers(json({}, 503));
    await one.status(thread, "is thinking");
    await one.status(at("D1"), "is thinking");
    await one.status(thread, "");
    expect(slack.asked).toHaveLength(2);
  });
});
