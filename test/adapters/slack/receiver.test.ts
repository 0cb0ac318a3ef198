import fastify, { type FastifyInstance } from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import type { SlackSelf } from "../../../src/adapters/slack/inbound.ts";
import { createSlackReceiver } from "../../../src/adapters/slack/receiver.ts";
import { slackSignature } from "../../../src/adapters/slack/verify.ts";
import type { InboundEvent } from "../../../src/core/domain/message.ts";
import appMention from "../../fixtures/slack/appMention.json" with { type: "json" };
import blockActions from "../../fixtures/slack/blockActions.json" with { type: "json" };
import messageChanged from "../../fixtures/slack/messageChanged.json" with { type: "json" };
import threadReply from "../../fixtures/slack/threadReply.json" with { type: "json" };
import { recordingLog } from "../../helpers/log.ts";

const self: SlackSelf = { connectionId: "slack:T1", teamId: "T1", botUserId: "UBOT", botId: "B1" };
const now = Date.parse("2026-01-03T02:16:53Z");
const CURRENT = "current-secret";
const PREVIOUS = "previous-secret";

let server: FastifyInstance | undefined;
afterEach(async () => {
  await server?.close();
});

function listen(onInbound: (events: readonly InboundEvent[]) => Promise<void> = async () => {}) {
  const got: (readonly InboundEvent[])[] = [];
  const log = recordingLog();
  const { plugin } = createSlackReceiver({
    signingSecrets: [CURRENT, PREVIOUS],
    self,
    log,
    clock: { now: () => now },
    onInbound: async (events) => {
      got.push(events);
      await onInbound(events);
    },
  });
  const app = fastify();
  server = app;
  app.register(plugin);
  return { got, log, app };
}

interface Post {
  readonly body: string;
  readonly type?: string;
  readonly secret?: string;
  /** Seconds from now of the timestamp that is signed. */
  readonly skew?: number;
  readonly headers?: Record<string, string>;
}

async function post(
  app: FastifyInstance,
  { body, type = "application/json", secret = CURRENT, skew = 0, headers }: Post,
) {
  const timestamp = String(Math.floor(now / 1000) + skew);
  return app.inject({
    method: "POST",
    url: "/slack/events",
    payload: body,
    headers: {
      "content-type": type,
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": slackSignature(secret, timestamp, body),
      ...headers,
    },
  });
}

const mention = JSON.stringify(appMention);
const click = `payload=${encodeURIComponent(JSON.stringify(blockActions))}`;
const FORM = "application/x-www-form-urlencoded";
/** The click with another `response_url`, or with none: nothing here speaks with Slack. */
const clickOver = (url?: string) => {
  const { response_url: _, ...rest } = blockActions;
  return `payload=${encodeURIComponent(JSON.stringify({ ...rest, ...(url && { response_url: url }) }))}`;
};
const noDatabase = async () => {
  throw new Error("no database");
};

describe("signatures", () => {
  it.each([CURRENT, PREVIOUS])("G1 every active secret counts: %s", async (secret) => {
    const { app, got } = listen();
    expect((await post(app, { body: mention, secret })).statusCode).toBe(200);
    expect(got).toHaveLength(1);
  });

  it.each([
    ["300 s old", -300, 200],
    ["301 s old", -301, 401],
    ["300 s ahead", 300, 200],
    ["301 s ahead", 301, 401],
    ["a day ahead, which Bolt would accept", 86_400, 401],
  ])("G1 %s", async (_what, skew, status) => {
    const { app, got } = listen();
    expect((await post(app, { body: mention, skew })).statusCode).toBe(status);
    expect(got).toHaveLength(status === 200 ? 1 : 0);
  });

  it.each([
    ["another secret", { secret: "stolen" }],
    [
      "an altered body",
      { headers: { "x-slack-signature": slackSignature(CURRENT, String(now / 1000), `${mention} `) } },
    ],
    ["no signature", { headers: { "x-slack-signature": "" } }],
    ["a timestamp that is no number", { headers: { "x-slack-request-timestamp": "1e9" } }],
  ])("G1 %s is 401, and nothing is stored", async (_what, changes) => {
    const { app, got } = listen();
    expect((await post(app, { body: mention, ...changes })).statusCode).toBe(401);
    expect(got).toEqual([]);
  });

  it("G1 no headers at all is 401", async () => {
    const { app } = listen();
    expect((await app.inject({ method: "POST", url: "/slack/events" })).statusCode).toBe(401);
  });

  it("G1 the bytes are what is signed, however the JSON is spaced or escaped", async () => {
    const { app, got } = listen();
    const body = JSON.stringify(appMention, null, 3).replace("where", "\\u0077here\\u0000\\ud83d");
    expect((await post(app, { body })).statusCode).toBe(200);
    expect(got).toMatchObject([[{ text: expect.stringContaining("where\ufffd\ufffd") }]]);
  });

  it("G1 a body over 1 MiB is 413, one of 1 MiB is read", async () => {
    const { app, got } = listen();
    const room = 1_048_576 - mention.length;
    expect((await post(app, { body: mention + " ".repeat(room + 1) })).statusCode).toBe(413);
    expect(got).toEqual([]);
    expect((await post(app, { body: mention + " ".repeat(room) })).statusCode).toBe(200);
  });
});

