import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createSession } from "../../../src/core/flow/createSession.ts";
import { submitTurn } from "../../../src/core/flow/queueTurn.ts";
import type { ScriptedStep } from "../../helpers/core/model.ts";
import { createTestCore, EndsWith, type TestCore, threw } from "../../helpers/core.ts";

describe("a tool call", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterAll(() => t.close());

  /** Runs one turn whose steps are these; answers the log's tool events. */
  async function run(...steps: ScriptedStep[]) {
    const { session } = await createSession(t.core, { agentId: "support" });
    t.model.script(...steps);
    const submit = { sessionId: session.id, text: "go", mode: "queue", idempotencyKey: null } as const;
    await t.wakes.ring((await submitTurn(t.core, submit)).wakes);
    await t.drain();
    const events = await t.eventsOf(session.id);
    expect(events.findLast((e) => e.type.startsWith("turn."))).toMatchObject({ type: "turn.completed" });
    return events.filter((e) => e.type.startsWith("tool."));
  }
  const lookup = (call: NonNullable<ScriptedStep["calls"]>[number]) => ({ calls: [call] });

  it("T3 has an id of ours, unique in the session whatever ids the model repeats, and the same in log and context", async () => {
    const step = lookup({ tool: "lookup_order", input: { id: "1" } });
    const events = await run({ calls: [...step.calls, ...step.calls] }, step);
    const started = events.filter((e) => e.type === "tool.started").map((e) => e.data.callId);
    expect(new Set(started).size).toBe(3);
    expect(t.runtime.invokes.map((i) => i.context.toolCallId)).toEqual(started);
    expect(t.runtime.invokes[0]?.context).toMatchObject({
      agentId: "support",
      messageId: expect.stringMatching(/^msg_/),
    });
    expect(t.model.requests.at(-1)?.history.flatMap((m) => (m.role === "tool" ? m.results : []))).toHaveLength(3);
  });

  it("T4 whose arguments do not fit fails with the field before run, and the model may call again", async () => {
    const events = await run(
      lookup({ tool: "lookup_order", input: { id: 7 } }),
      lookup({ tool: "lookup_order", input: { id: "7" } }),
    );
    expect(events.map((e) => e.type)).toEqual(["tool.started", "tool.failed", "tool.started", "tool.completed"]);
    expect(events[1]?.data).toMatchObject({
      code: "tool_arguments_invalid",
      message: "Invalid arguments: id must be string",
    });
    expect(t.runtime.invokes.map((i) => i.input)).toEqual(['{"id":"7"}']);
    expect(t.model.requests[1]?.history.at(-1)).toMatchObject({ role: "tool", results: [{ failed: true }] });
  });

  it("T4 passes arguments on as they were sent, never coerced or defaulted", async () => {
    t.runtime.tools.set("lookup_order", {
      input: { type: "object", properties: { n: { type: "number", default: 5 } }, additionalProperties: true },
      run: () => 1,
    });
    await run(lookup({ tool: "lookup_order", input: { z: 1, a: "\u0000", extra: [null] } }));
    expect(t.runtime.invokes[0]?.input).toBe('{"z":1,"a":"\\u0000","extra":[null]}');
  });

  it("T4 that is not even JSON fails, and says so", async () => {
    const events = await run(lookup({ tool: "lookup_order", input: "{id:", malformed: "Unexpected token i" }));
    expect(events[1]?.data).toMatchObject({ message: "The arguments are not JSON: Unexpected token i" });
    expect(t.runtime.invokes).toEqual([]);
  });

  it("T10 of a tool that this step's render did not select fails, and only the selected are offered", async () => {
    t.runtime.renderNext((usual) => ({ ...usual, tools: [{ kind: "builtin", id: "ask" }] }));
    const events = await run(lookup({ tool: "lookup_order", input: { id: "1" } }));
    expect(events[1]?.data).toMatchObject({ code: "tool_unknown" });
    expect(t.model.requests.map((r) => r.tools.map((tool) => tool.name))).toEqual([
      ["ask"],
      ["lookup_order", "attach", "ask"],
    ]);
  });

  it("T12 that throws fails alone; its message reaches the model, and the other calls of the step go on", async () => {
    t.runtime.tools.set("breaks", { run: () => Promise.reject(threw({ message: "no such order" })) });
    await run({
      calls: [
        { tool: "breaks", input: {} },
        { tool: "lookup_order", input: { id: "1" } },
      ],
    });
    expect(t.model.requests[1]?.history.at(-1)).toMatchObject({
      results: [
        { tool: "breaks", failed: true, output: "no such order" },
        { tool: "lookup_order", failed: false, output: { total: 12 } },
      ],
    });
  });

  it.each([
    ["timedOut", { kind: "timedOut" }, "tool_timed_out"],
    ["lost", { kind: "lost", reason: "SIGKILL" }, "runtime_lost"],
  ] as const)("T12 whose process %s fails with a code of its own", async (_, result, code) => {
    t.runtime.tools.set("breaks", { run: () => Promise.reject(new EndsWith(result)) });
    expect((await run(lookup({ tool: "breaks", input: {} })))[1]?.data).toMatchObject({ code });
  });

  it("T12 whose schema cannot be compiled fails, and says whose fault it is", async () => {
    t.runtime.tools.set("breaks", { input: { type: "nonsense" }, run: () => 1 });
    const [, failed] = await run(lookup({ tool: "breaks", input: {} }));
    expect(failed?.data.message).toMatch(/schema cannot be compiled/);
  });

  it("records progress, under the call's id", async () => {
    t.runtime.tools.set("slow", {
      run: async ({ onProgress }) => {
        onProgress?.({ percent: 50 });
        return 1;
      },
    });
    const events = await run(lookup({ tool: "slow", input: {} }));
    expect(events.find((e) => e.type === "tool.progress")?.data).toMatchObject({
      callId: events[0]?.data.callId,
      metadata: { percent: 50 },
    });
  });
});
