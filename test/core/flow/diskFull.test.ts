import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isOutage } from "../../../src/core/db/outage.ts";
import { applyDecision } from "../../../src/core/flow/applyDecision.ts";
import { receiveInbound } from "../../../src/core/flow/receiveInbound.ts";
import { sweep } from "../../../src/core/flow/sweep.ts";
import { listAttempts } from "../../../src/core/store/attempts.ts";
import { findDecision } from "../../../src/core/store/decisions.ts";
import { clickCard, createTestCore, newThread, post, type TestCore, waitUntil } from "../../helpers/core.ts";
import { fillDisk, makeRoom } from "../../helpers/diskFull.ts";

/** Fault 30: the disk is full, for one table after another. */
describe("a full disk", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterEach(() => makeRoom(t.core.pool));
  afterAll(() => t.close());

  const fails = (work: Promise<unknown>): Promise<boolean> =>
    work.then(
      () => false,
      (error: unknown) => isOutage(error),
    );
  const count = async (of: string): Promise<number> =>
    (await t.core.pool.query<{ n: number }>(`select count(*)::int as n from ${of}`)).rows[0]?.n ?? -1;
  const applies = () => t.runtime.invokes.filter(({ entry }) => entry === "apply");

  async function proposed() {
    const thread = newThread();
    t.model.script({ calls: [{ tool: "attach", input: {} }] });
    await t.receive(post(thread, "go"));
    await t.drain();
    const card = t.lastCard();
    const status = async () => (await findDecision(t.core.pool, card.decisionId))?.status;
    return { id: card.decisionId, status, click: () => clickCard(thread, card, "approve") };
  }
  async function approved() {
    const made = await proposed();
    await t.receive(made.click());
    t.wakes.lose();
    return made;
  }

  it.each([
    ["inbox", "at once"],
    ["events", "at once"],
    ["turns", "at the commit"],
  ] as const)(
    "30 G2 of %s, %s: a post is refused so that it comes again, and is one turn then",
    async (table, when) => {
      const event = post(newThread(), "hello");
      await fillDisk(t.core.pool, table, when);
      expect(await fails(receiveInbound(t.core, event))).toBe(true);
      expect([await count("inbox"), await count("sessions"), await count("turns")]).toEqual([0, 0, 0]);
      await makeRoom(t.core.pool);
      await t.receive(event);
      await t.drain();
      expect([await count("turns"), t.chat.posts.length]).toEqual([1, 1]);
    },
  );

  it.each([
    ["inbox", "at once"],
    ["decisions", "at once"],
    ["events", "at once"],
    ["deliveries", "at the commit"],
    ["decision_record", "at once"],
    ["decision_record", "at the commit"],
  ] as const)("30 of %s, %s: nothing is decided, and a click decides once there is room", async (table, when) => {
    const { status, click } = await proposed();
    await fillDisk(t.core.pool, table, when);
    expect(await fails(receiveInbound(t.core, click()))).toBe(true);
    expect(await status()).toBe("pending");
    await makeRoom(t.core.pool);
    await t.receive(click());
    await t.drain();
    expect([await status(), applies().length]).toEqual(["applied", 1]);
  });

  it.each([
    ["decision_attempts", "at once"],
    ["events", "at the commit"],
    ["decision_record", "at once"],
    ["decision_record", "at the commit"],
  ] as const)("30 A5 of %s, %s: no apply is started, until there is room", async (table, when) => {
    const { id, status } = await approved();
    await fillDisk(t.core.pool, table, when);
    for (let i = 0; i < 3; i++) expect(await fails(applyDecision(t.core, id))).toBe(true);
    expect([await status(), applies().length]).toEqual(["approved", 0]);
    await makeRoom(t.core.pool);
    await t.passTime(4_000);
    await sweep(t.core);
    await t.drain();
    expect([await status(), applies().length]).toEqual(["applied", 1]);
    expect(await listAttempts(t.core.pool, id)).toHaveLength(1);
  });

  it.each([
    ["decisions", "at once"],
    ["decision_record", "at once"],
    ["deliveries", "at the commit"],
  ] as const)("30 A5 of %s, %s: an outcome waits, and is committed when there is room", async (table, when) => {
    const { id, status } = await approved();
    t.runtime.tools.set("attach", {
      ...t.runtime.tools.get("attach"),
      apply: async () => {
        await fillDisk(t.core.pool, table, when);
        return { attached: true };
      },
    });
    const before = t.log.lines.length;
    const running = applyDecision(t.core, id);
    const waits = () =>
      t.log.lines.slice(before).some(({ message }) => message === "an outcome waits for the database");
    await waitUntil(waits, "the outcome to be refused");
    expect(await status()).toBe("applying");
    await makeRoom(t.core.pool);
    await running;
    expect([await status(), applies().length]).toEqual(["applied", 1]);
  });

  it("30 ends a sweep at the first row, and settles the rest once there is room", async () => {
    const pending = [await proposed(), await proposed()];
    await t.passTime(25 * 3_600_000);
    await fillDisk(t.core.pool, "decision_record");
    const before = t.log.lines.length;
    expect(await fails(sweep(t.core))).toBe(true);
    expect(t.log.lines.slice(before)).toEqual([]);
    await makeRoom(t.core.pool);
    await sweep(t.core);
    for (const { status } of pending) expect(await status()).toBe("expired");
  });
});
