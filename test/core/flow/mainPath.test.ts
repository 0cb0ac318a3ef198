import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { OutboundMessage } from "../../../src/core/domain/message.ts";
import { findOpenQuestion } from "../../../src/core/store/questions.ts";
import { ANA, clickCard, clickOption, createTestCore, newThread, post, type TestCore } from "../../helpers/core.ts";

describe("the main path", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterAll(() => t.close());

  it("goes from a mention over a question and a card to a write that ran once, and tells the session", async () => {
    const thread = newThread();
    const input = { order: 7, note: "paid" };
    t.model.script(
      { text: "Which order?", calls: [{ tool: "lookup_order", input: { id: "7" } }] },
      { text: "One thing.", calls: [{ tool: "ask", input: { text: "Attach it?", options: OPTIONS } }] },
      { text: "Proposing.", calls: [{ tool: "attach", input }] },
      { text: "It waits for approval." },
      { text: "It is done." },
    );

    const { sessionId } = (await t.receive(post(thread, "attach my note"))) as { sessionId: string };
    await t.drain();
    const question = await findOpenQuestion(t.core.pool, sessionId);
    expect(t.chat.posts.map((p) => p.message)).toMatchObject([
      { kind: "question", text: "One thing.", question: { text: "Attach it?", options: OPTIONS } },
    ]);

    await t.receive(clickOption(thread, question?.id ?? "", 0));
    await t.drain();
    expect(shown(t)).toEqual(["question answered: Yes", "card pending", "text: It waits for approval."]);
    expect(t.runtime.invokes.map((i) => i.entry)).toEqual(["run", "preview"]);
    expect(t.runtime.renders.at(-1)?.input.answer).toEqual({ questionId: question?.id, text: "Yes", value: "y" });

    const card = t.lastCard();
    expect(card).toMatchObject({ input: JSON.stringify(input), preview: { facts: [{ label: "Order", value: "7" }] } });
    await t.receive(clickCard(thread, card, "approve"));
    await t.drain();

    const applies = t.runtime.invokes.filter((i) => i.entry === "apply");
    expect(applies).toMatchObject([{ input: JSON.stringify(input), decision: { id: card.decisionId } }]);
    expect(shown(t)).toEqual([
      "question answered: Yes",
      "card applied",
      "text: It waits for approval.",
      "text: It is done.",
    ]);
    expect(t.lastCard()).toMatchObject({ decidedBy: ANA, decidedAt: expect.any(String) });
    expect(t.runtime.renders.at(-1)?.input).toMatchObject({ source: "system", payload: { outcome: "applied" } });

    const events = await t.eventsOf(sessionId);
    expect(events.map((e) => e.seq)).toEqual(events.map((_, i) => i + 1));
    expect(events.map((e) => e.type).filter((type) => /^(turn|question|approval)\./.test(type))).toEqual([
      "turn.queued",
      "turn.started",
      "question.asked",
      "turn.completed",
      "question.answered",
      "turn.queued",
      "turn.started",
      "approval.proposed",
      "turn.completed",
      "approval.approved",
      "approval.applying",
      "approval.applied",
      "turn.queued",
      "turn.started",
      "turn.completed",
    ]);
    expect(t.runtime.leased).toEqual([]);
  });
});

const OPTIONS = [
  { label: "Yes", value: "y" },
  { label: "No", value: "n" },
];

const shown = (t: TestCore): string[] => t.chat.posts.map((p) => words(p.message));

function words(message: OutboundMessage): string {
  switch (message.kind) {
    case "text":
      return `text: ${message.text}`;
    case "question":
      return message.outcome?.kind === "answered" ? `question answered: ${message.outcome.text}` : "question";
    case "card":
      return `card ${message.card.status}`;
    case "notice":
      return `notice: ${message.text}`;
  }
}
