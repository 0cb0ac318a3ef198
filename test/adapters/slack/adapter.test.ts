import fastify from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSlackAdapter } from "../../../src/adapters/slack/index.ts";
import appMention from "../../fixtures/slack/appMention.json" with { type: "json" };
import { silentLog } from "../../helpers/log.ts";
import { createFakeSlack, json } from "./fakeSlack.ts";

let slack: Awaited<ReturnType<typeof createFakeSlack>>;
beforeAll(async () => {
  slack = await createFakeSlack();
});
afterAll(async () => {
  await slack.close();
});

const create = (apiUrl = slack.url) =>
  createSlackAdapter(
    { botToken: "xoxb-1", signingSecrets: ["s"], apiUrl },
    { onInbound: async () => {}, log: silentLog },
  );

describe("the Slack adapter at start", () => {
  it("asks Slack who it is, once, and Bolt asks nothing", async () => {
    slack.answers(json({ ok: true, team_id: "T1", user_id: "UBOT", bot_id: "B1" }));
    const adapter = await create();
    expect(slack.asked.map(({ method }) => method)).toEqual(["auth.test"]);
    expect(adapter).toMatchObject({
      connectionId: "slack:T1",
      self: { connectionId: "slack:T1", teamId: "T1", botUserId: "UBOT", botId: "B1" },
      sender: { provider: "slack" },
    });
    expect(adapter.parse(appMention)).toMatchObject([{ kind: "message", address: "mention" }]);
    const server = fastify();
    server.register(adapter.plugin);
    expect((await server.inject({ method: "POST", url: "/slack/events", payload: {} })).statusCode).toBe(401);
    await server.close();
  });

  it.each([
    ["a refused token", json({ ok: false, error: "invalid_auth" }), /refused SLACK_BOT_TOKEN \(invalid_auth\)/],
    ["a user's token", json({ ok: true, team_id: "T1", user_id: "U1" }), /xoxb-/],
    ["a limit", json({}, 429, { "retry-after": "9" }), /in a minute/],
    ["a failure", json({}, 500), /cannot be reached at http:\/\/127/],
  ] as const)("says what to do about %s", async (_what, answer, sentence) => {
    slack.answers(answer);
    await expect(create()).rejects.toMatchObject({ code: "config_invalid", message: expect.stringMatching(sentence) });
  });
});
