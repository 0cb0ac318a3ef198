import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MAX_LOOK_UPS, OFFER_AGAIN_MS } from "../../../src/core/domain/delivery.ts";
import { DEFAULT_WORKER_LIMITS } from "../../../src/core/flow/core.ts";
import { decideByApi } from "../../../src/core/flow/decide.ts";
import { deliver } from "../../../src/core/flow/deliver.ts";
import { runTurns } from "../../../src/core/flow/runTurn.ts";
import { sweep } from "../../../src/core/flow/sweep.ts";
import { getDecision } from "../../../src/core/flow/views.ts";
import { BEN, clickCard, createTestCore, newThread, post, race, type TestCore, waitUntil } from "../../helpers/core.ts";
import { waitForLock } from "../../helpers/database.ts";

const PAST_THE_LEASE = DEFAULT_WORKER_LIMITS.leaseMs + 1;

describe("a delivery", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterAll(() => t.close());

  /** A session with these answers queued, none of them sent. */
  async function queued(...texts: string[]): Promise<string> {
    const thread = newThread();
    t.model.script(...texts.map((text) => ({ text })));
    let sessionId = "";
    for (const text of texts) ({ sessionId } = (await t.receive(post(thread, text))) as { sessionId: string });
    await runTurns(t.core, sessionId);
    t.wakes.lose();
    return sessionId;
  }
  const shown = () => t.chat.posts.flatMap(({ message }) => (message.kind === "text" ? [message.text] : []));
  const rows = async () =>
    (
      await t.core.pool.query<{ status: string; error_code: string | null; attempt: number }>(
        "select status, error_code, attempt from deliveries order by position",
      )
    ).rows;

  it("G5 goes out in the order of its session, once", async () => {
    const lane = await queued("one", "two", "three");
    await deliver(t.core, lane);
    await deliver(t.core, lane);
    expect(shown()).toEqual(["one", "two", "three"]);
    expect(t.chat.sends).toHaveLength(3);
  });

  it("G5 is sent by one of two workers, and the lane keeps its order", async () => {
    const lane = await queued("one", "two", "three");
    const head = "select from deliveries where lane = $1 order by position limit 1 for update";
    await race(
      t.core.pool,
      { text: head, values: [lane] },
      () => deliver(t.core, lane),
      () => deliver(t.anotherWorker(), lane),
    );
    expect(shown()).toEqual(["one", "two", "three"]);
    expect(t.chat.sends).toHaveLength(3);
  });

  it("G5 whose answer was lost is looked for, found, and not posted again", async () => {
    const lane = await queued("one", "two");
    t.chat.answerNext((_, accept) => {
      accept();
      return { outcome: "unknown", code: "socket_reset" };
    });
    await deliver(t.core, lane);
    expect((await rows())[0]).toMatchObject({ status: "unknown", error_code: "socket_reset" });
    expect(shown()).toEqual(["one"]);
    await t.passTime(1_000);
    await t.drain();
    expect(shown()).toEqual(["one", "two"]);
    expect(t.chat.finds).toHaveLength(1);
    expect((await rows()).map((r) => r.status)).toEqual(["sent", "sent"]);
  });

  it("G5 that is not there after an unknown outcome is posted once more", async () => {
    const lane = await queued("one");
    t.chat.answerNext(() => ({ outcome: "unknown", code: "timeout" }));
    await deliver(t.core, lane);
    await t.passTime(1_000);
    await t.drain();
    expect(shown()).toEqual(["one"]);
    expect(t.chat.sends).toHaveLength(2);
  });

  it("G5 stays unknown while the platform cannot say, and is dead and logged when it never can", async () => {
    const lane = await queued("one");
    t.chat.answerNext(() => ({ outcome: "unknown", code: "timeout" }));
    await deliver(t.core, lane);
    for (let i = 2; i <= MAX_LOOK_UPS; i++) {
      expect((await rows())[0]?.status).toBe("unknown");
      t.chat.findNext({ found: "unknown" });
      await t.passTime(400_000);
      await t.drain();
    }
    expect(await rows()).toMatchObject([{ status: "dead", error_code: "outcome_unknown" }]);
    expect(t.chat.sends).toHaveLength(1);
    expect(t.log.lines.at(-1)).toMatchObject({ level: "error", fields: { code: "outcome_unknown" } });
  });

  it.each([
    ["after the platform had it, is found", true, 1],
    ["before the platform had it, is posted then", false, 2],
  ])("G5 whose worker vanished %s", async (_, posted, sends) => {
    const lane = await queued("one");
    t.chat.answerNext((_outgoing, accept) => {
      if (posted) accept();
      return new Promise(() => {});
    });
    void deliver(t.anotherWorker(), lane);
    await waitUntil(() => t.chat.sends.length === 1);
    await deliver(t.core, lane);
    expect(t.chat.sends).toHaveLength(1);
    await t.passTime(PAST_THE_LEASE);
    await sweep(t.core);
    await t.drain();
    expect(shown()).toEqual(["one"]);
    expect(t.chat.sends).toHaveLength(sends);
    expect(await rows()).toMatchObject([{ status: "sent" }]);
  });

  it("G5 waits as long as the platform says, and its lane behind it; another lane does not", async () => {
    const [lane, other] = [await queued("one", "two"), await queued("elsewhere")];
    t.chat.answerNext(() => ({ outcome: "retry", code: "limited", afterMs: 30_000 }));
    await deliver(t.core, lane);
    await deliver(t.core, other);
    await deliver(t.core, lane);
    expect(shown()).toEqual(["elsewhere"]);
    await t.passTime(30_000);
    await t.drain();
    expect(shown()).toEqual(["elsewhere", "one", "two"]);
  });

  it("is not lost with its wake: the sweep rings for what is due", async () => {
    const lane = await queued("one");
    t.chat.answerNext(() => ({ outcome: "retry", code: "limited", afterMs: 30_000 }));
    await deliver(t.core, lane);
    t.wakes.lose();
    await t.passTime(20_000);
    await sweep(t.core);
    expect(t.wakes.waiting).toEqual([]);
    await t.passTime(15_000);
    await sweep(t.core);
    expect(t.wakes.waiting).toEqual([{ kind: "deliver", id: lane }]);
    await t.drain();
    expect(shown()).toEqual(["one"]);
  });

  it("that the platform never accepts is dead, logged, and holds up nothing", async () => {
    const lane = await queued("one", "two");
    t.chat.answerNext(() => ({ outcome: "dead", code: "channel_not_found" }));
    await deliver(t.core, lane);
    expect(shown()).toEqual(["two"]);
    expect((await rows())[0]).toMatchObject({ status: "dead", error_code: "channel_not_found" });
  });

  it("of a sender that throws is an unknown outcome", async () => {
    const lane = await queued("one");
    t.chat.answerNext((_, accept) => {
      accept();
      throw new Error("a bug");
    });
    await deliver(t.core, lane);
    await t.passTime(1_000);
    await t.drain();
    expect(t.chat.sends).toHaveLength(1);
    expect(shown()).toEqual(["one"]);
  });

  const DAY_MS = 24 * 3_600_000;

  it("is refused for now for a day before it is given up: a missing scope can be mended meanwhile", async () => {
    const lane = await queued("one", "two");
    t.chat.answerNext(() => ({ outcome: "retry", code: "missing_scope" }));
    await deliver(t.core, lane);
    t.chat.answerNext(() => ({ outcome: "retry", code: "missing_scope" }));
    await t.passTime(DAY_MS - 1_000);
    await t.drain();
    expect((await rows())[0]).toMatchObject({ status: "queued", error_code: "missing_scope" });
    t.chat.answerNext(() => ({ outcome: "retry", code: "missing_scope" }));
    await t.passTime(400_000);
    await t.drain();
    expect(await rows()).toMatchObject([{ status: "dead", error_code: "missing_scope" }, { status: "sent" }]);
    expect(shown()).toEqual(["two"]);
  });

  it("G5 waits as long as the platform asks, but never for days", async () => {
    const lane = await queued("one");
    t.chat.answerNext(() => ({ outcome: "retry", code: "ratelimited", afterMs: 30_000 }));
    await deliver(t.core, lane);
    await t.passTime(29_000);
    await deliver(t.core, lane);
    expect(t.chat.sends).toHaveLength(1);
    t.chat.answerNext(() => ({ outcome: "retry", code: "ratelimited", afterMs: 30 * DAY_MS }));
    await t.passTime(1_000);
    await t.drain();
    await t.passTime(15 * 60_000);
    await t.drain();
    expect(shown()).toEqual(["one"]);
  });

  it.each([0, -5_000, Number.NaN])(
    "G5 is not asked about in a circle where the platform asks for %i ms",
    async (afterMs) => {
      const lane = await queued("one");
      t.chat.answerNext(() => ({ outcome: "retry", code: "ratelimited", afterMs }));
      await deliver(t.core, lane);
      await t.drain();
      expect(t.chat.sends).toHaveLength(1);
      expect(t.wakes.delayed).toHaveLength(1);
      await t.passTime(1_000);
      await t.drain();
      expect(shown()).toEqual(["one"]);
    },
  );

  describe("of a card", () => {
    const proposed = async () => {
      const thread = newThread();
      t.model.script({ calls: [{ tool: "attach", input: {} }] });
      await t.receive(post(thread, "go"));
      return thread;
    };

    it("G5 A4 starts the time to decide when it is found, too", async () => {
      await proposed();
      t.chat.answerNext((_, accept) => {
        accept();
        return { outcome: "unknown", code: "socket_reset" };
      });
      await t.drain();
      const expiry = async () =>
        (await t.core.pool.query<{ at: Date | null }>("select expires_at as at from decisions")).rows[0]?.at;
      expect(await expiry()).toBeNull();
      await t.passTime(1_000);
      await t.drain();
      expect(await expiry()).not.toBeNull();
    });

    it("A9 redraws it in place, twice when the first edit was not answered", async () => {
      const thread = await proposed();
      await t.drain();
      t.chat.answerNext((_, accept) => {
        accept();
        return { outcome: "unknown", code: "socket_reset" };
      });
      await t.receive(clickCard(thread, t.lastCard(), "reject"));
      await t.drain();
      await t.passTime(1_000);
      await t.drain();
      expect(t.chat.posts.filter((p) => p.message.kind === "card")).toMatchObject([
        { edits: 2, message: { card: { status: "rejected" } } },
      ]);
      expect(t.chat.finds).toEqual([]);
    });

    it("A11 that could not be delivered leaves the decision pending; its redrawing has nothing to edit", async () => {
      await proposed();
      t.chat.answerNext(() => ({ outcome: "dead", code: "channel_not_found" }));
      await t.drain();
      const { rows: decisions } = await t.core.pool.query<{ id: string; status: string }>(
        "select id, status from decisions",
      );
      expect(decisions).toMatchObject([{ status: "pending" }]);
      expect((await getDecision(t.core, decisions[0]?.id ?? "")).card).toEqual({
        status: "undelivered",
        code: "channel_not_found",
      });
      const by = { provider: "api", workspaceId: "api", userId: "ops" } as const;
      await t.wakes.ring(
        (await decideByApi(t.core, { decisionId: decisions[0]?.id ?? "", verb: "approve", by })).wakes,
      );
      await t.drain();
      expect(t.runtime.invokes.map((i) => i.entry)).toEqual(["preview", "apply"]);
      expect((await rows()).filter((r) => r.status === "dead").map((r) => r.error_code)).toEqual([
        "channel_not_found",
        "nothing_to_edit",
        "nothing_to_edit",
      ]);
    });

    it("A11 28 that could not be delivered is offered again every hour, for as long as it asks", async () => {
      const thread = await proposed();
      t.chat.answerNext(() => ({ outcome: "dead", code: "channel_not_found" }));
      await t.drain();
      await t.passTime(OFFER_AGAIN_MS - 1_000);
      await sweep(t.core);
      await t.drain();
      expect((await rows())[0]).toMatchObject({ status: "dead", error_code: "channel_not_found" });
      await t.passTime(1_000);
      await sweep(t.core);
      await t.drain();
      expect((await rows())[0]).toMatchObject({ status: "sent", error_code: null });
      await t.receive(clickCard(thread, t.lastCard(), "approve"));
      await t.drain();
      expect(t.lastCard().status).toBe("applied");
    });

    it("A11 G5 that may be on the screen is looked for before it is offered again", async () => {
      await proposed();
      t.chat.answerNext((_, accept) => {
        accept();
        return { outcome: "unknown", code: "socket_reset" };
      });
      t.chat.findNext({ found: "never" });
      await t.drain();
      await t.passTime(1_000);
      await t.drain();
      expect((await rows())[0]).toMatchObject({ status: "dead", error_code: "outcome_unknown" });
      const cards = () => t.chat.posts.filter((p) => p.message.kind === "card");
      for (const still of [{ found: "unknown" }, { found: "never" }] as const) {
        t.chat.findNext(still);
        await t.passTime(OFFER_AGAIN_MS);
        await sweep(t.core);
        await t.drain();
        await t.passTime(400_000);
        await t.drain();
        expect(cards()).toHaveLength(1);
      }
      await t.passTime(OFFER_AGAIN_MS);
      await sweep(t.core);
      await t.drain();
      expect((await rows())[0]).toMatchObject({ status: "sent" });
      expect(cards()).toHaveLength(1);
    });

    it("A11 decided meanwhile over the API is not offered again", async () => {
      await proposed();
      t.chat.answerNext(() => ({ outcome: "dead", code: "channel_not_found" }));
      await t.drain();
      const by = { provider: "api", workspaceId: "api", userId: "ops" } as const;
      const { rows: decisions } = await t.core.pool.query<{ id: string }>("select id from decisions");
      await decideByApi(t.core, { decisionId: decisions[0]?.id ?? "", verb: "reject", by });
      await t.passTime(OFFER_AGAIN_MS);
      await sweep(t.core);
      expect((await rows())[0]).toMatchObject({ status: "dead" });
    });

    it("G5 goes behind answers where both wait for a limit to end", async () => {
      const answer = await queued("one");
      await proposed();
      await runTurns(
        t.core,
        (await t.core.pool.query<{ id: string }>("select id from sessions order by id desc")).rows[0]?.id ?? "",
      );
      const lanes = await t.core.pool.query<{ lane: string }>("select lane from deliveries order by position");
      t.wakes.lose();
      for (const { lane } of lanes.rows) {
        t.chat.answerNext(() => ({ outcome: "retry", code: "ratelimited", afterMs: 1_000 }));
        await deliver(t.core, lane);
      }
      expect(t.wakes.delayed.map(({ id, priority }) => [id === answer ? "answer" : "card", priority])).toEqual([
        ["answer", 0],
        ["card", 1],
      ]);
    });

    it("A9 is redrawn by a worker that claimed the edit while the card was being marked as sent", async () => {
      const thread = await proposed();
      t.chat.answerNext((_, accept) => accept());
      await t.drain();
      const { rows: cards } = await t.core.pool.query<{ id: string; lane: string }>(
        "update deliveries set status = 'sending', sent_at = null, ref = null where message->>'kind' = 'card' returning id, lane",
      );
      const { id = "", lane = "" } = cards[0] ?? {};
      await t.receive(clickCard(thread, t.lastCard(), "reject"));
      t.wakes.lose();
      const marking = await t.core.pool.connect();
      await marking.query("begin");
      await marking.query(
        "update deliveries set status = 'sent', ref = 'C1:1', sent_at = countersign_now() where id = $1",
        [id],
      );
      const delivering = deliver(t.core, lane);
      await waitForLock(t.core.pool);
      await marking.query("commit");
      marking.release();
      await delivering;
      expect(t.lastCard().status).toBe("rejected");
      expect(await rows()).toMatchObject([{ status: "sent" }, { status: "sent" }, { status: "sent" }]);
    });

    it("G5 a private note whose worker vanished is given up at once: no look can tell", async () => {
      const thread = await proposed();
      await t.drain();
      await t.receive(clickCard(thread, t.lastCard(), "approve", BEN));
      await t.core.pool.query(
        "update deliveries set status = 'sending', lease_until = countersign_now() where status = 'queued'",
      );
      await t.passTime(PAST_THE_LEASE);
      t.chat.findNext({ found: "never" });
      await sweep(t.core);
      await t.drain();
      expect((await rows()).at(-1)).toMatchObject({ status: "dead", error_code: "outcome_unknown" });
      expect(t.chat.posts.map((p) => p.message.kind)).toEqual(["card", "text"]);
    });

    it("is not what a private note waits behind", async () => {
      const thread = await proposed();
      await t.drain();
      const card = t.lastCard();
      t.chat.answerNext(() => ({ outcome: "retry", code: "limited", afterMs: 60_000 }));
      await t.receive(clickCard(thread, card, "reject"));
      await t.receive(clickCard(thread, card, "approve", BEN));
      await t.drain();
      expect(t.chat.posts.map((p) => p.message.kind)).toEqual(["card", "text", "notice"]);
    });
  });
});
