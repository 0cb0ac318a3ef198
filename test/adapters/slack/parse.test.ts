import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SlackSelf } from "../../../src/adapters/slack/inbound.ts";
import { parseSlack } from "../../../src/adapters/slack/parse.ts";
import type { InboundClick, InboundEvent, InboundMessage } from "../../../src/core/domain/message.ts";
import appMention from "../../fixtures/slack/appMention.json" with { type: "json" };
import blockActions from "../../fixtures/slack/blockActions.json" with { type: "json" };
import connectMention from "../../fixtures/slack/connectMention.json" with { type: "json" };
import directMessage from "../../fixtures/slack/directMessage.json" with { type: "json" };
import editedMention from "../../fixtures/slack/editedMention.json" with { type: "json" };
import fileShare from "../../fixtures/slack/fileShare.json" with { type: "json" };
import messageChanged from "../../fixtures/slack/messageChanged.json" with { type: "json" };
import messageOfMention from "../../fixtures/slack/messageOfMention.json" with { type: "json" };
import otherBot from "../../fixtures/slack/otherBot.json" with { type: "json" };
import ownPost from "../../fixtures/slack/ownPost.json" with { type: "json" };
import slackNotice from "../../fixtures/slack/slackNotice.json" with { type: "json" };
import threadedDirectMessage from "../../fixtures/slack/threadedDirectMessage.json" with { type: "json" };
import threadReply from "../../fixtures/slack/threadReply.json" with { type: "json" };

const self: SlackSelf = { connectionId: "slack:T1", teamId: "T1", botUserId: "UBOT", botId: "B1" };

const one = (payload: unknown): InboundEvent => {
  const events = parseSlack(payload, self);
  expect(events).toHaveLength(1);
  return events[0] ?? { kind: "ignored", reason: "nothing came out" };
};

function message(payload: unknown): InboundMessage {
  const event = one(payload);
  if (event.kind !== "message") throw new Error(`not a message: ${JSON.stringify(event)}`);
  return event;
}

function click(payload: unknown): InboundClick {
  const event = one(payload);
  if (event.kind !== "click") throw new Error(`not a click: ${JSON.stringify(event)}`);
  return event;
}

const withEvent = <E extends { event: object }>(envelope: E, changes: object) => ({
  ...envelope,
  event: { ...envelope.event, ...changes },
});

const conversation = (conversationId: string) => ({
  provider: "slack",
  connectionId: "slack:T1",
  workspaceId: "T1",
  conversationId,
});

