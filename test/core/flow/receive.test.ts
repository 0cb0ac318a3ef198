import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Conversation } from "../../../src/core/domain/message.ts";
import { findOpenQuestion } from "../../../src/core/store/questions.ts";
import { listSessions } from "../../../src/core/store/sessions.ts";
import { listTurns } from "../../../src/core/store/turns.ts";
import { BEN, createTestCore, newThread, post, type TestCore } from "../../helpers/core.ts";

describe("what a platform tells", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterAll(() => t.close());

  const followUp = { address: "follow-up" } as const;
  const opened = async (thread: Conversation) =>
    ((await t.receive(post(thread, "hello"))) as { sessionId: string }).sessionId;
  const directMessages: Conversation = { ...newThread(), conversationId: "D1" };
  const direct = (text: string, over: object = {}) => post(directMessages, text, { address: "direct", ...over });

  it.each([
    ["in a thread without a session", false, {}],
    ["by somebody who does not talk with the agent there", true, { person: BEN }],
    ["that begins by mentioning somebody else", true, { forSomebodyElse: true }],
  ])("G4 ignores a post without a mention %s, and keeps nothing of it", async (_, bound, over) => {
    const thread = newThread();
    if (bound) await opened(thread);
    const event = post(thread, "so", { ...followUp, ...over });
    expect(await t.receive(event)).toMatchObject({ status: "ignored", wakes: [] });
    const { rows } = await t.core.pool.query("select key from inbox where key = any ($1)", [event.dedupe]);
    expect(rows).toEqual([]);
  });

  it("G4 hears from somebody without a mention once they mentioned the agent there", async () => {
    const thread = newThread();
    const id = await opened(thread);
    await t.receive(post(thread, "me too", { person: BEN }));
    expect(await t.receive(post(thread, "and so", { ...followUp, person: BEN }))).toMatchObject({ sessionId: id });
    expect(await listTurns(t.core.pool, id, 10)).toHaveLength(3);
  });

  it("G4 has one session for the direct messages of a person, until they start over", async () => {
    const first = (await t.receive(direct("one"))) as { sessionId: string };
    expect(await t.receive(direct("two"))).toMatchObject({ sessionId: first.sessionId });
    await t.drain();
    const again = direct("new", { startsOver: true });
    await t.receive(again);
    expect(await t.receive(again)).toMatchObject({ status: "duplicate" });
    await t.drain();
    expect(t.chat.posts.at(-1)?.message).toMatchObject({
      kind: "notice",
      text: "Started over: your next message opens a new session.",
    });
    const second = (await t.receive(direct("three"))) as { sessionId: string };
    expect((await listSessions(t.core.pool, { limit: 5 })).map((s) => [s.id, s.status])).toEqual([
      [second.sessionId, "idle"],
      [first.sessionId, "ended"],
    ]);
  });

  it("G4 takes a threaded reply under a post of the direct messages for theirs, and any other for a thread", async () => {
    const root = direct("one", { dedupe: ["slack:post:T1:D1:5"], ref: "D1:5" });
    const { sessionId } = (await t.receive(root)) as { sessionId: string };
    await t.drain();
    const under = (rootRef: string) =>
      post({ ...directMessages, conversationId: rootRef }, "reply", {
        address: "direct",
        parent: { conversation: directMessages, rootRef },
      });
    expect(await t.receive(under("D1:5"))).toMatchObject({ sessionId });
    expect(await t.receive(under(t.chat.posts[0]?.ref ?? ""))).toMatchObject({ sessionId });
    const elsewhere = (await t.receive(under("D1:9"))) as { sessionId: string };
    expect(elsewhere.sessionId).not.toBe(sessionId);
  });

  it("G3 takes the repeat of a post for a repeat while a question is open, and the repeat of its answer after", async () => {
    const thread = newThread();
    t.model.script({ calls: [{ tool: "ask", input: { text: "Sure?" } }] });
    const first = post(thread, "go");
    const { sessionId } = (await t.receive(first)) as { sessionId: string };
    await t.drain();
    expect(await t.receive(first)).toMatchObject({ status: "duplicate" });
    expect(await findOpenQuestion(t.core.pool, sessionId)).not.toBeNull();
    const answer = post(thread, "yes", followUp);
    await t.receive(answer);
    expect(await t.receive(answer)).toMatchObject({ status: "duplicate" });
    expect(await listTurns(t.core.pool, sessionId, 10)).toHaveLength(2);
  });

  it("says no more than a reason of what an adapter ignored", async () => {
    expect(await t.receive({ kind: "ignored", reason: "a bot wrote it" })).toEqual({
      status: "ignored",
      reason: "a bot wrote it",
      wakes: [],
    });
  });
});
