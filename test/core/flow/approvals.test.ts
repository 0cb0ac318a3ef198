import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Person } from "../../../src/core/domain/message.ts";
import { createSession } from "../../../src/core/flow/createSession.ts";
import { decideByApi } from "../../../src/core/flow/decide.ts";
import { endSession } from "../../../src/core/flow/endSession.ts";
import { submitTurn } from "../../../src/core/flow/queueTurn.ts";
import { getDecision } from "../../../src/core/flow/views.ts";
import { findDecision } from "../../../src/core/store/decisions.ts";
import { ANA, BEN, clickCard, createTestCore, newThread, post, STRANGER, type TestCore } from "../../helpers/core.ts";

const API: Person = { provider: "api", workspaceId: "api", userId: "ops@example.com" };
const INPUT = { z: 1, a: "é\u0000", "10": [1.5, null] };

describe("an approval", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterAll(() => t.close());

  /** A thread in which the agent proposed a change for Ana. */
  async function proposed(thread = newThread()) {
    t.model.script({ text: "I will.", calls: [{ tool: "attach", input: INPUT }] }, { text: "It waits." });
    const { sessionId } = (await t.receive(post(thread, "attach it"))) as { sessionId: string };
    await t.drain();
    return { thread, sessionId, card: t.lastCard() };
  }
  const applies = () => t.runtime.invokes.filter((i) => i.entry === "apply");
  const notes = () => t.chat.posts.flatMap(({ message }) => (message.kind === "notice" ? [message] : []));
  const decision = (id: string) => findDecision(t.core.pool, id);

  it("A1 stores arguments and preview verbatim, sends a card, and tells the model to stop", async () => {
    const { card, sessionId } = await proposed();
    expect(await decision(card.decisionId)).toMatchObject({
      status: "pending",
      input: JSON.stringify(INPUT),
      preview: { title: "Attach a note", facts: [{ label: "Order", value: "7" }] },
      person: ANA,
      sessionId,
    });
    expect(t.model.requests[1]?.history.at(-1)).toMatchObject({
      role: "tool",
      results: [{ failed: false, output: expect.stringContaining("recorded for approval") }],
    });
    expect(t.runtime.invokes).toMatchObject([{ entry: "preview", input: JSON.stringify(INPUT) }]);
    const { data } = (await t.eventsOf(sessionId)).find((e) => e.type === "approval.proposed") ?? {};
    expect(data).toMatchObject({ decisionId: card.decisionId, callId: expect.any(String), tool: "attach" });
  });

  it.each([
    ["throws", () => Promise.reject(new Error("no such order")), /preview failed: .*no such order/],
    ["is none", () => ({ title: "" }), /title must not be empty/],
  ] as const)("A1 A8 whose preview %s fails the call: no card, no decision", async (_, preview, reason) => {
    t.runtime.tools.set("attach", { preview });
    t.model.script({ calls: [{ tool: "attach", input: {} }] });
    const { sessionId } = (await t.receive(post(newThread(), "go"))) as { sessionId: string };
    await t.drain();
    const { data } = (await t.eventsOf(sessionId)).find((e) => e.type === "tool.failed") ?? {};
    expect(data).toMatchObject({ code: "preview_failed", message: expect.stringMatching(reason) });
    expect(t.chat.posts.map((p) => p.message.kind)).toEqual(["text"]);
  });

  it("A2 A3 applies the stored arguments with the call's ids and the decision, though session and agent moved on", async () => {
    const { thread, card, sessionId } = await proposed();
    await endSession(t.core, sessionId);
    await t.deploy({ id: "dpl_2", digest: "e" });
    await t.receive(clickCard(thread, card, "approve"));
    await t.drain();
    const [preview, apply, ...more] = t.runtime.invokes;
    expect(more).toEqual([]);
    expect(apply).toMatchObject({
      tool: "attach",
      entry: "apply",
      input: JSON.stringify(INPUT),
      context: preview?.context,
      decision: { id: card.decisionId, decidedBy: ANA, decidedAt: (await decision(card.decisionId))?.decidedAt },
      timeoutMs: 60_000,
    });
  });

  it.each([
    ["tool", "update deployments set manifest = replace(manifest::text, 'dddd', 'eeee')::json"],
    ["arguments", `update decisions set input = '{"z":2}'`],
    ["preview", `update decisions set preview = '{"title":"Other","facts":[]}'`],
    ["deployment", "update decisions set deployment_id = 'dpl_same_tools'"],
    ["agent", "update decisions set agent_id = 'other'"],
    ["deployment's agent", "update deployments set manifest = replace(manifest::text, 'support', 'other')::json"],
  ])("A4 fails as needs_reapproval when the %s is not what was approved; nothing runs", async (_, change) => {
    const { thread, card, sessionId } = await proposed();
    await t.deploy({ id: "dpl_same_tools" });
    await t.core.pool.query(change);
    await t.receive(clickCard(thread, card, "approve"));
    await t.drain();
    expect(await decision(card.decisionId)).toMatchObject({
      status: "failed",
      errorCode: "needs_reapproval",
      attempt: 0,
    });
    expect(applies()).toEqual([]);
    expect(t.lastCard().status).toBe("failed");
    expect((await t.eventsOf(sessionId)).find((e) => e.type === "approval.failed")?.data).toMatchObject({
      code: "needs_reapproval",
    });
  });

  it("A4 A9 rejected runs nothing, and says who and why on the card and to the session", async () => {
    const { thread, card } = await proposed();
    await t.receive(clickCard(thread, card, "reject"));
    await t.drain();
    expect(applies()).toEqual([]);
    expect(t.lastCard()).toMatchObject({ status: "rejected", decidedBy: ANA });
    expect(t.runtime.renders.at(-1)?.input).toMatchObject({ source: "system", payload: { outcome: "rejected" } });
  });

  it("A6 is decided by its own button alone: two proposals of one tool, decided in reverse order", async () => {
    const thread = newThread();
    const calls = ["first", "second"].map((note) => ({ tool: "attach", input: { note } }));
    t.model.script({ calls });
    await t.receive(post(thread, "both"));
    await t.drain();
    const cards = t.chat.posts.flatMap(({ message }) => (message.kind === "card" ? [message.card] : []));
    const [first, second] = cards;
    if (!first || !second) throw new Error("two cards were expected");
    await t.receive(clickCard(thread, second, "reject"));
    await t.receive(clickCard(thread, first, "approve"));
    await t.drain();
    expect(applies().map((i) => [i.decision?.id, i.input])).toEqual([[first.decisionId, '{"note":"first"}']]);
    expect((await decision(second.decisionId))?.status).toBe("rejected");
  });

  it("A6 is never decided by words, in the thread or of the model", async () => {
    const { thread, card } = await proposed();
    t.model.script({ text: "approve", calls: [{ tool: "attach", input: { approve: card.decisionId } }] });
    for (const words of ["approve", "Approve!", `approve ${card.decisionId}`]) {
      await t.receive(post(thread, words, { address: "follow-up" }));
    }
    await t.drain();
    expect((await decision(card.decisionId))?.status).toBe("pending");
    expect(applies()).toEqual([]);
  });

  it("A6 answers a stale, repeated, foreign or forged click for its author alone, and changes nothing", async () => {
    const { thread, card, sessionId } = await proposed();
    await t.receive(clickCard(thread, { ...card, cardDigest: "0".repeat(64) }, "approve"));
    await t.receive(clickCard(thread, { ...card, decisionId: "dec_none" }, "approve"));
    await t.receive(clickCard(thread, card, "run-again"));
    expect((await decision(card.decisionId))?.status).toBe("pending");
    await t.receive(clickCard(thread, card, "approve"));
    const click = clickCard(thread, card, "approve");
    await t.receive(click);
    expect(await t.receive(click)).toMatchObject({ status: "duplicate" });
    await t.receive(clickCard(thread, card, "reject"));
    await t.drain();
    expect(notes()).toMatchObject([
      { to: ANA, text: "The card is not the one that was proposed; open it again." },
      { to: ANA, text: expect.stringMatching(/nothing under this address/i) },
      { to: ANA, text: "Nothing ran yet; decide on its card first." },
      { to: ANA, text: "Already decided by Ana: it is approved." },
      { to: ANA, text: "Already decided by Ana: it is approved." },
    ]);
    expect(applies()).toHaveLength(1);
    expect((await t.eventsOf(sessionId)).filter((e) => e.type === "approval.approved")).toHaveLength(1);
  });

  it("A7 is decided by nobody but the person the agent answered, on team and user together", async () => {
    const { thread, card } = await proposed();
    await t.receive(clickCard(thread, card, "approve", BEN));
    await t.receive(clickCard(thread, card, "reject", STRANGER));
    await t.drain();
    expect((await decision(card.decisionId))?.status).toBe("pending");
    expect(notes().map((note) => [note.to, note.text.slice(0, 23)])).toEqual([
      [BEN, "You may not decide this"],
      [STRANGER, "You may not decide this"],
    ]);
  });

  it("A7 is decided by whom the project names", async () => {
    const deciders = { slack: { users: [BEN.userId], usergroups: [] } };
    await t.deploy({ id: "dpl_2", approvals: { deciders } });
    const { thread, card } = await proposed();
    await t.receive(clickCard(thread, card, "approve"));
    await t.receive(clickCard(thread, card, "approve", BEN));
    await t.drain();
    expect(await decision(card.decisionId)).toMatchObject({ status: "applied", decidedBy: BEN, person: ANA });
    expect(t.runtime.renders.at(-1)?.input.source).toBe("system");
  });

  it("A7 is decided over the API by whom the key's holder vouches for, and the record says so", async () => {
    const { card } = await proposed();
    const approve = { decisionId: card.decisionId, verb: "approve", by: API } as const;
    await t.wakes.ring((await decideByApi(t.core, approve)).wakes);
    expect(await decideByApi(t.core, { ...approve, verb: "reject" })).toMatchObject({
      ok: false,
      code: "decision_already_made",
      message: "Already decided by ops@example.com: it is approved.",
    });
    await t.drain();
    expect(await getDecision(t.core, card.decisionId)).toMatchObject({
      status: "applied",
      decidedBy: API,
      attempts: [{ attempt: 1, authorisedBy: API, outcome: "applied" }],
    });
  });

  it("A9 hands its outcome to the session as the requester's, who may decide what follows", async () => {
    const { thread, card } = await proposed();
    t.model.script({ calls: [{ tool: "attach", input: { next: true } }] });
    await t.receive(clickCard(thread, card, "approve"));
    await t.drain();
    const next = t.lastCard();
    expect(next.decisionId).not.toBe(card.decisionId);
    expect(await decision(next.decisionId)).toMatchObject({ status: "pending", person: ANA });
  });

  it("A10 fails where nobody can be asked, and where nobody may decide", async () => {
    const { session } = await createSession(t.core, { agentId: "support" });
    t.model.script({ calls: [{ tool: "attach", input: {} }] }, {}, { calls: [{ tool: "attach", input: {} }] });
    const submit = { sessionId: session.id, text: "go", mode: "queue", idempotencyKey: null } as const;
    await t.wakes.ring((await submitTurn(t.core, submit)).wakes);
    await t.drain();
    await t.receive(post(newThread(), "go", { person: STRANGER }));
    await t.drain();
    const results = t.model.requests.flatMap((r) => r.history.flatMap((m) => (m.role === "tool" ? m.results : [])));
    expect(results).toMatchObject([
      { failed: true, output: expect.stringMatching(/nobody to ask/) },
      { failed: true, output: expect.stringMatching(/nobody to ask/) },
    ]);
    expect((await t.core.pool.query("select from decisions")).rowCount).toBe(0);
  });
});
