import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { button, createSetting, type Setting, section } from "./setting.ts";

let setting: Setting;

beforeEach(async () => {
  setting = await createSetting();
});
afterEach(() => setting.close());

const card = (value = "v1") => [
  section("Approve?"),
  {
    type: "actions",
    block_id: "decision",
    elements: [button("Approve", { action_id: "approve", value }), button("Reject", { action_id: "reject", value })],
  },
];

describe("what people write", () => {
  test("G3 a mention in a channel arrives as app_mention and as message, one post with two event ids", async () => {
    const { sim, app } = setting;
    const { ts } = await sim.people.ada.mention(sim.general, "where is order 7?");
    const [mention, message] = app.received.map(({ payload }) => payload);
    expect(app.received.every(({ signed }) => signed)).toBe(true);
    expect(app.received).toHaveLength(2);
    expect(mention).toMatchObject({
      type: "event_callback",
      team_id: sim.team.id,
      api_app_id: sim.team.appId,
      is_ext_shared_channel: false,
      authorizations: [{ team_id: sim.team.id, user_id: sim.team.botUserId, is_bot: true }],
      event: {
        type: "app_mention",
        user: sim.people.ada.id,
        text: `<@${sim.team.botUserId}> where is order 7?`,
        channel: sim.general,
        ts,
        event_ts: ts,
      },
    });
    expect(mention.event).not.toHaveProperty("channel_type");
    expect(mention.event).not.toHaveProperty("thread_ts");
    expect(message.event).toMatchObject({ type: "message", channel_type: "channel", ts, team: sim.team.id });
    expect(message.event.client_msg_id).toBe(mention.event.client_msg_id);
    expect(mention.event_id).toMatch(/^Ev[A-Z0-9]{9,}$/);
    expect(message.event_id).not.toBe(mention.event_id);
  });

  test.each([
    ["mention-first", ["app_mention", "message"]],
    ["message-first", ["message", "app_mention"]],
    ["mention-only", ["app_mention"]],
    ["message-only", ["message"]],
  ] as const)("G3 the two events of a mention come %s", async (order, types) => {
    await setting.sim.people.ada.mention(setting.sim.general, "hello", { order });
    expect(setting.app.events().map(({ type }) => type)).toEqual(types);
  });

  test("G3 the two events of a mention may be on their way together", async () => {
    await setting.sim.people.ada.mention(setting.sim.general, "hello", { order: "together" });
    expect(
      setting.app
        .events()
        .map(({ type }) => type)
        .sort(),
    ).toEqual(["app_mention", "message"]);
  });

  test("G3 two channels may hold the same ts, one channel may not", async () => {
    const { sim } = setting;
    const ts = "1767406613.568609";
    const other = sim.addChannel("other").id;
    await sim.people.ada.mention(sim.general, "here", { ts });
    await sim.people.ada.mention(other, "there", { ts });
    expect(sim.message({ channel: other, ts })?.text).toContain("there");
    await expect(sim.people.ada.say(other, "again", { ts })).rejects.toThrow("already has a message");
  });

  test("G4 a reply carries its root and the root's author, whichever message of the thread it answers", async () => {
    const { sim, app } = setting;
    const root = await sim.people.ada.say(sim.general, "root");
    const reply = await sim.people.bo.reply(root, "first");
    await sim.people.ada.reply(reply, "second");
    const [first, second] = app.events().slice(1);
    expect(first).toMatchObject({ type: "message", thread_ts: root.ts, parent_user_id: sim.people.ada.id });
    expect(second).toMatchObject({ thread_ts: root.ts, text: "second" });
    expect(sim.thread(sim.general, root.ts).map(({ text }) => text)).toEqual(["root", "first", "second"]);
  });

  test("G4 a direct message is one event of channel_type im, mention or not", async () => {
    const { sim, app } = setting;
    await sim.people.bo.dm("@countersign hello");
    expect(app.events()).toMatchObject([
      { type: "message", channel_type: "im", channel: sim.people.bo.dmChannel, user: sim.people.bo.id },
    ]);
  });

  test("typed text is escaped, names become mentions, and a rich_text block comes beside it", async () => {
    const { sim, app } = setting;
    const { ada, bo } = sim.people;
    await ada.say(sim.general, "@Bo is 1 < 2 && <script>? ask @countersign");
    const text = `<@${bo.id}> is 1 &lt; 2 &amp;&amp; &lt;script&gt;? ask <@${sim.team.botUserId}>`;
    const [mention] = app.events();
    expect(mention).toMatchObject({ type: "app_mention", text });
    expect(mention.blocks[0].elements[0].elements).toEqual([
      { type: "user", user_id: bo.id },
      { type: "text", text: " is 1 < 2 && <script>? ask " },
      { type: "user", user_id: sim.team.botUserId },
    ]);
  });

  test("G6 NUL and lone surrogates reach the app as they were typed", async () => {
    const { sim, app } = setting;
    await sim.people.ada.mention(sim.general, "a\u0000b \ud83d", { order: "mention-only" });
    expect(app.events()[0].text).toBe(`<@${sim.team.botUserId}> a\u0000b \ud83d`);
    expect(app.received[0]?.signed).toBe(true);
  });

  test("an edit is message_changed, with app_mention and `edited` when it mentions the app", async () => {
    const { sim, app } = setting;
    const post = await sim.people.ada.mention(sim.general, "helo", { order: "mention-only" });
    await sim.people.ada.edit(post, "@countersign hello");
    const [changed, mention] = app.events().slice(1);
    expect(changed).toMatchObject({
      subtype: "message_changed",
      hidden: true,
      message: { ts: post.ts, edited: { user: sim.people.ada.id } },
      previous_message: { text: `<@${sim.team.botUserId}> helo` },
    });
    expect(mention).toMatchObject({ type: "app_mention", ts: post.ts, edited: { user: sim.people.ada.id } });
  });

  test("a deletion is message_deleted, and people cannot touch each other's messages", async () => {
    const { sim, app } = setting;
    const post = await sim.people.ada.say(sim.general, "oops");
    await expect(sim.people.bo.remove(post)).rejects.toThrow("Bo did not write");
    await sim.people.ada.remove(post);
    expect(app.events().at(-1)).toMatchObject({ subtype: "message_deleted", hidden: true, deleted_ts: post.ts });
    expect(sim.message(post)).toBeUndefined();
  });

  test("A7 somebody of another workspace says so in the event", async () => {
    const { sim, app } = setting;
    const guest = sim.addPerson({ name: "Guest", team: "T0OTHER001" });
    await guest.mention(sim.general, "hi", { order: "mention-only" });
    expect(app.received[0]?.payload).toMatchObject({
      team_id: sim.team.id,
      is_ext_shared_channel: true,
      event: { team: "T0OTHER001" },
    });
  });

  test("another app's bot writes with its bot_id", async () => {
    const { sim, app } = setting;
    await sim.addPerson({ name: "Deploys", botId: "B0DEPLOYS1" }).say(sim.general, "deployed");
    expect(app.events()).toMatchObject([{ type: "message", bot_id: "B0DEPLOYS1" }]);
  });
});

