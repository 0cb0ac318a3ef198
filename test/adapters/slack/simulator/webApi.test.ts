import type { ConversationsRepliesResponse } from "@slack/web-api";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { button, createSetting, refused, type Setting, section } from "./setting.ts";

let setting: Setting;
let channel: string;

beforeAll(async () => {
  setting = await createSetting();
});
afterAll(() => setting.close());
beforeEach(() => {
  channel = setting.sim.addChannel("room").id;
});

const said = (violationsBefore: number) => setting.sim.violations.slice(violationsBefore);

describe("who calls", () => {
  test("auth.test tells the WebClient who it is", async () => {
    const { team } = setting.sim;
    expect(await setting.web.auth.test()).toMatchObject({
      ok: true,
      team_id: team.id,
      user_id: team.botUserId,
      bot_id: team.botId,
    });
  });

  test.each([
    ["not_authed", undefined],
    ["invalid_auth", "xoxb-somebody-else"],
  ])("a call with the wrong token is %s, and a violation", async (error, token) => {
    const before = setting.sim.violations.length;
    expect(await refused(setting.client(token).auth.test())).toMatchObject({ ok: false, error });
    expect(said(before)).toMatchObject([{ method: "auth.test", error }]);
  });

  test("a token in the body is as good as one in the header", async () => {
    const body = new URLSearchParams({ token: setting.sim.botToken });
    const response = await fetch(`${setting.sim.apiUrl}auth.test`, { method: "POST", body });
    expect(await response.json()).toMatchObject({ ok: true });
  });

  test("an unknown method is unknown_method, and a violation", async () => {
    const before = setting.sim.violations.length;
    expect(await refused(setting.web.apiCall("chat.shout"))).toMatchObject({ error: "unknown_method" });
    expect(said(before)).toMatchObject([{ method: "chat.shout", error: "unknown_method" }]);
  });

  test("people are known by id", async () => {
    const { ada } = setting.sim.people;
    const guest = setting.sim.addPerson({ name: "Guest", team: "T0OTHER001" });
    expect((await setting.web.users.info({ user: ada.id })).user).toMatchObject({ real_name: "Ada", is_bot: false });
    expect((await setting.web.users.info({ user: guest.id })).user).toMatchObject({ team_id: "T0OTHER001" });
    expect(await refused(setting.web.users.info({ user: "U0NOBODY" }))).toMatchObject({ error: "user_not_found" });
  });
});

describe("user groups", () => {
  test("are listed with their handles, their members where asked for, the disabled ones where asked for", async () => {
    const { ada, bo } = setting.sim.people;
    const { roster } = setting.sim;
    const finance = roster.addUsergroup("finance", [ada.id]);
    const old = roster.addUsergroup("old", [bo.id]);
    roster.changeUsergroup(old.id, { disabled: true });
    const { usergroups = [] } = await setting.web.usergroups.list();
    expect(usergroups).toMatchObject([{ id: finance.id, handle: "finance", user_count: 1, date_delete: 0 }]);
    expect(usergroups[0]).not.toHaveProperty("users");
    const all = await setting.web.usergroups.list({ include_disabled: true, include_users: true });
    expect(all.usergroups).toMatchObject([{ users: [ada.id] }, { id: old.id, date_delete: expect.any(Number) }]);
    expect(all.usergroups?.[1]?.date_delete).toBeGreaterThan(0);
    expect((await setting.web.usergroups.users.list({ usergroup: finance.id })).users).toEqual([ada.id]);
    for (const usergroup of [old.id, "S0NONE"]) {
      const answer = await refused(setting.web.usergroups.users.list({ usergroup }));
      expect(answer).toMatchObject({ error: "no_such_subteam" });
    }
  });

  test("and people need their scopes; a call without a group is a violation", async () => {
    const before = setting.sim.violations.length;
    await refused(setting.web.apiCall("usergroups.users.list"));
    expect(said(before)).toMatchObject([{ method: "usergroups.users.list", error: "invalid_arguments" }]);
    const bare = await createSetting({ scopes: ["chat:write"] });
    try {
      for (const [method, needed] of [
        ["users.info", "users:read"],
        ["usergroups.list", "usergroups:read"],
        ["usergroups.users.list", "usergroups:read"],
      ] as const) {
        const answer = await refused(bare.web.apiCall(method, { user: "U1", usergroup: "S1" }));
        expect(answer).toMatchObject({ error: "missing_scope", needed, provided: "chat:write" });
      }
      expect(bare.sim.violations).toEqual([]);
    } finally {
      await bare.close();
    }
  });
});

