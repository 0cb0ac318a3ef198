import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isOutage } from "../../../src/core/db/outage.ts";
import { createPool, type Pool } from "../../../src/core/db/pool.ts";
import { applyDecision } from "../../../src/core/flow/applyDecision.ts";
import { DEFAULT_WORKER_LIMITS, type WorkerCore } from "../../../src/core/flow/core.ts";
import { deliver } from "../../../src/core/flow/deliver.ts";
import { receiveInbound } from "../../../src/core/flow/receiveInbound.ts";
import { runTurns } from "../../../src/core/flow/runTurn.ts";
import { sweep } from "../../../src/core/flow/sweep.ts";
import { listAttempts } from "../../../src/core/store/attempts.ts";
import { findDecision } from "../../../src/core/store/decisions.ts";
import { clickCard, createTestCore, newThread, post, type TestCore } from "../../helpers/core.ts";
import { silentLog } from "../../helpers/log.ts";
import { createTcpProxy, type TcpProxy } from "../../helpers/tcpProxy.ts";

const PAST_THE_LEASE = DEFAULT_WORKER_LIMITS.leaseMs + 1;
/** As pg sends it: a query of its own, which no arguments can be mistaken for. */
const COMMIT = "commit\0";
const MOMENTS = ["before", "after"] as const;

