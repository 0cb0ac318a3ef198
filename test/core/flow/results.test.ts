import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Json } from "../../../src/core/domain/json.ts";
import { DEFAULT_WORKER_LIMITS } from "../../../src/core/flow/core.ts";
import { endSession } from "../../../src/core/flow/endSession.ts";
import { interrupt } from "../../../src/core/flow/interrupt.ts";
import { getResult, listResults } from "../../../src/core/flow/results.ts";
import { runTurns } from "../../../src/core/flow/runTurn.ts";
import { sweep } from "../../../src/core/flow/sweep.ts";
import { getSession } from "../../../src/core/flow/views.ts";
import { insertResult } from "../../../src/core/store/results.ts";
import type { FakeTool } from "../../helpers/core/runtime.ts";
import { createTestCore, newThread, post, type TestCore, waitUntil } from "../../helpers/core.ts";

const OUTPUT: Json = {
  type: "object",
  required: ["status"],
  properties: { status: { type: "integer" }, note: { type: "string" } },
  additionalProperties: false,
};
const report = (run: NonNullable<FakeTool["run"]>): FakeTool => ({ output: OUTPUT, run });

describe("the session's result", () => {
  let t: TestCore;
  let say: (input: Json) => Json | Promise<Json>;
  beforeAll(async () => {
    t = await createTestCore({ report: report(({ input }) => say(JSON.parse(input) as Json)) });
  });
  beforeEach(async () => {
    say = (input) => input;
    await t.reset();
  });
  afterAll(() => t.close());

  const call = (input: Json) => ({ calls: [{ tool: "report", input }] });
  async function started(...inputs: Json[]): Promise<string> {
    t.model.script(...inputs.map(call), { text: "done" });
    const received = await t.receive(post(newThread(), "go"));
    return (received as { sessionId: string }).sessionId;
  }
  async function session(...inputs: Json[]): Promise<string> {
    const id = await started(...inputs);
    await t.drain();
    return id;
  }
  const resultOf = async (id: string) => (await getSession(t.core, id)).result;
  const ends = async (id: string) =>
    (await t.eventsOf(id)).filter(({ type }) => type === "tool.completed" || type === "tool.failed");
  const records = async (id: string) => (await listResults(t.core, { sessionId: id, limit: 50 })).items;

  it("T6 is committed before the model hears of success, and says so in the log", async () => {
    let told: Json = null;
    t.model.script(call({ status: 200 }), async () => {
      told = (await getSession(t.core, id)).result;
      return { text: "done" };
    });
    const { sessionId: id } = (await t.receive(post(newThread(), "go"))) as { sessionId: string };
    await t.drain();
    const [end] = await ends(id);
    expect(end).toMatchObject({ type: "tool.completed", data: { output: { status: 200 }, result: true } });
    const { callId } = end?.data ?? {};
    expect(told).toEqual({
      turnId: end?.turnId,
      callId,
      reportedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { status: 200 },
    });
    expect(await resultOf(id)).toEqual(told);
  });

  it.each<[string, Json, RegExp]>([
    ["does not fit its schema", { status: "ok" }, /does not fit the tool's output: status must be integer/],
    ["misses a field", {}, /the result must have required property 'status'/],
    ["is over 8 KiB", { status: 1, note: "é".repeat(4_100) }, /bytes of JSON and at most 8192 are kept/],
  ])("T7 that %s fails the call, says why, and leaves the one before", async (_, wrong, why) => {
    const id = await session({ status: 1 }, wrong);
    const [, end] = await ends(id);
    expect(end).toMatchObject({ type: "tool.failed", data: { code: "tool_result_invalid" } });
    expect(end?.data.message).toMatch(why);
    expect(await resultOf(id)).toMatchObject({ data: { status: 1 } });
    expect(await records(id)).toHaveLength(1);
  });

  it("T7 of exactly 8 KiB of UTF-8 is kept", async () => {
    const note = "é".repeat(4_085);
    const value = { status: 1, note };
    const pad = 8_192 - Buffer.byteLength(JSON.stringify(value));
    const whole = { ...value, note: note + "x".repeat(pad) };
    expect(Buffer.byteLength(JSON.stringify(whole))).toBe(8_192);
    const id = await session(whole);
    expect(await resultOf(id)).toMatchObject({ data: whole });
  });

  it("T9 is replaced whole by a later call; every report stays readable, newest first", async () => {
    const id = await session({ status: 1, note: "first" }, { status: 2 });
    expect(await resultOf(id)).toMatchObject({ data: { status: 2 } });
    const [newest, first] = await records(id);
    expect([newest?.data, first?.data]).toEqual([{ status: 2 }, { status: 1, note: "first" }]);
    expect(await getResult(t.core, id, first?.id ?? "")).toEqual(first);
    const page = await listResults(t.core, { sessionId: id, limit: 1 });
    expect(page.items).toEqual([newest]);
    const cursor = page.nextCursor ?? "";
    expect((await listResults(t.core, { sessionId: id, limit: 1, cursor })).items).toEqual([first]);
    const ofTurn = await listResults(t.core, { sessionId: id, turnId: newest?.turnId ?? "", limit: 9 });
    expect(ofTurn.items).toHaveLength(2);
    await expect(listResults(t.core, { sessionId: id, turnId: "trn_none", limit: 9 })).rejects.toThrow();
    await expect(getResult(t.core, "ses_other", first?.id ?? "")).rejects.toMatchObject({ code: "not_found" });
  });

  it("T9 survives a later turn that fails", async () => {
    const thread = newThread();
    t.model.script(call({ status: 1 }), { text: "done" });
    const { sessionId } = (await t.receive(post(thread, "go"))) as { sessionId: string };
    await t.drain();
    t.runtime.renderNext(() => {
      throw new Error("broken");
    });
    await t.receive(post(thread, "again"));
    await t.drain();
    expect((await t.eventsOf(sessionId)).at(-2)?.type).toBe("turn.failed");
    expect(await resultOf(sessionId)).toMatchObject({ data: { status: 1 } });
  });

  /** Runs until the tool is at work, and lets it answer when told to. */
  async function atWork() {
    let answer: (value: Json) => void = () => {};
    const working = new Promise<void>((begun) => {
      say = () => {
        begun();
        return new Promise<Json>((resolve) => {
          answer = resolve;
        });
      };
    });
    const id = await started({ status: 1 });
    const running = runTurns(t.core, id);
    await working;
    return { id, running, answer: () => answer({ status: 1 }) };
  }

  it("T8 is refused from a turn that was interrupted, though its worker has not heard of it", async () => {
    const { id, running, answer } = await atWork();
    await interrupt(t.core, id);
    answer();
    await running;
    expect(await resultOf(id)).toBeNull();
    expect(await records(id)).toEqual([]);
    expect(await ends(id)).toMatchObject([{ type: "tool.failed", data: { code: "result_refused" } }]);
  });

  it("T8 is refused from a turn whose session ended", async () => {
    const { id, running, answer } = await atWork();
    await endSession(t.core, id);
    answer();
    await running;
    expect(await resultOf(id)).toBeNull();
    expect(await records(id)).toEqual([]);
  });

  it("T8 T9 is refused from a worker that lost the turn; the one that has it now reports under the same call", async () => {
    const { id, running, answer } = await atWork();
    await t.passTime(DEFAULT_WORKER_LIMITS.leaseMs + 1);
    say = () => ({ status: 2 });
    await sweep(t.core);
    await runTurns(t.anotherWorker(), id);
    answer();
    await running;
    expect(await resultOf(id)).toMatchObject({ data: { status: 2 } });
    expect((await records(id)).map(({ data }) => data)).toEqual([{ status: 2 }]);
    const calls = t.runtime.invokes.map(({ context }) => context.toolCallId);
    expect(new Set(calls).size).toBe(1);
  });

  it("T9 the same call with the same value is one record, with another a conflict", async () => {
    const { id, running, answer } = await atWork();
    const { rows } = await t.core.pool.query<{ id: string; fence: string }>("select id, fence from turns");
    const held = { turnId: rows[0]?.id ?? "", fence: Number(rows[0]?.fence) };
    const keep = (data: string) =>
      insertResult(t.core.pool, {
        id: `res_${Math.random()}`,
        sessionId: id,
        callId: "c",
        heldBy: held,
        data,
        digest: data,
      });
    expect([await keep("1"), await keep("1"), await keep("2")]).toEqual(["kept", "kept", "conflict"]);
    expect(await resultOf(id)).toMatchObject({ callId: "c", data: 1 });
    expect(await records(id)).toHaveLength(1);
    answer();
    await running;
    await waitUntil(async () => (await records(id)).length === 2);
  });
});
