import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CountersignError } from "../../../src/core/domain/errors.ts";
import { createSession } from "../../../src/core/flow/createSession.ts";
import { endSession } from "../../../src/core/flow/endSession.ts";
import { interrupt } from "../../../src/core/flow/interrupt.ts";
import { type SubmitTurn, submitTurn } from "../../../src/core/flow/queueTurn.ts";
import { runTurns } from "../../../src/core/flow/runTurn.ts";
import { findOpenQuestion } from "../../../src/core/store/questions.ts";
import { findSession } from "../../../src/core/store/sessions.ts";
import { listTurns } from "../../../src/core/store/turns.ts";
import {
  createTestCore,
  holdSession,
  newThread,
  post,
  race,
  type TestCore,
  threw,
  waitUntil,
} from "../../helpers/core.ts";

describe("a turn", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterAll(() => t.close());

  const never = () => new Promise<never>(() => {});
  const created = async () => (await createSession(t.core, { agentId: "support" })).session.id;
  const submit = async (sessionId: string, text: string, over: Partial<SubmitTurn> = {}) => {
    const submitted = await submitTurn(t.core, { sessionId, text, mode: "queue", idempotencyKey: null, ...over });
    await t.wakes.ring(submitted.wakes);
    return submitted.turn.id;
  };
  /** Newest last: what each turn was asked, and how it stands. */
  const turnsOf = async (id: string) =>
    (await listTurns(t.core.pool, id, 20)).reverse().map((turn) => [turn.input.text, turn.status]);
  const typesOf = async (id: string) => (await t.eventsOf(id)).map((event) => event.type);
  /** Starts the session's turns, and waits until the first tool is at work. */
  const runUntilTool = async (id: string): Promise<{ running: Promise<void> }> => {
    const running = runTurns(t.core, id);
    await waitUntil(() => t.runtime.invokes.length > 0, "a tool to run");
    return { running };
  };

  it("S2 runs one at a time, in order, and a second worker finds nothing to take", async () => {
    const id = await created();
    for (const text of ["one", "two", "three"]) await submit(id, text);
    const other = t.anotherWorker();
    let atWork = 0;
    for (let i = 0; i < 3; i++) {
      t.model.script(async () => {
        expect(++atWork).toBe(1);
        await runTurns(other, id);
        atWork--;
        return { text: "ok" };
      });
    }
    await race(
      t.core.pool,
      holdSession(id),
      () => runTurns(t.core, id),
      () => runTurns(other, id),
    );
    expect(t.model.requests.map((r) => r.history.findLast((m) => m.role === "user"))).toMatchObject([
      { text: "one" },
      { text: "two" },
      { text: "three" },
    ]);
    expect(await turnsOf(id)).toEqual([
      ["one", "completed"],
      ["two", "completed"],
      ["three", "completed"],
    ]);
  });

  it("S2 takes a steer in at its next step, with its payload, and queues one that comes too late", async () => {
    const id = await created();
    t.model.script(
      async () => {
        await submit(id, "hurry", { mode: "steer", payload: { by: "noon" } });
        return { calls: [{ tool: "lookup_order", input: { id: "1" } }] };
      },
      async (request) => {
        expect(request.history.at(-1)).toEqual({ role: "user", text: 'hurry\n\n{"by":"noon"}' });
        await submit(id, "too late", { mode: "steer" });
        return { text: "done" };
      },
    );
    await submit(id, "start");
    await t.drain();
    expect(await turnsOf(id)).toEqual([
      ["start", "completed"],
      ["hurry", "cancelled"],
      ["too late", "completed"],
    ]);
    expect(await typesOf(id)).toContain("turn.steered");
  });

  it("S2 is cancelled by a turn that interrupts, which runs then", async () => {
    const id = await created();
    t.runtime.tools.set("lookup_order", { run: never });
    t.model.script({ calls: [{ tool: "lookup_order", input: {} }] });
    await submit(id, "long");
    const { running } = await runUntilTool(id);
    await submit(id, "stop that", { mode: "interrupt" });
    expect(await findSession(t.core.pool, id)).toMatchObject({ status: "stopping" });
    await t.core.leases.beat();
    await running;
    expect(await turnsOf(id)).toEqual([
      ["long", "cancelled"],
      ["stop that", "completed"],
    ]);
    const { data } = (await t.eventsOf(id)).findLast((e) => e.type === "session.status_changed") ?? {};
    expect(data).toEqual({ status: "idle" });
  });

  it("S4 S6 is cancelled by an interrupt once its tool has stopped; the open call is closed first", async () => {
    const thread = newThread();
    t.runtime.tools.set("lookup_order", { run: never });
    t.model.script({ calls: [{ tool: "lookup_order", input: {} }] });
    const { sessionId: id } = (await t.receive(post(thread, "look"))) as { sessionId: string };
    const { running } = await runUntilTool(id);
    expect(await interrupt(t.core, id)).toEqual({ interrupted: true });
    expect((await turnsOf(id))[0]).toEqual(["look", "running"]);
    await t.core.leases.beat();
    await running;
    expect(await turnsOf(id)).toEqual([["look", "cancelled"]]);
    const end = (await t.eventsOf(id)).slice(-3);
    expect(end).toMatchObject([
      { type: "tool.failed", data: { code: "tool_interrupted", settledBy: "turn.cancelled" } },
      { type: "turn.cancelled" },
      { type: "session.status_changed", data: { status: "idle" } },
    ]);
    await t.drain();
    expect(t.chat.posts.at(-1)?.message).toEqual({ kind: "text", text: "Stopped." });
    expect(t.runtime.leased).toEqual([]);
  });

  it("S4 idle, an interrupt changes nothing", async () => {
    const id = await created();
    const before = await t.eventsOf(id);
    expect(await interrupt(t.core, id)).toEqual({ interrupted: false });
    expect(await t.eventsOf(id)).toEqual(before);
  });

  it.each<["interrupt" | "end", string]>([
    ["interrupt", "idle"],
    ["end", "ended"],
  ])("S3 S4 %s that its worker did not notice still cancels it, question and answer unsaid", async (how, status) => {
    for (const last of [{ text: "Too late." }, { calls: [{ tool: "ask", input: { text: "Sure?" } }] }]) {
      const { sessionId: id } = (await t.receive(post(newThread(), "go"))) as { sessionId: string };
      t.model.script(async () => {
        await (how === "end" ? endSession(t.core, id) : interrupt(t.core, id));
        return last;
      });
      await t.drain();
      expect(await turnsOf(id)).toEqual([["go", "cancelled"]]);
      expect(await findSession(t.core.pool, id)).toMatchObject({ status });
      expect(await findOpenQuestion(t.core.pool, id)).toBeNull();
      expect(t.chat.posts.at(-1)?.message).toEqual({ kind: "text", text: "Stopped." });
      const events = await t.eventsOf(id);
      const started = events.filter((e) => e.type === "tool.started").map((e) => e.data.callId);
      const ended = events.filter((e) => e.type === "tool.failed").map((e) => e.data.callId);
      expect(ended).toEqual(started);
    }
  });

  it("S6 that fails closes every open call before its own end", async () => {
    const id = await created();
    t.runtime.tools.set("lookup_order", { run: () => Promise.reject(threw({ message: "no" })) });
    t.model.script(
      {
        calls: [
          { tool: "lookup_order", input: {} },
          { tool: "attach", input: {} },
        ],
      },
      () => {
        throw new CountersignError("model_unavailable");
      },
    );
    await submit(id, "go");
    await t.drain();
    const events = await t.eventsOf(id);
    const calls = events.filter((e) => /^tool\./.test(e.type));
    for (const { data } of calls.filter((e) => e.type === "tool.started")) {
      expect(calls.filter((e) => e.type !== "tool.started" && e.data.callId === data.callId)).toHaveLength(1);
    }
    expect(events.findLast((e) => e.type.startsWith("turn."))).toMatchObject({ type: "turn.failed" });
  });

  it("S7 shows a failure as a code and a fixed sentence; what went wrong inside is in the log alone", async () => {
    t.model.script(() => {
      throw new Error("secret detail of host db-7");
    });
    const { sessionId: id } = (await t.receive(post(newThread(), "go"))) as { sessionId: string };
    await t.drain();
    expect(t.chat.posts).toMatchObject([
      { message: { text: "The turn failed; send the message again. (turn_failed)" } },
    ]);
    expect(JSON.stringify(await t.eventsOf(id))).not.toContain("db-7");
    expect(t.log.lines.some(({ fields }) => String((fields as { err?: unknown }).err).includes("db-7"))).toBe(true);
  });

  it("gives up after fifty steps", async () => {
    const id = await created();
    t.model.script(...Array.from({ length: 60 }, () => ({ calls: [{ tool: "lookup_order", input: { id: "1" } }] })));
    await submit(id, "loop");
    await t.drain();
    expect(t.model.requests).toHaveLength(50);
    const { data } = (await t.eventsOf(id)).findLast((e) => e.type === "turn.failed") ?? {};
    expect(data).toMatchObject({ code: "turn_too_long" });
  });
});