/** Fault 18: the connection is lost when a commit was sent, before or after PostgreSQL carried it out. */
describe("a commit nobody answered", () => {
  let t: TestCore;
  let proxy: TcpProxy;
  let pool: Pool;
  /** A worker whose database is behind the proxy. */
  let cut: WorkerCore;
  beforeAll(async () => {
    t = await createTestCore();
    const url = new URL(t.database.url);
    proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    pool = createPool({ url: url.href, max: 4, applicationName: "test", log: silentLog });
  });
  beforeEach(async () => {
    await t.reset();
    cut = { ...t.anotherWorker(), pool };
  });
  afterEach(() => cut.leases.close(0));
  afterAll(async () => {
    await pool.end();
    await proxy.close();
    await t.close();
  });

  const sentOf = async (work: Promise<unknown>): Promise<boolean> =>
    work.then(
      () => false,
      (error: unknown) => isOutage(error),
    );
  const count = async (of: string): Promise<number> =>
    (await t.core.pool.query<{ n: number }>(`select count(*)::int as n from ${of}`)).rows[0]?.n ?? -1;
  const applies = () => t.runtime.invokes.filter(({ entry }) => entry === "apply");

  /** The session of a post that was taken in. */
  async function received(): Promise<string> {
    const taken = await t.receive(post(newThread(), "hello"));
    return taken.status === "received" ? (taken.sessionId ?? "") : "";
  }
  async function proposed() {
    const thread = newThread();
    t.model.script({ calls: [{ tool: "attach", input: {} }] });
    await t.receive(post(thread, "go"));
    await t.drain();
    const card = t.lastCard();
    const status = async () => (await findDecision(t.core.pool, card.decisionId))?.status;
    return { id: card.decisionId, status, approve: clickCard(thread, card, "approve"), thread, card };
  }
  async function approved() {
    const made = await proposed();
    await t.receive(made.approve);
    t.wakes.lose();
    return made;
  }
  const sweepPastTheLease = async () => {
    await t.passTime(PAST_THE_LEASE);
    await sweep(t.core);
    await t.drain();
  };

  it.each(MOMENTS)("18 G2 of a post, %s: refused so that it comes again, and one turn then", async (when) => {
    const event = post(newThread(), "hello");
    const lost = proxy.cutAt("take-message", when);
    expect(await sentOf(receiveInbound(cut, event))).toBe(true);
    await lost;
    const again = await receiveInbound(cut, event);
    expect(again.status).toBe(when === "before" ? "received" : "duplicate");
    expect([await count("turns"), await count("sessions")]).toEqual([1, 1]);
    await t.passTime(4_000);
    await sweep(t.core);
    await t.drain();
    expect(t.chat.posts).toHaveLength(1);
  });

  it.each(MOMENTS)("18 A4 of a click, %s: refused, and whoever clicks then wins or is told who won", async (when) => {
    const { id, status, approve, thread, card } = await proposed();
    const lost = proxy.cutAt(COMMIT, when);
    expect(await sentOf(receiveInbound(cut, approve))).toBe(true);
    await lost;
    expect(await status()).toBe(when === "before" ? "pending" : "approved");
    await t.receive(clickCard(thread, card, "approve"));
    const notes = () => t.chat.posts.flatMap(({ message }) => (message.kind === "notice" ? [message.text] : []));
    await t.passTime(4_000);
    await sweep(t.core);
    await t.drain();
    expect(notes()).toEqual(when === "before" ? [] : [expect.stringMatching(/^Already decided by Ana: it is /)]);
    expect([await status(), applies().length]).toEqual(["applied", 1]);
    expect(await listAttempts(t.core.pool, id)).toHaveLength(1);
  });

  it.each(MOMENTS)("18 A5 of the start of an apply, %s: not started, or unconfirmed; never run twice", async (when) => {
    const { id, status } = await approved();
    const lost = proxy.cutAt(COMMIT, when);
    expect(await sentOf(applyDecision(cut, id))).toBe(true);
    await lost;
    expect([await status(), applies().length]).toEqual([when === "before" ? "approved" : "applying", 0]);
    await sweepPastTheLease();
    await sweepPastTheLease();
    const [expected, ran] = when === "before" ? ["applied", 1] : ["unconfirmed", 0];
    expect([await status(), applies().length]).toEqual([expected, ran]);
    expect(await listAttempts(t.core.pool, id)).toHaveLength(1);
  });

  it.each(MOMENTS)("18 A5 of an apply's outcome, %s: told again under the fence, and told once", async (when) => {
    const { id, status } = await approved();
    let lost = Promise.resolve();
    t.runtime.tools.set("attach", {
      ...t.runtime.tools.get("attach"),
      apply: () => {
        lost = proxy.cutAt(COMMIT, when);
        return { attached: true };
      },
    });
    await applyDecision(cut, id);
    await lost;
    expect([await status(), applies().length]).toEqual(["applied", 1]);
    expect(await listAttempts(t.core.pool, id)).toMatchObject([{ attempt: 1, outcome: "applied", evidence: null }]);
    await t.passTime(4_000);
    await sweep(t.core);
    await t.drain();
    expect(await count("events where type = 'approval.applied'")).toBe(1);
    expect(t.lastCard().status).toBe("applied");
    const told = t.runtime.renders.filter(({ input }) => input.source === "system");
    expect(told.map(({ input }) => input.payload)).toEqual([{ decisionId: id, outcome: "applied" }]);
  });

  it.each(MOMENTS)("18 S2 of a turn's end, %s: the thread has one answer", async (when) => {
    const sessionId = await received();
    t.wakes.lose();
    t.model.script(() => {
      void proxy.cutAt(COMMIT, when);
      return { text: "Hello!" };
    });
    expect(await sentOf(runTurns(cut, sessionId))).toBe(true);
    await sweepPastTheLease();
    expect(t.chat.posts).toHaveLength(1);
    expect(await count("turns where status = 'completed'")).toBe(1);
  });

  it.each(MOMENTS)("18 G5 of a delivery, %s: one message", async (when) => {
    const sessionId = await received();
    await runTurns(t.core, sessionId);
    t.wakes.lose();
    const lost = proxy.cutAt("mark-sent", when);
    expect(await sentOf(deliver(cut, sessionId))).toBe(true);
    await lost;
    await sweepPastTheLease();
    expect([t.chat.posts.length, t.chat.sends.length]).toEqual([1, 1]);
    expect(await count("deliveries where status = 'sent'")).toBe(1);
  });
});
