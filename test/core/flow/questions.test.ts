import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Conversation } from "../../../src/core/domain/message.ts";
import { answerByApi } from "../../../src/core/flow/answerQuestion.ts";
import { submitTurn } from "../../../src/core/flow/queueTurn.ts";
import { getSession } from "../../../src/core/flow/views.ts";
import { findOpenQuestion, insertQuestion } from "../../../src/core/store/questions.ts";
import {
  BEN,
  clickOption,
  createTestCore,
  holdSession,
  newThread,
  post,
  race,
  STRANGER,
  type TestCore,
} from "../../helpers/core.ts";

const OPTIONS = [
  { label: "Ja 👍", value: "a very long value that no button could ever carry, up to eighty characters" },
  { label: "はい", value: "はい" },
];

describe("a question", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterAll(() => t.close());

  /** A thread whose session has just asked. */
  async function asked(thread: Conversation = newThread()) {
    t.model.script({ text: "Hm.", calls: [{ tool: "ask", input: { text: "Sure?", options: OPTIONS } }] });
    const { sessionId } = (await t.receive(post(thread, "go"))) as { sessionId: string };
    await t.drain();
    const question = await findOpenQuestion(t.core.pool, sessionId);
    if (!question) throw new Error("nothing was asked");
    return { thread, sessionId, question };
  }
  const lastInput = () => t.runtime.renders.at(-1)?.input;
  const notes = () => t.chat.posts.flatMap(({ message }) => (message.kind === "notice" ? [message] : []));

  it("Q1 ends the turn as a question, stands in the session and in the log, and is one post", async () => {
    const { sessionId, question } = await asked();
    expect(await getSession(t.core, sessionId)).toMatchObject({
      question: { id: question.id, text: "Sure?", options: OPTIONS },
      turns: [{ status: "completed", outcome: "question" }],
    });
    const events = await t.eventsOf(sessionId);
    expect(events.slice(-4).map((e) => e.type)).toEqual([
      "tool.completed",
      "question.asked",
      "turn.completed",
      "session.status_changed",
    ]);
    expect(events.find((e) => e.type === "turn.completed")?.data).toEqual({ outcome: "question" });
    expect(t.chat.posts.map((p) => p.message)).toMatchObject([{ kind: "question", text: "Hm." }]);
  });

  it("Q2 is the only one open, in a step that asks two and in the database", async () => {
    t.model.script({
      calls: [
        { tool: "ask", input: { text: "First?" } },
        { tool: "ask", input: { text: "Second?" } },
      ],
    });
    const { sessionId } = (await t.receive(post(newThread(), "go"))) as { sessionId: string };
    await t.drain();
    const question = await findOpenQuestion(t.core.pool, sessionId);
    expect(question?.text).toBe("First?");
    const events = await t.eventsOf(sessionId);
    expect(events.find((e) => e.type === "tool.failed")?.data).toMatchObject({ code: "question_already_asked" });
    const another = { ...question, id: "qst_2", callId: "call_2" } as Parameters<typeof insertQuestion>[1];
    await expect(insertQuestion(t.core.pool, another)).rejects.toThrow(/questions_one_open/);
  });

  it("Q2 may be followed by another from the next turn", async () => {
    const { thread, sessionId, question } = await asked();
    t.model.script({ calls: [{ tool: "ask", input: { text: "Really?" } }] });
    await t.receive(clickOption(thread, question.id, 0));
    await t.drain();
    expect(await findOpenQuestion(t.core.pool, sessionId)).toMatchObject({ text: "Really?" });
  });

  it("Q3 Q6 answered by a click gives the next turn the option's whole value", async () => {
    const { thread, question } = await asked();
    await t.receive(clickOption(thread, question.id, 0));
    await t.drain();
    expect(lastInput()).toMatchObject({
      source: "channel",
      answer: { questionId: question.id, text: "Ja 👍", value: OPTIONS[0]?.value },
    });
    expect(t.chat.posts[0]?.message).toMatchObject({ outcome: { kind: "answered", text: "Ja 👍" } });
  });

  it.each([
    ["an option's words", " はい ", { text: "はい", value: "はい" }],
    ["an option's number", "1", { text: "Ja 👍", value: OPTIONS[0]?.value }],
    ["other words", "later, please", { text: "later, please" }],
  ])("Q3 answered by typing %s", async (_, typed, answer) => {
    const { thread, question } = await asked();
    await t.receive(post(thread, typed, { address: "follow-up" }));
    await t.drain();
    expect(lastInput()?.answer).toEqual({ questionId: question.id, ...answer });
  });

  it("Q3 answered over the API; a value that is no option, another question or a second answer is refused", async () => {
    const { sessionId, question } = await asked();
    const answer = { sessionId, questionId: question.id, text: "はい", value: "はい" };
    await expect(answerByApi(t.core, { ...answer, value: "no" })).rejects.toMatchObject({
      code: "answer_not_an_option",
    });
    await expect(answerByApi(t.core, { ...answer, questionId: "qst_x" })).rejects.toMatchObject({
      code: "no_open_question",
    });
    await t.wakes.ring((await answerByApi(t.core, answer)).wakes);
    await t.drain();
    expect(lastInput()).toMatchObject({ source: "user", answer: { value: "はい" } });
    await expect(answerByApi(t.core, answer)).rejects.toMatchObject({ code: "no_open_question" });
  });

  it("S2 Q3 takes what was written during its turn as steering; what the API queued stays a turn", async () => {
    const thread = newThread();
    const { sessionId } = (await t.receive(post(thread, "go"))) as { sessionId: string };
    t.model.script(async () => {
      await submitTurn(t.core, { sessionId, text: "from the API", mode: "queue", idempotencyKey: null });
      await t.receive(post(thread, "by the way \u0000", { address: "follow-up" }));
      await t.receive(post(thread, "and Ben says", { person: BEN }));
      return { calls: [{ tool: "ask", input: { text: "Sure?" } }] };
    });
    await t.drain();
    expect(await getSession(t.core, sessionId)).toMatchObject({ activity: { queued: 1 } });
    await t.receive(post(thread, "yes", { address: "follow-up" }));
    await t.drain();
    expect(lastInput()).toEqual({ source: "user", text: "from the API" });
    expect(t.runtime.renders.at(-2)?.input).toMatchObject({
      answer: { text: "yes" },
      steering: [{ text: "by the way \u0000" }, { text: "and Ben says" }],
    });
  });

  it("Q5 is not answered by another's click: they get a private note, and nothing changes", async () => {
    const { thread, sessionId, question } = await asked();
    const before = await t.eventsOf(sessionId);
    for (const person of [BEN, STRANGER]) await t.receive(clickOption(thread, question.id, 0, person));
    await t.drain();
    expect(notes()).toMatchObject([
      { to: BEN, text: "This question is for somebody else; nothing changed." },
      { to: STRANGER, text: "This question is for somebody else; nothing changed." },
    ]);
    expect(await t.eventsOf(sessionId)).toEqual(before);
    expect(await findOpenQuestion(t.core.pool, sessionId)).not.toBeNull();
  });

  it("Q5 stays open when another types, who is heard after the answer", async () => {
    const { thread, sessionId, question } = await asked();
    await t.receive(post(thread, "I think so", { person: BEN }));
    await t.drain();
    expect(await findOpenQuestion(t.core.pool, sessionId)).toMatchObject({ id: question.id });
    await t.receive(clickOption(thread, question.id, 1));
    await t.drain();
    const words = t.runtime.renders.map((r) => r.input.text);
    expect(words).toEqual(["go", "はい", "I think so"]);
  });

  it("Q5 is closed by an API turn, and its buttons with it", async () => {
    const { thread, sessionId, question } = await asked();
    const submit = { sessionId, text: "never mind", mode: "queue", idempotencyKey: null } as const;
    await t.wakes.ring((await submitTurn(t.core, submit)).wakes);
    await t.drain();
    expect(t.chat.posts[0]?.message).toMatchObject({ outcome: { kind: "closed", reason: "superseded" } });
    await t.receive(clickOption(thread, question.id, 0));
    await t.drain();
    expect(notes()).toMatchObject([{ text: "This question was already settled; nothing changed." }]);
    expect(lastInput()).toEqual({ source: "user", text: "never mind" });
  });

  it("is answered once by two answers at once", async () => {
    const { thread, sessionId, question } = await asked();
    await race(
      t.core.pool,
      holdSession(sessionId),
      () => t.receive(clickOption(thread, question.id, 0)),
      () => t.receive(clickOption(thread, question.id, 1)),
    );
    await t.drain();
    expect((await t.eventsOf(sessionId)).filter((e) => e.type === "question.answered")).toHaveLength(1);
    expect(notes()).toHaveLength(1);
    expect(t.runtime.renders).toHaveLength(2);
  });

  it("is not known from another workspace, nor with an option it does not have", async () => {
    const { thread, question } = await asked();
    await t.receive(clickOption({ ...thread, workspaceId: "T2" }, question.id, 0, STRANGER));
    await t.receive(clickOption(thread, "qst_none", 0));
    await t.receive(clickOption(thread, question.id, 5));
    await t.drain();
    expect(notes().map((note) => note.text)).toEqual([
      "This question is not known here any more.",
      "This question is not known here any more.",
      "This option does not exist; nothing changed.",
    ]);
  });
});
