import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Json } from "../../../src/core/domain/json.ts";
import { applyDecision } from "../../../src/core/flow/applyDecision.ts";
import { DEFAULT_WORKER_LIMITS } from "../../../src/core/flow/core.ts";
import { sweep } from "../../../src/core/flow/sweep.ts";
import { verifyDecision } from "../../../src/core/flow/verifyDecision.ts";
import { listAttempts } from "../../../src/core/store/attempts.ts";
import { findDecision } from "../../../src/core/store/decisions.ts";
import type { FakeTool } from "../../helpers/core/runtime.ts";
import {
  clickCard,
  createTestCore,
  EndsWith,
  newThread,
  post,
  type TestCore,
  threw,
  waitUntil,
} from "../../helpers/core.ts";

const PAST_THE_LEASE = DEFAULT_WORKER_LIMITS.leaseMs + 1;

describe("an apply whose worker or answer is lost", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterAll(() => t.close());

  const attach = (over: FakeTool) => t.runtime.tools.set("attach", { ...t.runtime.tools.get("attach"), ...over });
  const applies = () => t.runtime.invokes.filter((i) => i.entry === "apply");
  const outcomes = () => t.runtime.renders.flatMap((r) => (r.input.source === "system" ? [r.input.payload] : []));

  /** Approved by a click, and nothing rung for it. */
  async function approved() {
    const thread = newThread();
    t.model.script({ calls: [{ tool: "attach", input: {} }] });
    await t.receive(post(thread, "go"));
    await t.drain();
    const card = t.lastCard();
    await t.receive(clickCard(thread, card, "approve"));
    t.wakes.lose();
    const id = card.decisionId;
    return {
      id,
      runAgain: () => t.receive(clickCard(thread, card, "run-again")),
      status: async () => (await findDecision(t.core.pool, id))?.status,
      attempts: async () => (await listAttempts(t.core.pool, id)).map((a) => [a.outcome, a.evidence !== null]),
    };
  }

  /** A worker that starts the apply and renews no more; its tool answers when told to. */
  async function vanish(
    id: string,
  ): Promise<{ answer(value: Json): Promise<void>; fail(error: Error): Promise<void> }> {
    let resolve = (_: Json) => {};
    let reject = (_: Error) => {};
    let called = false;
    const answer = new Promise<Json>((yes, no) => {
      [resolve, reject] = [yes, no];
    });
    attach({
      apply: () => {
        called = true;
        return answer;
      },
    });
    const running = applyDecision(t.anotherWorker(), id);
    await waitUntil(() => called, "apply to be called");
    return {
      answer(value) {
        resolve(value);
        return running;
      },
      fail(error) {
        reject(error);
        return running;
      },
    };
  }
  const sweepPastTheLease = async () => {
    await t.passTime(PAST_THE_LEASE);
    await sweep(t.core);
    await t.drain();
  };

  it("A5 has its start committed before apply is called", async () => {
    const { id, status, attempts } = await approved();
    attach({
      apply: async () => {
        expect([await status(), await attempts()]).toEqual(["applying", [[null, false]]]);
        return null;
      },
    });
    await applyDecision(t.core, id);
    expect([await status(), await attempts()]).toEqual(["applied", [["applied", false]]]);
  });

  it("A5 lost before the start, runs once: the sweep rings again", async () => {
    const { id, status } = await approved();
    await t.passTime(4_000);
    await sweep(t.core);
    expect(t.wakes.waiting).toContainEqual({ kind: "apply", id });
    await t.drain();
    expect(applies()).toHaveLength(1);
    expect(await status()).toBe("applied");
  });

  it("A5 lost after the start, is unconfirmed, and nothing but a person runs it again", async () => {
    const { id, status } = await approved();
    await vanish(id);
    await t.passTime(PAST_THE_LEASE);
    for (let i = 0; i < 3; i++) {
      await sweep(t.core);
      await t.drain();
      await applyDecision(t.core, id);
      await t.passTime(60_000);
    }
    expect(await status()).toBe("unconfirmed");
    expect(applies()).toHaveLength(1);
    expect(t.lastCard()).toMatchObject({
      status: "unconfirmed",
      note: expect.stringMatching(/It may have been written/),
    });
    expect(outcomes()).toMatchObject([{ outcome: "unconfirmed" }]);
  });

  it("A5 is applied by a late report of its latest attempt, on the card and to the session", async () => {
    const { id, status, attempts } = await approved();
    const lost = await vanish(id);
    await sweepPastTheLease();
    expect(await status()).toBe("unconfirmed");
    await lost.answer({ attached: true });
    await t.drain();
    expect(await status()).toBe("applied");
    expect(await attempts()).toEqual([["unconfirmed", true]]);
    expect(t.lastCard().status).toBe("applied");
    expect(outcomes()).toMatchObject([{ outcome: "unconfirmed" }, { outcome: "applied" }]);
  });

  it("A5 is not made failed by a late report that nothing was written: it is evidence", async () => {
    const { id, status, attempts } = await approved();
    const lost = await vanish(id);
    await sweepPastTheLease();
    await lost.fail(threw({ notApplied: true }));
    expect(await status()).toBe("unconfirmed");
    expect(await attempts()).toEqual([["unconfirmed", true]]);
  });

  it("A5 takes the report of an older attempt as evidence alone, whatever the newer one does", async () => {
    const { id, status, attempts, runAgain } = await approved();
    const first = await vanish(id);
    await sweepPastTheLease();
    await runAgain();
    t.wakes.lose();
    const second = await vanish(id);
    await first.answer({ attached: true });
    expect([await status(), await attempts()]).toEqual([
      "applying",
      [
        ["unconfirmed", true],
        [null, false],
      ],
    ]);
    await second.fail(threw({ notApplied: true }));
    expect([await status(), await attempts()]).toEqual([
      "unconfirmed",
      [
        ["unconfirmed", true],
        ["unconfirmed", false],
      ],
    ]);
  });

  it("A5 stays unconfirmed when an older attempt reports after the newer one was lost, too", async () => {
    const { id, status, attempts, runAgain } = await approved();
    const first = await vanish(id);
    await sweepPastTheLease();
    await runAgain();
    t.wakes.lose();
    const second = await vanish(id);
    await sweepPastTheLease();
    await first.answer({ attached: true });
    expect([await status(), await attempts()]).toEqual([
      "unconfirmed",
      [
        ["unconfirmed", true],
        ["unconfirmed", false],
      ],
    ]);
    await second.answer({ attached: true });
    expect(await status()).toBe("applied");
  });

  it("A9 cannot be clicked while it is run again: the card says that it is", async () => {
    const { id, runAgain } = await approved();
    await vanish(id);
    await sweepPastTheLease();
    expect(t.lastCard().status).toBe("unconfirmed");
    await runAgain();
    t.wakes.lose();
    await vanish(id);
    await t.drain();
    expect(t.lastCard().status).toBe("applying");
  });

  it("A5 asked to run again while the late report arrives, makes no second attempt", async () => {
    const { id, status, attempts, runAgain } = await approved();
    const lost = await vanish(id);
    await sweepPastTheLease();
    await runAgain();
    await lost.answer(null);
    await t.drain();
    expect([await status(), await attempts()]).toEqual(["applied", [["unconfirmed", true]]]);
    expect(applies()).toHaveLength(1);
  });

  it("keeps its lease for as long as its worker renews, however long it takes", async () => {
    const { id, status } = await approved();
    let answer = () => {};
    attach({ apply: () => new Promise((resolve) => (answer = () => resolve(null))) });
    const running = applyDecision(t.core, id);
    await waitUntil(() => applies().length === 1);
    for (let i = 0; i < 4; i++) {
      await t.passTime(PAST_THE_LEASE / 2);
      await t.core.leases.beat();
      await sweep(t.core);
    }
    expect(await status()).toBe("applying");
    answer();
    await running;
    expect(await status()).toBe("applied");
  });

  it.each<[string, EndsWith | Error, string, string | null]>([
    ["a timeout", new EndsWith({ kind: "timedOut" }), "unconfirmed", "apply_unconfirmed"],
    ["a lost process", new EndsWith({ kind: "lost", reason: "SIGKILL" }), "unconfirmed", "apply_unconfirmed"],
    ["a 5xx", threw({ traffic: { writes: [{ status: 500 }], opaque: 0 } }), "unconfirmed", "apply_unconfirmed"],
    ["NotApplied", threw({ notApplied: true }), "failed", "apply_not_applied"],
    ["a refusal", threw({ traffic: { writes: [{ status: 422 }], opaque: 0 } }), "failed", "apply_refused"],
  ])("A5 A9 %s is what it is, on the card and to the session", async (_, end, outcome, errorCode) => {
    const { id } = await approved();
    attach({ apply: () => Promise.reject(end) });
    await applyDecision(t.core, id);
    await t.drain();
    expect(await findDecision(t.core.pool, id)).toMatchObject({ status: outcome, errorCode });
    expect(t.lastCard().status).toBe(outcome);
    expect(outcomes()).toMatchObject([{ outcome }]);
  });

  it("A5 fails when there was no process to run it in: nothing was called", async () => {
    const { id } = await approved();
    t.runtime.failLease(new Error("no memory"));
    await applyDecision(t.core, id);
    expect(await findDecision(t.core.pool, id)).toMatchObject({ status: "failed" });
    expect(applies()).toEqual([]);
  });

  it("A5 is settled by its tool's verify, which runs by itself; what it could not prove stands beside Run again", async () => {
    const answers: Json[] = [{ applied: "unknown", note: "Not listed\u0000 yet." }, { applied: true }];
    attach({
      apply: () => Promise.reject(new EndsWith({ kind: "timedOut" })),
      verify: () => answers.shift() ?? null,
    });
    const { id, status, runAgain } = await approved();
    await applyDecision(t.core, id);
    await t.drain();
    expect(await status()).toBe("unconfirmed");
    expect(t.lastCard()).toMatchObject({
      status: "unconfirmed",
      note: expect.stringContaining("Not listed\u0000 yet."),
    });
    await runAgain();
    await t.drain();
    expect(await status()).toBe("applied");
    expect(t.runtime.invokes.map((i) => i.entry)).toEqual(["preview", "apply", "verify", "apply", "verify"]);
    expect(t.runtime.leased).toEqual([]);
  });

  it("A5 is verified after a lost wake, and again while the target is away or shows nothing yet, for a day", async () => {
    const answers: (() => Json)[] = [
      () => {
        throw new Error("the target is away");
      },
      () => ({ applied: false }),
      () => ({ applied: true }),
    ];
    attach({
      apply: () => Promise.reject(new EndsWith({ kind: "timedOut" })),
      verify: () => answers.shift()?.() ?? null,
    });
    const { id, status } = await approved();
    await applyDecision(t.core, id);
    t.wakes.lose();
    const looked = async (ms: number) => {
      await t.passTime(ms);
      await sweep(t.core);
      await t.drain();
      return 3 - answers.length;
    };
    expect(await looked(4_000)).toBe(1);
    expect(await looked(59_000)).toBe(1);
    expect(await looked(1_000)).toBe(2);
    expect(await status()).toBe("unconfirmed");
    expect(await looked(299_000)).toBe(2);
    expect(await looked(1_000)).toBe(3);
    expect(await status()).toBe("applied");
    const { rows } = await t.core.pool.query("select evidence from decision_attempts");
    expect(rows).toMatchObject([{ evidence: { verified: { applied: true } } }]);
  });

  it("A5 is looked at by one worker at a time, however long its target lets that one wait", async () => {
    const asked: ((answer: Json) => void)[] = [];
    attach({
      apply: () => Promise.reject(new EndsWith({ kind: "timedOut" })),
      verify: () => new Promise<Json>((answer) => asked.push(answer)),
    });
    const { id, status } = await approved();
    await applyDecision(t.core, id);
    const looking = t.drain();
    await waitUntil(() => asked.length === 1, "verify to be called");
    for (let seconds = 2; seconds <= 30; seconds += 2) {
      await t.passTime(2_000);
      await sweep(t.core);
      await verifyDecision(t.anotherWorker(), id);
    }
    expect(asked).toHaveLength(1);
    asked[0]?.({ applied: "unknown" });
    await looking;
    expect(await findDecision(t.core.pool, id)).toMatchObject({ status: "unconfirmed", verifyLooks: 1 });
    await verifyDecision(t.core, id);
    expect(asked).toHaveLength(1);

    await t.passTime(60_000);
    void verifyDecision(t.anotherWorker(), id);
    await waitUntil(() => asked.length === 2, "a worker that vanishes then to look");
    await t.passTime(46_000);
    await sweep(t.core);
    const after = t.drain();
    await waitUntil(() => asked.length === 3, "another one to look");
    asked[2]?.({ applied: true });
    await after;
    expect(await status()).toBe("applied");
  });

  it("A5 is looked at six times in a day and a half, and not at all where the tool has no verify", async () => {
    attach({ apply: () => Promise.reject(new EndsWith({ kind: "timedOut" })), verify: () => ({ applied: "unknown" }) });
    const { id } = await approved();
    await applyDecision(t.core, id);
    await t.drain();
    for (const minutes of [1, 5, 30, 180, 1_440, 10_000, 10_000]) {
      await t.passTime(minutes * 60_000);
      await sweep(t.core);
      await t.drain();
    }
    const looks = () => t.runtime.invokes.filter(({ entry }) => entry === "verify").length;
    expect(looks()).toBe(6);

    attach({ apply: () => Promise.reject(new EndsWith({ kind: "timedOut" })) });
    await t.deploy({ id: "dpl_2", verifies: false });
    const other = await approved();
    await applyDecision(t.core, other.id);
    await t.drain();
    await t.passTime(60_000);
    await sweep(t.core);
    await t.drain();
    expect(await other.status()).toBe("unconfirmed");
    expect(looks()).toBe(6);
  });
});
