import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/core/domain/json.ts";
import type { InvokeRequest } from "../../../src/core/ports.ts";
import type { RuntimeHost } from "../../../src/core/runtime/host.ts";
import { recordingLog } from "../../helpers/log.ts";
import { createHarness, fixture, type Harness, invocation, NEVER, valueFrom, withLease } from "./harness.ts";

let harness: Harness;
let host: RuntimeHost;
beforeAll(async () => {
  harness = await createHarness();
  host = harness.host({ agent: await fixture("calls"), support: await fixture("support") });
});
afterAll(() => harness.close());

const call = (tool: string, more: Partial<InvokeRequest> = {}) =>
  withLease(host, "ses_calls", (runtime) => runtime.invoke(invocation(tool, more)));

describe("what a tool is given", () => {
  test("T3 ids, the signal and reportProgress", async () => {
    const context = { sessionId: "ses_9", messageId: "msg_9", toolCallId: "call_9", agentId: "agent" };
    expect(await valueFrom(call("context", { context, input: '{"a":1}' }))).toEqual({
      ...context,
      input: { a: 1 },
      aborted: false,
      reports: "function",
    });
  });

  test("T4 its arguments as they were sent: nothing coerced, no key lost", async () => {
    const input = '{"n":"7","__proto__":{"x":1},"z":null,"a":[1e3,""],"text":"\\ud800\\u0000"}';
    expect(await valueFrom(call("echo", { input }))).toEqual(JSON.parse(input));
  });
});

describe("what a tool returns", () => {
  const returned: [string, Json][] = [
    ["nothing", null],
    ["surrogates", { text: "\ud800\u0000\ud83d\ude00" }],
    ["response", { status: 201, ok: true, body: { id: 7 } }],
    ["textResponse", { status: 200, ok: true, body: "{not json" }],
    ["longResponse", { status: 200, ok: true, body: "y".repeat(128 * 1024) }],
    ["readResponse", { status: 200, ok: true, body: null }],
  ];
  test.each(returned)("T5 %s", async (tool, value) => {
    expect(await valueFrom(call(tool))).toEqual(value);
  });

  const refused: [string, string][] = [
    ["nested", "$.items[0].price: undefined is not a JSON value"],
    ["fn", "$.fn: function is not a JSON value"],
    ["big", "$.n: bigint is not a JSON value"],
    ["cycle", "$.self: the value contains itself"],
    ["nan", "$[0]: NaN is not a JSON number"],
    ["huge", "1048578 bytes of JSON; at most 1048576 are kept"],
    ["liar", "cannot be read as JSON"],
  ];
  test.each(refused)("T5 %s fails the call, which says where", async (tool, reason) => {
    expect(await call(tool)).toMatchObject({
      kind: "threw",
      message: expect.stringContaining(reason),
      notApplied: false,
    });
  });
});

describe("progress", () => {
  test("T3 arrives before the result, in order", async () => {
    const seen: Json[] = [];
    expect(await valueFrom(call("progress", { onProgress: (value) => seen.push(value) }))).toBe("done");
    expect(seen).toEqual([{ phase: "one" }, { phase: "two" }]);
  });

  test("T5 that is not JSON fails the call, even when the tool swallows the refusal", async () => {
    expect(await call("badProgress")).toMatchObject({
      kind: "threw",
      message: expect.stringContaining("$.at: function"),
    });
  });

  test("a flood keeps its beginning and its end, and the log has the count of the others", async () => {
    const seen: Json[] = [];
    const log = recordingLog();
    const flooded = harness.host({ agent: await fixture("calls") }, { log });
    const onProgress = (value: Json) => seen.push(value);
    await withLease(flooded, "ses_flood", (runtime) => valueFrom(runtime.invoke(invocation("flood", { onProgress }))));
    expect(seen).toHaveLength(21);
    expect(seen.at(-1)).toEqual({ i: 10_000 });
    expect(log.lines.map(({ fields }) => fields)).toContainEqual(expect.objectContaining({ dropped: 10_000 - 21 }));
  });
});

