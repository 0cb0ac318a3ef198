import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { withTx } from "../../../src/core/db/withTx.ts";
import { CountersignError } from "../../../src/core/domain/errors.ts";
import { threadKey } from "../../../src/core/domain/message.ts";
import { createSession } from "../../../src/core/flow/createSession.ts";
import { endSession } from "../../../src/core/flow/endSession.ts";
import { submitTurn } from "../../../src/core/flow/queueTurn.ts";
import { sweep } from "../../../src/core/flow/sweep.ts";
import { appendEvents } from "../../../src/core/store/events.ts";
import { findReceived } from "../../../src/core/store/inbox.ts";
import { findSession, listSessions } from "../../../src/core/store/sessions.ts";
import { listTurns } from "../../../src/core/store/turns.ts";
import {
  BEN,
  clickCard,
  createTestCore,
  holdReceived,
  holdSession,
  holdThread,
  newThread,
  post,
  race,
  type TestCore,
} from "../../helpers/core.ts";

describe("a session", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterAll(() => t.close());

  const sessions = () => listSessions(t.core.pool, { limit: 10 });
  const opened = async (thread = newThread()): Promise<string> =>
    ((await t.receive(post(thread, "hello"))) as { sessionId: string }).sessionId;

  it("S1 is the thread: what is written there goes to it, and pins the deployment it was created on", async () => {
    const thread = newThread();
    const id = await opened(thread);
    await t.deploy({ id: "dpl_2", digest: "e" });
    await t.receive(post(thread, "more", { address: "follow-up" }));
    await t.drain();
    expect(await sessions()).toMatchObject([{ id, deploymentId: "dpl_1" }]);
    expect(await listTurns(t.core.pool, id, 10)).toHaveLength(2);
    expect(await opened()).not.toBe(id);
    expect(await sessions()).toMatchObject([{ deploymentId: "dpl_2" }, { id, deploymentId: "dpl_1" }]);
  });

  it("S1 that has ended leaves its thread to a new one", async () => {
    const thread = newThread();
    const first = await opened(thread);
    await endSession(t.core, first);
    const second = await opened(thread);
    expect(second).not.toBe(first);
    expect((await sessions()).map((s) => [s.id, s.status])).toEqual([
      [second, "idle"],
      [first, "ended"],
    ]);
  });

  it("S1 is opened once by two mentions of one new thread at once, and both posts are its own", async () => {
    const thread = newThread();
    const [one, two] = [post(thread, "one"), post(thread, "two", { person: BEN })];
    const received = await race(
      t.core.pool,
      holdThread(threadKey(thread)),
      () => t.receive(one),
      () => t.receive(two),
    );
    const [session, ...others] = await sessions();
    const id = session?.id ?? "";
    expect(others).toEqual([]);
    expect(received).toMatchObject([
      { status: "received", sessionId: id },
      { status: "received", sessionId: id },
    ]);
    expect((await listTurns(t.core.pool, id, 10)).map((turn) => turn.input.text).sort()).toEqual(["one", "two"]);
    for (const key of [...one.dedupe, ...two.dedupe]) expect(await findReceived(t.core.pool, key)).toBe(id);
  });

  it("G3 takes the same event twice at once for one", async () => {
    const event = post(newThread(), "once");
    const received = await race(
      t.core.pool,
      holdReceived(event.dedupe[0] ?? ""),
      () => t.receive(event),
      () => t.receive(event),
    );
    expect(received.map((r) => r.status).sort()).toEqual(["duplicate", "received"]);
    expect(await sessions()).toHaveLength(1);
  });

  it("G3 takes one post for one turn, whichever of its events comes first, and the same ts elsewhere for another", async () => {
    const thread = newThread();
    const mention = post(thread, "hi", { dedupe: ["slack:event:EvA", "slack:post:T1:C1:9"] });
    const message = post(thread, "hi", {
      dedupe: ["slack:event:EvB", "slack:post:T1:C1:9"],
      address: "follow-up",
    });
    expect(await t.receive(message)).toMatchObject({ status: "ignored" });
    expect(await t.receive(mention)).toMatchObject({ status: "received" });
    expect(await t.receive(message)).toMatchObject({ status: "duplicate" });
    expect(await t.receive({ ...mention, dedupe: ["slack:event:EvC", "slack:post:T1:C2:9"] })).toMatchObject({
      status: "received",
    });
  });

  it("G3 takes a post for a repeat after 48 hours of sweeps", async () => {
    const event = post(newThread(), "once");
    await t.receive(event);
    await t.passTime(48 * 3_600_000);
    await sweep(t.core);
    expect(await t.receive(event)).toMatchObject({ status: "duplicate" });
  });

  it("S3 that ends cancels what is queued, an answer included, closes its question and refuses turns", async () => {
    const thread = newThread();
    t.model.script({ calls: [{ tool: "ask", input: { text: "Sure?" } }] });
    const id = await opened(thread);
    await t.drain();
    await t.receive(post(thread, "from Ben", { person: BEN }));
    await t.receive(post(thread, "yes"));
    await endSession(t.core, id);
    const turns = await listTurns(t.core.pool, id, 10);
    expect(turns.map((turn) => turn.status)).toEqual(["cancelled", "cancelled", "completed"]);
    const submit = { sessionId: id, text: "more", mode: "queue", idempotencyKey: null } as const;
    await expect(submitTurn(t.core, submit)).rejects.toMatchObject({ code: "session_ended" });
    await t.drain();
    expect(await findSession(t.core.pool, id)).toMatchObject({ status: "ended" });
    expect((await endSession(t.core, id)).wakes).toEqual([]);
  });

  it("S3 that ends closes an open question, on screen too, and lets pending decisions live on", async () => {
    const thread = newThread();
    t.model.script(
      { calls: [{ tool: "attach", input: {} }] },
      { text: "Recorded.", calls: [{ tool: "ask", input: { text: "Anything else?" } }] },
    );
    const id = await opened(thread);
    await t.drain();
    const { wakes } = await endSession(t.core, id);
    await t.wakes.ring(wakes);
    await t.drain();
    expect(t.chat.posts.at(-1)?.message).toMatchObject({ outcome: { kind: "closed", reason: "session ended" } });
    await t.receive(clickCard(thread, t.lastCard(), "approve"));
    await t.drain();
    expect(t.lastCard()).toMatchObject({ status: "applied" });
    const types = (await t.eventsOf(id)).map((event) => event.type);
    expect(types.slice(types.indexOf("session.ended"))).toEqual([
      "session.ended",
      "session.status_changed",
      "approval.approved",
      "approval.applying",
      "approval.applied",
    ]);
  });

  it("S5 numbers its events from 1 without gaps, however many append at once", async () => {
    const id = await opened();
    await t.drain();
    const append = (n: number) => () =>
      appendEvents(t.core.pool, { sessionId: id, events: [{ type: "usage.recorded", data: { n } }] });
    await race(t.core.pool, holdSession(id), ...[1, 2, 3, 4, 5, 6].map(append));
    const events = await t.eventsOf(id);
    expect(events.map((e) => e.seq)).toEqual(events.map((_, i) => i + 1));
    expect(events.slice(-6).map((e) => e.data.n)).toEqual(expect.arrayContaining([1, 2, 3, 4, 5, 6]));
  });

  it("S5 logs a change in the transaction that makes it: undone together", async () => {
    const id = await opened();
    await t.drain();
    const before = await t.eventsOf(id);
    const undone = withTx(t.core.pool, async (db) => {
      await appendEvents(db, { sessionId: id, events: [{ type: "session.ended", data: {} }], status: "ended" });
      throw new CountersignError("internal");
    });
    await expect(undone).rejects.toThrow();
    expect(await t.eventsOf(id)).toEqual(before);
    expect(await findSession(t.core.pool, id)).toMatchObject({ status: "idle", revision: before.length });
  });

  it("keeps the same idempotency key to one session and one turn", async () => {
    const create = { agentId: "support", idempotencyKey: "k" };
    const made = await createSession(t.core, create);
    expect(await createSession(t.core, create)).toMatchObject({ duplicate: true, session: { id: made.session.id } });
    await expect(createSession(t.core, { ...create, source: "webhook" })).rejects.toMatchObject({
      code: "idempotency_conflict",
    });
    const submit = { sessionId: made.session.id, text: "a", mode: "queue", idempotencyKey: "t" } as const;
    const [one, two] = await race(
      t.core.pool,
      holdSession(made.session.id),
      () => submitTurn(t.core, submit),
      () => submitTurn(t.core, submit),
    );
    expect(one?.turn.id).toBe(two?.turn.id);
    expect([one?.duplicate, two?.duplicate].sort()).toEqual([false, true]);
    await expect(submitTurn(t.core, { ...submit, text: "b" })).rejects.toMatchObject({ code: "idempotency_conflict" });
  });
});