describe("posting", () => {
  test("a post has a ts of its own, later than every one before, and is kept with its blocks", async () => {
    const posts = await Promise.all(
      Array.from({ length: 20 }, (_, i) => setting.web.chat.postMessage({ channel, text: `number ${i}` })),
    );
    const stamps = posts.map(({ ts }) => String(ts));
    expect(stamps.every((ts) => /^\d{10}\.\d{6}$/.test(ts))).toBe(true);
    expect(new Set(stamps).size).toBe(20);
    expect(setting.sim.messages(channel).map(({ ts }) => ts)).toEqual([...stamps].sort());
    const { message } = await setting.web.chat.postMessage({ channel, text: "t", blocks: [section("hello")] });
    expect(message).toMatchObject({ user: setting.sim.team.botUserId, blocks: [{ type: "section" }] });
  });

  test("metadata is kept and comes back only when it is asked for", async () => {
    const metadata = { event_type: "countersign", event_payload: { delivery: "d-1" } };
    const { ts = "", message } = await setting.web.chat.postMessage({ channel, text: "root", metadata });
    expect(message).not.toHaveProperty("metadata");
    const plain = await setting.web.conversations.replies({ channel, ts });
    expect(plain.messages?.[0]).not.toHaveProperty("metadata");
    const full = await setting.web.conversations.replies({ channel, ts, include_all_metadata: true });
    expect(full.messages?.[0]).toMatchObject({ metadata });
    const history = await setting.web.conversations.history({ channel, include_all_metadata: true });
    expect(history.messages?.[0]).toMatchObject({ metadata });
  });

  test("a JSON body says the same as a form", async () => {
    const response = await fetch(`${setting.sim.apiUrl}chat.postMessage`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${setting.sim.botToken}`,
        "content-type": "application/json; charset=utf-8",
      },
      body: JSON.stringify({ channel, text: "json", blocks: [section("json")], unknown_parameter: 1 }),
    });
    const { ok, ts } = (await response.json()) as { ok: boolean; ts: string };
    expect(ok).toBe(true);
    expect(setting.sim.message({ channel, ts })).toMatchObject({ text: "json", blocks: [{ type: "section" }] });
  });

  test("a user's id posts into their direct messages", async () => {
    const { ada } = setting.sim.people;
    const { channel: posted } = await setting.web.chat.postMessage({ channel: ada.id, text: "hello" });
    expect(posted).toBe(ada.dmChannel);
    expect((await setting.web.conversations.open({ users: ada.id })).channel?.id).toBe(ada.dmChannel);
  });

  test("a reply to a reply is refused: Slack would hide it in an odd thread", async () => {
    const { ts: root = "" } = await setting.web.chat.postMessage({ channel, text: "root" });
    const { ts: reply = "" } = await setting.web.chat.postMessage({ channel, text: "reply", thread_ts: root });
    const answer = await refused(setting.web.chat.postMessage({ channel, text: "odd", thread_ts: reply }));
    expect(answer.error).toBe("cannot_reply_to_message");
  });

  test.each([
    ["no_text", {}],
    ["msg_blocks_too_long", { text: "t", blocks: Array.from({ length: 5 }, () => section("x".repeat(2_900))) }],
    ["invalid_blocks", { text: "t", blocks: [section("")] }],
    ["markdown_text_conflict", { text: "t", markdown_text: "**t**" }],
    ["msg_too_long", { markdown_text: "x".repeat(12_001) }],
    ["invalid_metadata_format", { text: "t", metadata: { event_type: "", event_payload: {} } }],
    ["invalid_blocks_format", { text: "t", blocks: "[" }],
  ])("%s is Slack's answer, nothing is posted, and it is a violation", async (error, args) => {
    const before = setting.sim.violations.length;
    const answer = await refused(setting.web.apiCall("chat.postMessage", { channel, ...args }));
    expect(answer).toMatchObject({ ok: false, error });
    expect(said(before)).toMatchObject([{ method: "chat.postMessage", channel, error }]);
    expect(setting.sim.messages(channel)).toEqual([]);
  });

  test("an unknown channel is channel_not_found, and no violation: a correct app may meet it", async () => {
    const before = setting.sim.violations.length;
    const answer = await refused(setting.web.chat.postMessage({ channel: "C0NOWHERE", text: "t" }));
    expect(answer.error).toBe("channel_not_found");
    expect(said(before)).toEqual([]);
  });

  test("text over 4,000 characters is taken and leaves a warning, over 40,000 it is cut", async () => {
    const before = setting.sim.violations.length;
    const { ts = "" } = await setting.web.chat.postMessage({ channel, text: "x".repeat(40_001) });
    expect(setting.sim.message({ channel, ts })?.text).toHaveLength(40_000);
    expect(said(before)).toMatchObject([{ error: "warning" }]);
  });

  test("an ephemeral message is seen by one person and is no message", async () => {
    const { bo } = setting.sim.people;
    await setting.web.chat.postEphemeral({ channel, user: bo.id, text: "only you" });
    expect(setting.sim.ephemerals.at(-1)).toMatchObject({ channel, user: bo.id, text: "only you" });
    expect(setting.sim.messages(channel)).toEqual([]);
    const direct = setting.sim.people.ada.dmChannel;
    expect(await refused(setting.web.chat.postEphemeral({ channel: direct, user: bo.id, text: "no" }))).toMatchObject({
      error: "user_not_in_channel",
    });
  });
});

describe("changing", () => {
  test("chat.update with text alone takes the blocks away, and marks the message as edited", async () => {
    const blocks = [section("sure?"), { type: "actions", elements: [button("Yes", { value: "y" })] }];
    const { ts = "" } = await setting.web.chat.postMessage({ channel, text: "sure?", blocks });
    expect(setting.sim.buttons({ channel, ts })).toMatchObject([{ text: "Yes", value: "y" }]);
    const { message } = await setting.web.chat.update({ channel, ts, text: "done" });
    expect(message).toMatchObject({ text: "done", edited: { user: setting.sim.team.botUserId } });
    expect(message).not.toHaveProperty("blocks");
    expect(setting.sim.buttons({ channel, ts })).toEqual([]);
  });

  test("metadata outlives an update that does not mention it, and yields to one that does", async () => {
    const first = { event_type: "a", event_payload: { n: 1 } };
    const { ts = "" } = await setting.web.chat.postMessage({ channel, text: "t", metadata: first });
    await setting.web.chat.update({ channel, ts, text: "u" });
    expect(setting.sim.message({ channel, ts })?.metadata).toEqual(first);
    const second = { event_type: "b", event_payload: { n: 2 } };
    await setting.web.chat.update({ channel, ts, text: "v", metadata: second });
    expect(setting.sim.message({ channel, ts })?.metadata).toEqual(second);
  });

  test("only the app's own messages change or go", async () => {
    const { ts } = await setting.sim.people.ada.say(channel, "mine");
    expect((await refused(setting.web.chat.update({ channel, ts, text: "no" }))).error).toBe("cant_update_message");
    expect((await refused(setting.web.chat.delete({ channel, ts }))).error).toBe("cant_delete_message");
    const absent = "1700000000.000001";
    const gone = await refused(setting.web.chat.update({ channel, ts: absent, text: "no" }));
    expect(gone.error).toBe("message_not_found");
  });

  test("chat.update refuses text over 4,000 characters", async () => {
    const { ts = "" } = await setting.web.chat.postMessage({ channel, text: "short" });
    const answer = await refused(setting.web.chat.update({ channel, ts, text: "x".repeat(4_001) }));
    expect(answer.error).toBe("msg_too_long");
    expect(setting.sim.message({ channel, ts })?.text).toBe("short");
  });

  test("a deleted root with replies leaves a tombstone, one without leaves nothing", async () => {
    const { ts: root = "" } = await setting.web.chat.postMessage({ channel, text: "root" });
    const { ts: reply = "" } = await setting.web.chat.postMessage({ channel, text: "reply", thread_ts: root });
    await setting.web.chat.delete({ channel, ts: root });
    expect(setting.sim.thread(channel, root)).toMatchObject([{ subtype: "tombstone" }, { text: "reply" }]);
    await setting.web.chat.delete({ channel, ts: reply });
    expect(setting.sim.thread(channel, root)).toMatchObject([{ subtype: "tombstone" }]);
  });
});

describe("reading", () => {
  test("replies come oldest first behind their root, in pages", async () => {
    const { ts: root = "" } = await setting.web.chat.postMessage({ channel, text: "root" });
    for (const text of ["one", "two", "three"]) await setting.web.chat.postMessage({ channel, text, thread_ts: root });
    const pages = setting.web.paginate("conversations.replies", { channel, ts: root, limit: 2 });
    const texts: (string | undefined)[][] = [];
    for await (const page of pages) {
      const { messages = [] } = page as ConversationsRepliesResponse;
      texts.push(messages.map(({ text }) => text));
    }
    expect(texts).toEqual([
      ["root", "one"],
      ["two", "three"],
    ]);
    const { messages = [] } = await setting.web.conversations.replies({ channel, ts: root });
    expect(messages[0]).toMatchObject({ thread_ts: root, reply_count: 3 });
    expect(messages[1]).toMatchObject({ thread_ts: root, parent_user_id: setting.sim.team.botUserId });
  });

  test("oldest and latest bound the replies, and the root comes all the same", async () => {
    const { ts: root = "" } = await setting.web.chat.postMessage({ channel, text: "root" });
    const { ts: one = "" } = await setting.web.chat.postMessage({ channel, text: "one", thread_ts: root });
    const { ts: two = "" } = await setting.web.chat.postMessage({ channel, text: "two", thread_ts: root });
    const read = async (args: object) =>
      (await setting.web.conversations.replies({ channel, ts: root, ...args })).messages?.map(({ text }) => text);
    expect(await read({ oldest: one })).toEqual(["root", "two"]);
    expect(await read({ oldest: one, inclusive: true })).toEqual(["root", "one", "two"]);
    expect(await read({ latest: two })).toEqual(["root", "one"]);
  });

  test("history comes newest first and without replies", async () => {
    const { ts: root = "" } = await setting.web.chat.postMessage({ channel, text: "old" });
    await setting.web.chat.postMessage({ channel, text: "reply", thread_ts: root });
    await setting.web.chat.postMessage({ channel, text: "new" });
    const { messages } = await setting.web.conversations.history({ channel });
    expect(messages?.map(({ text }) => text)).toEqual(["new", "old"]);
  });

  test("a thread that is not there is thread_not_found", async () => {
    const ts = "1700000000.000001";
    expect((await refused(setting.web.conversations.replies({ channel, ts }))).error).toBe("thread_not_found");
  });

  test("a channel's kind is told by conversations.info", async () => {
    const secret = setting.sim.addChannel("secret", "group");
    expect((await setting.web.conversations.info({ channel: secret.id })).channel).toMatchObject({ is_private: true });
    const direct = setting.sim.people.cy.dmChannel;
    expect((await setting.web.conversations.info({ channel: direct })).channel).toMatchObject({
      is_im: true,
      user: setting.sim.people.cy.id,
    });
  });
});

describe("beside messages", () => {
  test("a status stands under its thread until the app posts there", async () => {
    const { ts: root = "" } = await setting.web.chat.postMessage({ channel, text: "root" });
    await setting.web.assistant.threads.setStatus({ channel_id: channel, thread_ts: root, status: "is thinking" });
    expect(setting.sim.status(channel, root)).toBe("is thinking");
    await setting.web.chat.postMessage({ channel, text: "answer", thread_ts: root });
    expect(setting.sim.status(channel, root)).toBeNull();
  });

  test("a reaction is given once", async () => {
    const { ts: timestamp = "" } = await setting.web.chat.postMessage({ channel, text: "root" });
    await setting.web.reactions.add({ channel, timestamp, name: "eyes" });
    expect(setting.sim.message({ channel, ts: timestamp })?.reactions).toEqual([
      { name: "eyes", users: [setting.sim.team.botUserId] },
    ]);
    const again = await refused(setting.web.reactions.add({ channel, timestamp, name: "eyes" }));
    expect(again.error).toBe("already_reacted");
  });

  test("a lone surrogate in text never leaves WebClient, and in blocks is invalid_blocks (SLACK.md 0.7)", async () => {
    const before = setting.sim.requestCount("chat.postMessage");
    await expect(setting.web.chat.postMessage({ channel, text: "cut \ud83d" })).rejects.toThrow("URI malformed");
    expect(setting.sim.requestCount("chat.postMessage")).toBe(before);
    const answer = await refused(setting.web.chat.postMessage({ channel, text: "t", blocks: [section("cut \ud83d")] }));
    expect(answer).toMatchObject({ error: "invalid_blocks" });
    expect(answer.errors).toEqual(["must be well-formed Unicode [json-pointer:/blocks/0/text/text]"]);
  });
});