describe("which post does what", () => {
  it("G4 a mention outside a thread opens one at itself", () => {
    expect(message(appMention)).toEqual({
      kind: "message",
      conversation: conversation("C1:1767406613.568609"),
      dedupe: ["slack:post:T1:C1:1767406613.568609", "slack:event:Ev01"],
      person: { provider: "slack", workspaceId: "T1", userId: "U1" },
      text: "where is order <42> & who has it?",
      ref: "C1:1767406613.568609",
      address: "mention",
      forSomebodyElse: false,
    });
  });

  it("G3 app_mention and message of one post read the same but for the event's id", () => {
    const { dedupe: first, ...mention } = message(appMention);
    const { dedupe: second, ...posted } = message(messageOfMention);
    expect(posted).toEqual(mention);
    expect(second[0]).toBe(first[0]);
    expect(second[1]).not.toBe(first[1]);
  });

  it("G3 the same ts in another channel or team is another post", () => {
    const key = (changes: object, team = "T1") =>
      message({ ...withEvent(appMention, changes), team_id: team }).dedupe[0];
    expect(new Set([key({}), key({ channel: "C2" }), key({}, "T2")]).size).toBe(3);
  });

  it("G3 a ts keeps every digit", () => {
    expect(message(withEvent(appMention, { ts: "1767406613.568600" })).ref).toBe("C1:1767406613.568600");
  });

  it("G4 a mention in a thread belongs to the thread", () => {
    const inThread = message(withEvent(appMention, { thread_ts: "1767400000.000100" }));
    expect(inThread).toMatchObject({ conversation: conversation("C1:1767400000.000100"), address: "mention" });
  });

  it("G4 a thread reply without a mention is a follow-up", () => {
    expect(message(threadReply)).toMatchObject({
      conversation: conversation("C1:1767406613.568609"),
      address: "follow-up",
      forSomebodyElse: false,
      text: "and the invoice?",
    });
  });

  it.each(["<@U2> can you look?", "<!subteam^S1|@ops> please", " <@U2|bob> hi"])(
    "G4 a reply that begins with %s is for somebody else",
    (text) => {
      expect(message(withEvent(threadReply, { text })).forSomebodyElse).toBe(true);
    },
  );

  it.each(["<@UBOT> and <@U2>", "ask <@U2>", "hello"])("G4 a reply that begins with %s is not", (text) => {
    expect(message(withEvent(threadReply, { text })).forSomebodyElse).toBe(false);
  });

  it("G4 a channel post that is neither in a thread nor a mention is ignored", () => {
    expect(one(withEvent(messageOfMention, { text: "just talking" }))).toMatchObject({ kind: "ignored" });
  });

  it("G4 a direct message without a thread belongs to the DM", () => {
    expect(message(directMessage)).toMatchObject({ conversation: conversation("D1"), address: "direct" });
    expect(message(directMessage)).not.toHaveProperty("parent");
    expect(message(directMessage)).not.toHaveProperty("startsOver");
  });

  it("G3 a mention in a DM reads the same, although app_mention tells no channel type", () => {
    const text = "<@UBOT> hello there";
    const { dedupe: _a, ...posted } = message(withEvent(directMessage, { text }));
    const { dedupe: _b, ...mention } = message(
      withEvent(directMessage, { text, type: "app_mention", channel_type: undefined }),
    );
    expect(mention).toEqual(posted);
  });

  it.each(["new", " New ", "<@UBOT> new"])("G4 %j in a DM starts over", (text) => {
    expect(message(withEvent(directMessage, { text })).startsOver).toBe(true);
  });

  it.each(["new order", "renew", "anew"])("G4 %j in a DM does not", (text) => {
    expect(message(withEvent(directMessage, { text }))).not.toHaveProperty("startsOver");
  });

  it("G4 a threaded direct message names the DM it may belong to", () => {
    expect(message(threadedDirectMessage)).toMatchObject({
      conversation: conversation("D1:1767406800.000200"),
      address: "direct",
      parent: { conversation: conversation("D1"), rootRef: "D1:1767406800.000200" },
    });
    expect(message(withEvent(threadedDirectMessage, { text: "new" }))).not.toHaveProperty("startsOver");
  });

  it.each(["file_share", "thread_broadcast", "me_message"])("G4 subtype %s is somebody talking", (subtype) => {
    expect(message(withEvent(fileShare, { subtype }))).toMatchObject({ address: "mention", text: "see the file" });
  });

  it.each([
    ["an edit of our own post", messageChanged],
    ["another bot's post", otherBot],
    ["our own post", ownPost],
    ["our own app's post without a bot id", withEvent(appMention, { app_id: "A1" })],
    ["Slack's own notice", slackNotice],
    ["an edit that adds a mention", editedMention],
    ["a hidden message", withEvent(messageOfMention, { hidden: true })],
    ["a channel_join", withEvent(messageOfMention, { subtype: "channel_join" })],
    ["a message_replied", withEvent(messageOfMention, { subtype: "message_replied" })],
    ["a message without an author", withEvent(messageOfMention, { user: undefined })],
    ["a reaction", withEvent(messageOfMention, { type: "reaction_added" })],
    ["a view", { type: "view_submission" }],
  ])("G4 %s is ignored, and says why", (_what, payload) => {
    expect(one(payload)).toEqual({ kind: "ignored", reason: expect.stringMatching(/\w/) });
  });
});

describe("what a post says", () => {
  it.each([
    ["<@UBOT> <@UBOT|bot>, hi", "hi"],
    ["<@UBOT>: hi", "hi"],
    ["<@UBOT>", ""],
    ["tell <@UBOT> and <@U2>", "tell <@UBOT> and <@U2>"],
    ["<@UBOT> &amp;lt; &lt;b&gt;", "&lt; <b>"],
    ["<@UBOT> a\u0000b\ud83d", "a\ufffdb\ufffd"],
  ])("G6 %j is read as %j", (text, read) => {
    expect(message(withEvent(appMention, { text })).text).toBe(read);
  });

  it("A7 the author's own team is theirs, also in a shared channel", () => {
    expect(message(connectMention)).toMatchObject({
      conversation: { workspaceId: "T1" },
      person: { workspaceId: "T7", userId: "U7" },
    });
  });
});

