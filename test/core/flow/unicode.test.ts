import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { decideByApi } from "../../../src/core/flow/decide.ts";
import { findOpenQuestion } from "../../../src/core/store/questions.ts";
import { clickCard, clickOption, createTestCore, newThread, post, type TestCore } from "../../helpers/core.ts";

/** What jsonb and text refuse: NUL, and halves of a surrogate pair. */
const NASTY = "a\u0000b\ud800c\udc00\u202e";

describe("any text", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterAll(() => t.close());

  it("G6 goes through a post, a question, its answer, a proposal, its apply and the outcome unchanged", async () => {
    const thread = newThread();
    const input = { [NASTY]: NASTY };
    t.runtime.tools.set("attach", {
      preview: () => ({ title: NASTY, facts: [{ label: NASTY, value: NASTY }] }),
      apply: () => ({ echo: NASTY }),
    });
    t.model.script(
      async () => {
        await t.receive(post(thread, NASTY, { address: "follow-up" }));
        const options = [{ label: NASTY, value: NASTY }];
        return { text: NASTY, calls: [{ tool: "ask", input: { text: NASTY, options } }] };
      },
      { calls: [{ tool: "attach", input }] },
    );
    const { sessionId } = (await t.receive(post(thread, NASTY, { payload: input }))) as { sessionId: string };
    await t.drain();
    const question = await findOpenQuestion(t.core.pool, sessionId);
    expect(question).toMatchObject({ text: NASTY, steering: [{ text: NASTY }] });
    await t.receive(clickOption(thread, question?.id ?? "", 0));
    await t.drain();
    expect(t.runtime.renders.at(-1)?.input).toMatchObject({ answer: { value: NASTY }, steering: [{ text: NASTY }] });
    await t.receive(clickCard(thread, t.lastCard(), "approve"));
    await t.drain();
    expect(t.runtime.invokes.find((i) => i.entry === "apply")?.input).toBe(JSON.stringify(input));
    expect(t.lastCard()).toMatchObject({ status: "applied", preview: { title: NASTY } });
    expect((await t.eventsOf(sessionId)).find((e) => e.type === "approval.applied")?.data.result).toEqual({
      echo: NASTY,
    });
  });

  it("G6 may be the reason of a rejection", async () => {
    t.model.script({ calls: [{ tool: "attach", input: {} }] });
    await t.receive(post(newThread(), "go"));
    await t.drain();
    const by = { provider: "api", workspaceId: "api", userId: "ops" } as const;
    const reject = { decisionId: t.lastCard().decisionId, verb: "reject", by, reason: NASTY } as const;
    expect(await decideByApi(t.core, reject)).toMatchObject({ ok: true, decision: { reason: NASTY } });
  });

  it("G6 an answer without words still ends the turn in words", async () => {
    t.model.script({ text: " \n" });
    await t.receive(post(newThread(), ""));
    await t.drain();
    expect(t.chat.posts.map((p) => p.message)).toEqual([
      { kind: "text", text: "The agent finished without saying anything." },
    ]);
  });
});