describe("what the app writes", () => {
  test("its own posts, changes and deletions come back to it as events", async () => {
    await setting.close();
    setting = await createSetting({ echoOwnMessages: true });
    const { sim, app, web } = setting;
    const { ts = "" } = await web.chat.postMessage({ channel: sim.general, text: "hello" });
    await web.chat.update({ channel: sim.general, ts, text: "hello again" });
    await web.chat.delete({ channel: sim.general, ts });
    await sim.waitFor(() => sim.deliveries.filter(({ attempts }) => attempts.length > 0).length === 3);
    // Slack promises no order between them.
    const [changed, deleted, posted] = app.events().sort((a, b) => String(a.subtype).localeCompare(String(b.subtype)));
    expect(changed).toMatchObject({ subtype: "message_changed", message: { text: "hello again" } });
    expect(deleted).toMatchObject({ subtype: "message_deleted", deleted_ts: ts });
    expect(posted).toMatchObject({ user: sim.team.botUserId, bot_id: sim.team.botId, app_id: sim.team.appId, ts });
  });
});

describe("clicks", () => {
  test("a click sends the button as the message has it now, as a signed form", async () => {
    const { sim, app, web } = setting;
    const { ts = "" } = await web.chat.postMessage({ channel: sim.general, text: "Approve?", blocks: card() });
    await sim.people.bo.click({ channel: sim.general, ts }, { buttonText: "Approve" });
    const [click] = app.received;
    expect(click?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect(click?.signed).toBe(true);
    expect(click?.payload).toMatchObject({
      type: "block_actions",
      api_app_id: sim.team.appId,
      team: { id: sim.team.id },
      user: { id: sim.people.bo.id, team_id: sim.team.id },
      container: { type: "message", message_ts: ts, channel_id: sim.general, is_ephemeral: false },
      channel: { id: sim.general },
      message: { ts, text: "Approve?" },
      actions: [{ type: "button", action_id: "approve", block_id: "decision", value: "v1", text: { text: "Approve" } }],
    });
    expect(click?.payload).not.toHaveProperty("event_id");
  });

  test("A6 a button that is gone cannot be clicked, but a stale screen can send it still", async () => {
    const { sim, app, web } = setting;
    const { ts = "" } = await web.chat.postMessage({ channel: sim.general, text: "Approve?", blocks: card("old") });
    const message = { channel: sim.general, ts };
    const [approve] = sim.buttons(message);
    if (!approve) throw new Error("the card has no button");
    await web.chat.update({ ...message, text: "Approved" });
    await expect(sim.people.ada.click(message, { actionId: "approve" })).rejects.toThrow("it has none");
    await sim.people.ada.rawClick(message, approve);
    expect(app.received[0]?.payload).toMatchObject({ actions: [{ value: "old" }], message: { text: "Approved" } });
  });

  test("a response_url takes five answers, then no more", async () => {
    const { sim, app, web } = setting;
    const { ts = "" } = await web.chat.postMessage({ channel: sim.general, text: "Approve?", blocks: card() });
    await sim.people.bo.click({ channel: sim.general, ts }, { buttonText: "Reject" });
    const url: string = app.received[0]?.payload.response_url;
    const respond = (body: object) =>
      fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    expect((await respond({ text: "not yours", response_type: "ephemeral" })).status).toBe(200);
    expect(sim.ephemerals).toMatchObject([{ user: sim.people.bo.id, text: "not yours" }]);
    await respond({ text: "Rejected", replace_original: true });
    expect(sim.message({ channel: sim.general, ts })).toMatchObject({ text: "Rejected", blocks: [] });
    expect((await respond({ markdown_text: "no" })).status).toBe(400);
    await respond({ text: "4" });
    await respond({ text: "5" });
    expect((await respond({ text: "6" })).status).toBe(404);
  });

  test("a click's trigger opens one modal for the one who clicked; its submit comes back and closes it", async () => {
    const { sim, app, web } = setting;
    const { ts = "" } = await web.chat.postMessage({ channel: sim.general, text: "Approve?", blocks: card() });
    await sim.people.bo.click({ channel: sim.general, ts }, { buttonText: "Reject" });
    const view = {
      type: "modal" as const,
      callback_id: "reject",
      private_metadata: "d1",
      title: { type: "plain_text" as const, text: "Reject" },
      submit: { type: "plain_text" as const, text: "Reject" },
      blocks: [
        {
          type: "input" as const,
          block_id: "why",
          label: { type: "plain_text" as const, text: "Why?" },
          element: { type: "plain_text_input" as const, action_id: "text" },
        },
      ],
    };
    const trigger_id: string = app.received[0]?.payload.trigger_id;
    await web.views.open({ trigger_id, view });
    await expect(web.views.open({ trigger_id, view })).rejects.toThrow("exchanged_trigger_id");
    const [open] = sim.views;
    if (!open) throw new Error("no modal is open");
    await expect(sim.people.ada.submitView(open)).rejects.toThrow("not open for Ada");

    app.answerNext({ status: 200, body: JSON.stringify({ response_action: "errors", errors: { why: "say more" } }) });
    await sim.people.bo.submitView(open, { why: { text: "no" } });
    expect(sim.views).toHaveLength(1);
    await sim.people.bo.submitView(open, { why: { text: "too expensive" } });
    expect(sim.views).toEqual([]);
    expect(app.received.at(-1)?.payload).toMatchObject({
      type: "view_submission",
      user: { id: sim.people.bo.id },
      view: {
        callback_id: "reject",
        private_metadata: "d1",
        state: { values: { why: { text: { value: "too expensive" } } } },
      },
    });
  });
});
