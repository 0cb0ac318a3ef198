import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MAX_TURN_ATTEMPTS } from "../../../src/core/domain/turn.ts";
import { DEFAULT_WORKER_LIMITS } from "../../../src/core/flow/core.ts";
import { endSession } from "../../../src/core/flow/endSession.ts";
import { interrupt } from "../../../src/core/flow/interrupt.ts";
import { runTurns } from "../../../src/core/flow/runTurn.ts";
import { sweep } from "../../../src/core/flow/sweep.ts";
import { findSession } from "../../../src/core/store/sessions.ts";
import { listTurns } from "../../../src/core/store/turns.ts";
import { createTestCore, newThread, post, type TestCore, waitUntil } from "../../helpers/core.ts";

const PAST_THE_LEASE = DEFAULT_WORKER_LIMITS.leaseMs + 1;

describe("a worker that vanishes in a turn", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterAll(() => t.close());

  const lookup = { calls: [{ tool: "lookup_order", input: { id: "1" } }] };
  const begun = async (thread = newThread()) => {
    const { sessionId } = (await t.receive(post(thread, "go"))) as { sessionId: string };
    t.wakes.lose();
    return sessionId;
  };
  /** A worker that stops for good where it is, and does not renew: its model or tool never answers. */
  async function vanish(sessionId: string, when: () => boolean): Promise<void> {
    void runTurns(t.anotherWorker(), sessionId);
    await waitUntil(when, "the worker to get there");
  }
  const never = () => new Promise<never>(() => {});
  const recover = async () => {
    await t.passTime(PAST_THE_LEASE);
    await sweep(t.core);
    await t.drain();
  };
  const statusOf = async (id: string) => (await listTurns(t.core.pool, id, 10)).map((turn) => turn.status);
  const started = async (id: string) =>
    (await t.eventsOf(id)).filter((e) => ["turn.started", "runtime.lost", "runtime.resumed"].includes(e.type));

  it("T3 is resumed at the last finished step, and the call it left open runs again under its id", async () => {
    const id = await begun();
    t.model.script(lookup, {
      calls: [
        { tool: "attach", input: {} },
        { tool: "lookup_order", input: { id: "2" } },
      ],
    });
    let hangs = true;
    t.runtime.tools.set("attach", { run: () => "attached" });
    t.runtime.tools.set("lookup_order", { run: ({ input }) => (hangs && input.includes("2") ? never() : "found") });
    await vanish(id, () => t.runtime.invokes.length === 3);
    hangs = false;
    await recover();
    expect(t.model.requests).toHaveLength(3);
    const calls = t.runtime.invokes.map((i) => `${i.tool} ${i.context.toolCallId}`);
    expect(calls).toHaveLength(5);
    expect(calls.slice(3).sort()).toEqual(calls.slice(1, 3).sort());
    expect(await statusOf(id)).toEqual(["completed"]);
    expect((await started(id)).map((e) => e.type)).toEqual(["turn.started", "runtime.lost", "runtime.resumed"]);
    expect(t.model.requests.at(-1)?.history.filter((m) => m.role === "user")).toHaveLength(1);
  });

  it("asks the model again when it was lost in a step, and keeps nothing of what the lost one would have said", async () => {
    const id = await begun();
    let say = (_: { text: string }) => {};
    t.model.script(() => new Promise((resolve) => (say = resolve)), { text: "from the second" });
    const zombie = t.anotherWorker();
    const lost = runTurns(zombie, id);
    await waitUntil(() => t.model.requests.length === 1);
    await recover();
    say({ text: "from the first" });
    await lost;
    await t.drain();
    expect(t.chat.posts.map((p) => p.message)).toEqual([{ kind: "text", text: "from the second" }]);
    expect((await t.eventsOf(id)).filter((e) => e.type === "turn.completed")).toHaveLength(1);
  });

  it("is told by its next beat that the turn is lost to it, even when this same process took it up again", async () => {
    const id = await begun();
    t.runtime.tools.set("lookup_order", { run: never });
    t.model.script(lookup, { text: "unused" });
    const first = runTurns(t.core, id);
    await waitUntil(() => t.runtime.invokes.length === 1);
    await t.passTime(PAST_THE_LEASE);
    await sweep(t.core);
    const second = t.drain();
    await waitUntil(() => t.runtime.invokes.length === 2);
    await t.core.leases.beat();
    await waitUntil(() => t.runtime.leased.length === 1, "the first to let go");
    expect(await statusOf(id)).toEqual(["running"]);
    await interrupt(t.core, id);
    await t.core.leases.beat();
    await Promise.all([first, second]);
    expect(await statusOf(id)).toEqual(["cancelled"]);
  });

  it("S6 leaves no call open where the session ends before somebody takes the turn up again", async () => {
    const id = await begun();
    t.runtime.tools.set("lookup_order", { run: never });
    t.model.script(lookup);
    await vanish(id, () => t.runtime.invokes.length === 1);
    await t.passTime(PAST_THE_LEASE);
    await sweep(t.core);
    t.wakes.lose();
    await endSession(t.core, id);
    expect((await t.eventsOf(id)).slice(-4)).toMatchObject([
      { type: "tool.failed", data: { settledBy: "turn.cancelled" } },
      { type: "turn.cancelled" },
      { type: "session.ended" },
      { type: "session.status_changed" },
    ]);
  });

  it(`S6 gives up after ${MAX_TURN_ATTEMPTS} lost workers: the call is closed, the thread told, the next turn runs`, async () => {
    const thread = newThread();
    const id = await begun(thread);
    await begun(thread);
    t.runtime.tools.set("lookup_order", { run: never });
    t.model.script(lookup);
    for (let i = 1; i <= MAX_TURN_ATTEMPTS; i++) {
      await vanish(id, () => t.runtime.invokes.length === i);
      await t.passTime(PAST_THE_LEASE);
      await sweep(t.core);
    }
    await t.drain();
    const events = await t.eventsOf(id);
    const end = events.findIndex((e) => e.type === "turn.failed");
    expect(events.slice(end - 1, end + 2)).toMatchObject([
      { type: "tool.failed", data: { settledBy: "turn.failed", code: "tool_interrupted" } },
      { type: "turn.failed", data: { code: "turn_abandoned" } },
      { type: "session.status_changed", data: { status: "idle" } },
    ]);
    expect(t.chat.posts.map((p) => p.message)).toMatchObject([
      { text: expect.stringContaining("(turn_abandoned)") },
      { text: "Noted." },
    ]);
    expect(await statusOf(id)).toEqual(["completed", "failed"]);
  });

  it.each<["interrupt" | "end", string]>([
    ["interrupt", "idle"],
    ["end", "ended"],
  ])("S3 S4 is not resumed where %s was asked for: the turn is cancelled", async (how, status) => {
    const id = await begun();
    t.runtime.tools.set("lookup_order", { run: never });
    t.model.script(lookup);
    await vanish(id, () => t.runtime.invokes.length === 1);
    await (how === "end" ? endSession(t.core, id) : interrupt(t.core, id));
    await recover();
    expect(await statusOf(id)).toEqual(["cancelled"]);
    expect(await findSession(t.core.pool, id)).toMatchObject({ status });
    const events = await t.eventsOf(id);
    expect(events.find((e) => e.type === "tool.failed")?.data).toMatchObject({ settledBy: "turn.cancelled" });
    expect(t.model.requests).toHaveLength(1);
  });

  it("hands its turn back when it shuts down: started once, resumed by another, and not counted as lost", async () => {
    const id = await begun();
    const leaving = t.anotherWorker();
    t.runtime.tools.set("lookup_order", { run: () => (leaving.leases.closing() ? "done" : never()) });
    t.model.script(lookup);
    const running = runTurns(leaving, id);
    await waitUntil(() => t.runtime.invokes.length === 1);
    await leaving.leases.close(0);
    await running;
    expect(await statusOf(id)).toEqual(["queued"]);
    await t.drain();
    expect(await statusOf(id)).toEqual(["completed"]);
    expect((await started(id)).map((e) => [e.type, e.data])).toEqual([
      ["turn.started", {}],
      ["runtime.resumed", { attempt: 1 }],
    ]);
    const [first, second] = t.runtime.invokes;
    expect(second?.context).toEqual(first?.context);
  });

  it("leaves a turn to its lease when its database went away, and fails it for nothing", async () => {
    const id = await begun();
    t.model.script(async () => {
      throw Object.assign(new Error("terminating connection due to administrator command"), { code: "57P01" });
    });
    await expect(runTurns(t.core, id)).rejects.toThrow(/terminating/);
    expect(await statusOf(id)).toEqual(["running"]);
    await recover();
    expect(await statusOf(id)).toEqual(["completed"]);
  });

  it("is not missed for a lost wake: the sweep rings for what waits, and only once it is late", async () => {
    const id = await begun();
    await sweep(t.core);
    expect(t.wakes.waiting).toEqual([]);
    await t.passTime(5_000);
    expect(await sweep(t.core)).toBe(true);
    expect(t.wakes.waiting).toEqual([{ kind: "turn", id }]);
    await t.drain();
    expect(await statusOf(id)).toEqual(["completed"]);
    await t.passTime(60_000);
    await sweep(t.core);
    expect(t.wakes.waiting).toEqual([]);
  });

  it("sweeps in one worker at a time", async () => {
    const holder = await t.core.pool.connect();
    try {
      await holder.query("select pg_advisory_lock(7061970)");
      expect(await sweep(t.core)).toBe(false);
    } finally {
      await holder.query("select pg_advisory_unlock(7061970)");
      holder.release();
    }
    expect(await sweep(t.core)).toBe(true);
  });
});