describe("what comes in", () => {
  it("G2 is stored before it is answered", async () => {
    let commit = (): void => {};
    const committed = new Promise<void>((resolve) => {
      commit = resolve;
    });
    let reached = (): void => {};
    const started = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const { app } = listen(async () => {
      reached();
      await committed;
    });
    let answered = false;
    const answer = post(app, { body: mention }).then((response) => {
      answered = true;
      return response;
    });
    await started;
    await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    commit();
    expect((await answer).statusCode).toBe(200);
  });

  it.each([
    ["an event", mention, "application/json"],
    ["a click", clickOver(), FORM],
  ])("G2 %s that could not be stored is 503", async (_what, body, type) => {
    const { app, log } = listen(noDatabase);
    const response = await post(app, { body, type });
    expect(response.statusCode).toBe(503);
    expect(response.json()).toMatchObject({ error: { code: "unavailable" } });
    expect(log.lines.filter(({ level }) => level === "error").length).toBeGreaterThan(0);
    expect(JSON.stringify(log.lines)).not.toContain("where is order");
  });

  it("G2 A6 who clicked in vain is told so, for their eyes alone, over the click's own address", async () => {
    const told: unknown[] = [];
    const slack = fastify();
    slack.post("/actions", async ({ body }) => void told.push(body));
    const url = await slack.listen({ host: "127.0.0.1", port: 0 });
    try {
      const { app } = listen(noDatabase);
      await post(app, { body: clickOver(`${url}/actions`), type: FORM });
      await expect.poll(() => told).toHaveLength(1);
    } finally {
      await slack.close();
    }
    expect(told).toEqual([
      { response_type: "ephemeral", replace_original: false, text: expect.stringMatching(/click again\.$/) },
    ]);
  });

  it("G3 the same event twice arrives twice, with equal keys; a retry seen first is a first", async () => {
    const { app, got } = listen();
    await post(app, { body: mention, headers: { "x-slack-retry-num": "1", "x-slack-retry-reason": "http_timeout" } });
    await post(app, { body: mention });
    const keys = got.flat().map((event) => (event.kind === "message" ? event.dedupe : []));
    expect(keys).toHaveLength(2);
    expect(keys[0]).toEqual(keys[1]);
  });

  it.each([FORM, `${FORM}; charset=utf-8`, `${FORM};charset=UTF-8`, "Application/X-WWW-Form-Urlencoded"])(
    "G1 a click as %s is accepted",
    async (type) => {
      const { app, got } = listen();
      expect((await post(app, { body: click, type })).statusCode).toBe(200);
      expect(got).toMatchObject([[{ kind: "click", button: { verb: "approve" } }]]);
    },
  );

  it("an event as JSON with a charset is accepted", async () => {
    const { app, got } = listen();
    await post(app, { body: JSON.stringify(threadReply), type: "application/json; charset=utf-8" });
    expect(got).toMatchObject([[{ kind: "message", address: "follow-up" }]]);
  });

  it.each([
    ["an edit", messageChanged],
    ["an unknown event", { type: "event_callback", event: { type: "moon_phase" } }],
    ["an unknown payload", { type: "something_new" }],
    ["an event that Bolt cannot read", { type: "event_callback", event: { type: "star_added", item: null } }],
    ["an event that is null", { type: "event_callback", event: null }],
    ["an interaction without a user", { type: "block_actions", actions: [] }],
  ])("G4 %s is 200, and ignored with a reason", async (_what, body) => {
    const { app, got, log } = listen();
    expect((await post(app, { body: JSON.stringify(body) })).statusCode).toBe(200);
    expect(got).toEqual([]);
    expect(log.lines).toContainEqual(expect.objectContaining({ level: "debug", message: "slack event ignored" }));
  });

  it("G2 what Bolt cannot read but we can is stored once", async () => {
    const { app, got } = listen();
    const body = { ...appMention, event: { ...appMention.event, item: null } };
    expect((await post(app, { body: JSON.stringify(body) })).statusCode).toBe(200);
    expect(got).toHaveLength(1);
  });

  it.each(["", "{", "[]", "null", '"text"'])("a signed body %j that is no object is 400", async (body) => {
    const { app, got } = listen();
    expect((await post(app, { body })).statusCode).toBe(400);
    expect(got).toEqual([]);
  });
});

describe("Slack's housekeeping", () => {
  it("url_verification echoes the challenge, once it is signed", async () => {
    const { app } = listen();
    const body = JSON.stringify({ type: "url_verification", challenge: "c-1" });
    expect((await post(app, { body })).json()).toEqual({ challenge: "c-1" });
    expect((await post(app, { body, secret: "stolen" })).statusCode).toBe(401);
  });

  it("ssl_check is answered unsigned, and is nothing", async () => {
    const { app, got } = listen();
    const response = await post(app, { body: "token=x&ssl_check=1", type: FORM, secret: "none" });
    expect(response.statusCode).toBe(200);
    expect(got).toEqual([]);
  });

  it("app_rate_limited, which holds no event, is 200 and logged", async () => {
    const { app, got, log } = listen();
    const body = JSON.stringify({ type: "app_rate_limited", minute_rate_limited: 1518467820, team_id: "T1" });
    expect((await post(app, { body })).statusCode).toBe(200);
    expect(got).toEqual([]);
    expect(log.lines.some(({ level }) => level === "warn")).toBe(true);
  });

  it("keeps its raw-body parsing to itself", async () => {
    const { app } = listen();
    app.post("/elsewhere", async (request) => ({ got: request.body }));
    const response = await app.inject({ method: "POST", url: "/elsewhere", payload: { a: 1 } });
    expect(response.json()).toEqual({ got: { a: 1 } });
  });
});
