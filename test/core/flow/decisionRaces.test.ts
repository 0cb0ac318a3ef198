import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { applyDecision } from "../../../src/core/flow/applyDecision.ts";
import { decideByApi } from "../../../src/core/flow/decide.ts";
import { sweep } from "../../../src/core/flow/sweep.ts";
import { listAttempts } from "../../../src/core/store/attempts.ts";
import { findDecision } from "../../../src/core/store/decisions.ts";
import {
  ANA,
  BEN,
  clickCard,
  createTestCore,
  holdReceived,
  holdSession,
  newThread,
  post,
  race,
  type TestCore,
  threw,
} from "../../helpers/core.ts";

const DAY = 24 * 3_600_000;

describe("a decision raced for", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(async () => {
    await t.reset();
    const users = [ANA.userId, BEN.userId];
    await t.deploy({ id: "dpl_2", approvals: { deciders: { slack: { users, usergroups: [] } } } });
  });
  afterAll(() => t.close());

  async function proposed() {
    const thread = newThread();
    t.model.script({ calls: [{ tool: "attach", input: {} }] });
    const { sessionId } = (await t.receive(post(thread, "go"))) as { sessionId: string };
    await t.drain();
    return { thread, sessionId, card: t.lastCard() };
  }
  const decision = (id: string) => findDecision(t.core.pool, id);
  const applies = () => t.runtime.invokes.filter((i) => i.entry === "apply");
  const notes = () => t.chat.posts.flatMap(({ message }) => (message.kind === "notice" ? [message] : []));
  const decisionEvents = async (sessionId: string) =>
    (await t.eventsOf(sessionId)).filter((e) => /^approval\.(approved|rejected|expired)$/.test(e.type));

  it("A4 is approved once by two people in the same instant; the loser is told who won", async () => {
    const { thread, sessionId, card } = await proposed();
    await race(
      t.core.pool,
      holdSession(sessionId),
      () => t.receive(clickCard(thread, card, "approve", ANA)),
      () => t.receive(clickCard(thread, card, "approve", BEN)),
    );
    await t.drain();
    const winner = (await decision(card.decisionId))?.decidedBy;
    const loser = winner?.userId === ANA.userId ? BEN : ANA;
    expect(await decisionEvents(sessionId)).toHaveLength(1);
    expect(applies()).toHaveLength(1);
    expect(t.lastCard()).toMatchObject({ status: "applied", decidedBy: winner });
    expect(notes()).toMatchObject([{ to: loser, text: `Already decided by ${winner?.name}: it is approved.` }]);
  });

  it("A4 is approved or rejected, never both: what runs is what was recorded", async () => {
    for (let i = 0; i < 3; i++) {
      const { thread, sessionId, card } = await proposed();
      const before = applies().length;
      await race(
        t.core.pool,
        holdSession(sessionId),
        () => t.receive(clickCard(thread, card, "approve", ANA)),
        () => t.receive(clickCard(thread, card, "reject", BEN)),
      );
      await t.drain();
      const events = await decisionEvents(sessionId);
      expect(events).toHaveLength(1);
      const approved = events[0]?.type === "approval.approved";
      expect((await decision(card.decisionId))?.status).toBe(approved ? "applied" : "rejected");
      expect(applies()).toHaveLength(before + (approved ? 1 : 0));
    }
  });

  it.each([
    ["a millisecond before it expires, is approved", -1, "approved", "applied"],
    ["in the millisecond it expires, is not", 0, "expired", "expired"],
    ["a millisecond after it expired, is not", 1, "expired", "expired"],
  ])("A4 on the database's clock, clicked %s", async (_, offset, event, status) => {
    await t.freezeAt("2030-01-01T00:00:00.000Z");
    const { thread, sessionId, card } = await proposed();
    expect((await decision(card.decisionId))?.expiresAt).toBe("2030-01-02T00:00:00.000Z");
    await t.passTime(DAY + offset);
    await t.receive(clickCard(thread, card, "approve"));
    await t.drain();
    expect((await decisionEvents(sessionId)).map((e) => e.type)).toEqual([`approval.${event}`]);
    expect(t.lastCard().status).toBe(status);
    expect(applies()).toHaveLength(status === "applied" ? 1 : 0);
    expect(notes()).toHaveLength(status === "applied" ? 0 : 1);
  });

  it("A4 expires by the sweep, counted from the card's delivery: one that nobody saw has all its time", async () => {
    await t.freezeAt("2030-01-01T00:00:00.000Z");
    t.chat.answerNext(() => ({ outcome: "retry", code: "limited", afterMs: 2 * DAY }));
    t.model.script({ calls: [{ tool: "attach", input: {} }] });
    const { sessionId } = (await t.receive(post(newThread(), "go"))) as { sessionId: string };
    await t.drain();
    await t.passTime(2 * DAY);
    await sweep(t.core);
    expect(await decisionEvents(sessionId)).toEqual([]);
    await t.drain();
    const { decisionId } = t.lastCard();
    expect(await decision(decisionId)).toMatchObject({ status: "pending", expiresAt: "2030-01-04T00:00:00.000Z" });
    await t.passTime(DAY);
    await sweep(t.core);
    await t.drain();
    expect(t.lastCard()).toMatchObject({ status: "expired" });
    expect(t.runtime.renders.at(-1)?.input).toMatchObject({ source: "system", payload: { outcome: "expired" } });
  });

  it("A4 is expired or approved, never both, when the sweep and a click meet", async () => {
    await t.freezeAt("2030-01-01T00:00:00.000Z");
    const { thread, sessionId, card } = await proposed();
    await t.passTime(DAY);
    await race<unknown>(
      t.core.pool,
      holdSession(sessionId),
      () => sweep(t.core),
      () => t.receive(clickCard(thread, card, "approve")),
    );
    await t.drain();
    expect((await decisionEvents(sessionId)).map((e) => e.type)).toEqual(["approval.expired"]);
    expect(applies()).toEqual([]);
  });

  it("A6 G3 is decided once by one click delivered twice at once", async () => {
    const { thread, card } = await proposed();
    const click = clickCard(thread, card, "approve");
    const received = await race(
      t.core.pool,
      holdReceived(click.dedupe[0] ?? ""),
      () => t.receive(click),
      () => t.receive(click),
    );
    expect(received.map((r) => r.status).sort()).toEqual(["duplicate", "received"]);
    await t.drain();
    expect(applies()).toHaveLength(1);
    expect(notes()).toEqual([]);
  });

  it("A5 is started once by two workers, and by a wake that comes again when it is over", async () => {
    const { thread, sessionId, card } = await proposed();
    await t.receive(clickCard(thread, card, "approve"));
    t.wakes.lose();
    const other = t.anotherWorker();
    await race(
      t.core.pool,
      holdSession(sessionId),
      () => applyDecision(t.core, card.decisionId),
      () => applyDecision(other, card.decisionId),
    );
    await applyDecision(other, card.decisionId);
    expect(applies()).toHaveLength(1);
    expect(await listAttempts(t.core.pool, card.decisionId)).toHaveLength(1);
  });

  it("A5 is run again once by two people at once; the loser is told who has it run", async () => {
    t.runtime.tools.set("attach", {
      ...t.runtime.tools.get("attach"),
      apply: () => Promise.reject(threw({ traffic: { writes: [{ status: 500 }], opaque: 0 } })),
    });
    const { thread, sessionId, card } = await proposed();
    await t.receive(clickCard(thread, card, "approve"));
    await t.drain();
    expect((await decision(card.decisionId))?.status).toBe("unconfirmed");
    await race(
      t.core.pool,
      holdSession(sessionId),
      () => t.receive(clickCard(thread, card, "run-again", ANA)),
      () => t.receive(clickCard(thread, card, "run-again", BEN)),
    );
    t.runtime.tools.set("attach", { ...t.runtime.tools.get("attach"), apply: () => ({ attached: true }) });
    await t.drain();
    const attempts = await listAttempts(t.core.pool, card.decisionId);
    const winner = attempts[1]?.authorisedBy;
    expect(attempts.map((a) => a.outcome)).toEqual(["unconfirmed", "applied"]);
    expect(notes()).toMatchObject([{ text: `Already being run again, by ${winner?.name}.` }]);
    expect(applies().map((i) => i.decision?.id)).toEqual([card.decisionId, card.decisionId]);
  });

  it("A5 that is unconfirmed stays so when what would run again is not what was approved", async () => {
    t.runtime.tools.set("attach", {
      ...t.runtime.tools.get("attach"),
      apply: () => Promise.reject(threw({ traffic: { writes: [{ status: null }], opaque: 0 } })),
    });
    const { thread, card } = await proposed();
    await t.receive(clickCard(thread, card, "approve"));
    await t.drain();
    await t.core.pool.query("update deployments set manifest = replace(manifest::text, 'dddd', 'eeee')::json");
    const by = { provider: "api", workspaceId: "api", userId: "ops" } as const;
    const again = { decisionId: card.decisionId, verb: "run-again", by } as const;
    for (let i = 0; i < 2; i++) {
      await t.wakes.ring((await decideByApi(t.core, again)).wakes);
      await t.drain();
      expect(await decision(card.decisionId)).toMatchObject({ status: "unconfirmed", errorCode: "needs_reapproval" });
    }
    expect(applies()).toHaveLength(1);
  });
});
