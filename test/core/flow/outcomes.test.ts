import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Pool } from "../../../src/core/db/pool.ts";
import { verifyDecision } from "../../../src/core/flow/verifyDecision.ts";
import { findDecision } from "../../../src/core/store/decisions.ts";
import { noteVerified } from "../../../src/core/store/verification.ts";
import {
  clickCard,
  createTestCore,
  EndsWith,
  newThread,
  post,
  type TestCore,
  TOOLS,
  threw,
} from "../../helpers/core.ts";

describe("what became of a write", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterAll(() => t.close());

  async function proposed() {
    const thread = newThread();
    t.model.script({ calls: [{ tool: "attach", input: {} }] });
    await t.receive(post(thread, "go"));
    await t.drain();
    return { thread, card: t.lastCard() };
  }
  const statusOf = async (id: string) => (await findDecision(t.core.pool, id))?.status;

  it("A5 an outcome that comes while the database is away is committed when it is back", async () => {
    const { thread, card } = await proposed();
    let away = 0;
    t.runtime.tools.set("attach", {
      ...TOOLS["attach"],
      apply: () => {
        away = 2;
        return { attached: true };
      },
    });
    const connect = () => {
      if (away-- > 0) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      return t.core.pool.connect();
    };
    const bound = (value: unknown) => (typeof value === "function" ? value.bind(t.core.pool) : value);
    const pool = new Proxy(t.core.pool, {
      get: (of, key) => (key === "connect" ? async () => connect() : bound(Reflect.get(of, key))),
    });
    await t.receive(clickCard(thread, card, "approve"));
    await t.drain({ ...t.core, pool: pool as Pool });
    expect(away).toBeLessThan(0);
    expect(await statusOf(card.decisionId)).toBe("applied");
    expect(t.runtime.invokes.filter(({ entry }) => entry === "apply")).toHaveLength(1);
  });

  it("A5 what verify saw before a write was run again is not said of the new attempt", async () => {
    const { thread, card } = await proposed();
    let ask: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      ask = resolve;
    });
    let answer: (of: { applied: false; note: string }) => void = () => {};
    const answered = new Promise<{ applied: false; note: string }>((resolve) => {
      answer = resolve;
    });
    const lost = () => {
      throw new EndsWith({ kind: "lost", reason: "gone" });
    };
    const verify = () => ({ applied: "unknown", note: "seen after the second attempt" });
    t.runtime.tools.set("attach", {
      ...TOOLS["attach"],
      apply: lost,
      verify: async () => {
        ask();
        return await answered;
      },
    });
    await t.receive(clickCard(thread, card, "approve"));
    const first = t.drain();
    await asked;

    t.runtime.tools.set("attach", { ...TOOLS["attach"], apply: lost, verify });
    const other = t.anotherWorker();
    await t.receive(clickCard(thread, card, "run-again"));
    await t.drain(other);
    answer({ applied: false, note: "nothing there" });
    await first;
    expect(await findDecision(t.core.pool, card.decisionId)).toMatchObject({
      status: "unconfirmed",
      attempt: 2,
      verifyNote: "seen after the second attempt",
    });
    expect(
      await noteVerified(t.core.pool, card.decisionId, { attempt: 1, looks: 0, note: "late", againMs: null }),
    ).toBe(null);
    await verifyDecision(t.core, card.decisionId);
  });

  it("A5 a throw before anything was sent says that nothing was written, and not that the target refused", async () => {
    const { thread, card } = await proposed();
    t.runtime.tools.set("attach", {
      ...TOOLS["attach"],
      apply: () => {
        throw threw();
      },
    });
    await t.receive(clickCard(thread, card, "approve"));
    await t.drain();
    expect(await findDecision(t.core.pool, card.decisionId)).toMatchObject({
      status: "failed",
      errorCode: "apply_not_applied",
    });
  });
});