describe("an approval tool", () => {
  const support = (more: Partial<InvokeRequest>) =>
    withLease(host, "ses_support", (runtime) => runtime.invoke(invocation("attach", more)), "support");
  const decision = { id: "dec_1", decidedAt: "2026-01-01T00:00:00.000Z", decidedBy: { userId: "U1" } };
  const input = '{"customer":"Ada"}';

  test("A1 preview gets the arguments", async () => {
    expect(await valueFrom(support({ entry: "preview", input }))).toEqual({ title: "Move Ada" });
  });

  test("A2 apply runs without any render before it, with the arguments and A3 the decision", async () => {
    expect(await valueFrom(support({ entry: "apply", input, decision }))).toEqual({
      key: "dec_1",
      by: { userId: "U1" },
      customer: "Ada",
    });
  });

  test("A5 verify gets the decision", async () => {
    const applied = { ...decision, id: "dec_applied" };
    expect(await valueFrom(support({ entry: "verify", input, decision: applied }))).toEqual({ applied: true });
  });

  test("a tool that does not exist fails its call by name", async () => {
    const result = withLease(host, "ses_support", (runtime) => runtime.invoke(invocation("unheard_of")), "support");
    expect(await result).toMatchObject({ kind: "threw", message: expect.stringContaining("unheard_of") });
  });
});

describe("a call that is stopped", () => {
  const stopped = (sessionId: string) => join(harness.data, "workspaces", sessionId, "stopped");

  test("A5 a timeout is a timeout even when the tool answers after it, and its process is gone", async () => {
    await withLease(host, "ses_timeout", async (runtime) => {
      const before = await valueFrom(runtime.invoke(invocation("count")));
      expect(await runtime.invoke(invocation("wait", { timeoutMs: 50 }))).toEqual({ kind: "timedOut" });
      expect(await valueFrom(runtime.invoke(invocation("count")))).toBe(before);
    });
    expect(await readFile(stopped("ses_timeout"), "utf8")).toBe("TimeoutError");
  });

  test("S4 an abort fires the tool's signal and settles once its process is gone", async () => {
    const stop = new AbortController();
    const result = withLease(host, "ses_abort", async (runtime) => {
      const waiting = runtime.invoke(invocation("wait", { signal: stop.signal }));
      await valueFrom(runtime.invoke(invocation("nothing")));
      stop.abort();
      return waiting;
    });
    expect(await result).toEqual({ kind: "aborted" });
    expect(await readFile(stopped("ses_abort"), "utf8")).toBe("AbortError");
  });

  test("one whose signal has fired before never starts", async () => {
    expect(await call("write", { signal: AbortSignal.abort(), input: '{"file":"never","text":""}' })).toEqual({
      kind: "aborted",
    });
    expect(await valueFrom(call("read", { input: '{"file":"never"}' }))).toBe("ENOENT");
  });

  test("a call that outlives its lease is lost, and nothing of it goes on", async () => {
    const runtime = await host.lease({ deploymentId: "dpl_test", agentId: "agent", sessionId: "ses_outlive" }, NEVER);
    const outliving = runtime.invoke(invocation("wait"));
    await valueFrom(runtime.invoke(invocation("nothing")));
    await runtime.release();
    expect(await outliving).toEqual({ kind: "lost", reason: "its lease was released" });
    expect(await runtime.invoke(invocation("nothing"))).toMatchObject({ kind: "threw", notApplied: true });
  });
});

test("calls of one lease overlap", async () => {
  await withLease(host, "ses_overlap", async (runtime) => {
    const slow = valueFrom(runtime.invoke(invocation("slow", { input: '{"ms":100}' })));
    let slowDone = false;
    void slow.then(() => {
      slowDone = true;
    });
    await valueFrom(runtime.invoke(invocation("nothing")));
    expect(slowDone).toBe(false);
    expect(await slow).toEqual({ ms: 100 });
  });
});