describe("a click", () => {
  it("A6 carries exactly the decision of its button, and who pressed it", () => {
    expect(click(blockActions)).toEqual({
      kind: "click",
      conversation: conversation("C1:1767406613.568609"),
      dedupe: [
        "slack:click:U1:1767406620.000300:1767406630.123456:cs:d:dec_0198a0b0c0d0e0f001:0123456789abcdef:approve",
      ],
      person: { provider: "slack", workspaceId: "T1", userId: "U1", name: "ada" },
      button: { for: "decision", decisionId: "dec_0198a0b0c0d0e0f001", card: "0123456789abcdef", verb: "approve" },
    });
  });

  it("G3 a second press is another click, a second delivery is not", () => {
    const again = { ...blockActions, actions: [{ ...blockActions.actions[0], action_ts: "1767406631.000000" }] };
    expect(click(blockActions).dedupe).toEqual(click(structuredClone(blockActions)).dedupe);
    expect(click(again).dedupe).not.toEqual(click(blockActions).dedupe);
  });

  it("G6 NUL in what names a delivery stops neither a post nor a click", () => {
    const pressed = { ...blockActions, actions: [{ ...blockActions.actions[0], action_ts: "1.\u00005" }] };
    expect(click(pressed).dedupe.join()).not.toContain("\u0000");
    const posted = parseSlack({ ...appMention, event_id: "Ev\u0000" }, self)[0];
    expect(posted).toMatchObject({ kind: "message", dedupe: [expect.stringMatching(/^slack:post:/)] });
  });

  it("one interaction is at most as many clicks as a block has buttons", () => {
    const actions = Array.from({ length: 2_000 }, () => blockActions.actions[0]);
    expect(parseSlack({ ...blockActions, actions }, self)).toHaveLength(25);
  });

  it("A7 the clicker's team is never guessed from the card's", () => {
    expect(one({ ...blockActions, user: { id: "U9" } })).toMatchObject({ kind: "ignored" });
    const external = { ...blockActions, user: { id: "U7", team_id: "T7" }, team: { id: "T7" } };
    expect(click(external)).toMatchObject({ conversation: { workspaceId: "T1" }, person: { workspaceId: "T7" } });
  });

  it("works without a team, as an organisation's app sees it", () => {
    expect(click({ ...blockActions, team: null }).conversation.workspaceId).toBe("T1");
  });

  it("G4 in an unthreaded DM belongs to the DM, also after somebody replied under the card", () => {
    const inDm = (thread: object) => ({
      ...blockActions,
      container: { type: "message", message_ts: "1767406620.000300", channel_id: "D1", ...thread },
      message: { ts: "1767406620.000300", team: "T1" },
    });
    expect(click(inDm({})).conversation.conversationId).toBe("D1");
    expect(click(inDm({ thread_ts: "1767406620.000300" })).conversation.conversationId).toBe("D1");
    expect(click(inDm({ thread_ts: "1767406600.000100" })).conversation.conversationId).toBe("D1:1767406600.000100");
  });

  it("A6 every action counts by its own value; foreign values are ignored", () => {
    const actions = [
      { value: "cs:q:qst_1:0", action_ts: "1.1" },
      { value: "somebody-elses", action_ts: "1.1" },
      { action_ts: "1.1" },
    ];
    expect(parseSlack({ ...blockActions, actions }, self).map(({ kind }) => kind)).toEqual([
      "click",
      "ignored",
      "ignored",
    ]);
  });
});

describe("whatever Slack or a stranger sends", () => {
  it("G6 parse is total", () => {
    const fixtures = [appMention, threadReply, directMessage, blockActions, messageChanged];
    const junk = fc.jsonValue({ maxDepth: 4 });
    const bent = fc
      .tuple(
        fc.constantFrom(...fixtures),
        fc.constantFrom("event", "user", "team", "container", "message", "actions", "event_id"),
        junk,
      )
      .map(([payload, key, value]) => ({ ...payload, [key]: value }));
    const bentEvent = fc
      .tuple(
        fc.constantFrom("ts", "text", "channel", "user", "thread_ts", "subtype", "bot_id", "edited", "type", "team"),
        junk,
      )
      .map(([key, value]) => withEvent(threadReply, { [key]: value }));
    fc.assert(
      fc.property(fc.oneof(junk, bent, bentEvent), (payload) => {
        const events = parseSlack(payload, self);
        expect(events.length).toBeGreaterThan(0);
        for (const event of events) expect(["message", "click", "ignored"]).toContain(event.kind);
      }),
      { numRuns: 1000 },
    );
  });
});
