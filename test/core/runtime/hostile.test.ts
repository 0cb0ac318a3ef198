import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../../src/core/ports.ts";
import type { RuntimeHost } from "../../../src/core/runtime/host.ts";
import { detectIsolation, type Isolation } from "../../../src/core/runtime/isolation.ts";
import { livingIn } from "../../helpers/livingIn.ts";
import { recordingLog } from "../../helpers/log.ts";
import { waitUntil } from "../../helpers/waitUntil.ts";
import { createHarness, fixture, type Harness, invocation, NEVER, valueFrom, withLease } from "./harness.ts";

let harness: Harness;
let host: RuntimeHost;
let isolation: Isolation;
/** Another session of the same host, which nothing that happens here may touch. */
let bystander: Runtime;
const log = recordingLog();

beforeAll(async () => {
  harness = await createHarness();
  isolation = await detectIsolation();
  host = harness.host(
    { agent: await fixture("hostile"), calls: await fixture("calls") },
    { isolation, heapMiB: 64, log },
  );
  bystander = await host.lease({ deploymentId: "dpl_test", agentId: "calls", sessionId: "ses_bystander" }, NEVER);
  await valueFrom(bystander.invoke(invocation("count")));
});
afterAll(() => harness.close());

let expected = 1;
const bystanderGoesOn = async () => expect(await valueFrom(bystander.invoke(invocation("count")))).toBe(++expected);

const call = (tool: string, timeoutMs = 10_000) =>
  withLease(host, "ses_hostile", (runtime) => runtime.invoke(invocation(tool, { timeoutMs })));

describe("T12 an error fails its call and nothing else", () => {
  const cases: [string, string][] = [
    ["throwsError", "the order is unknown"],
    ["throwsString", "just words"],
    ["throwsNothing", "undefined"],
    ["throwsTrap", "It failed with something that cannot be described."],
    ["throwsHuge", "\ufffd".repeat(2_000)],
    ["strayRejection", "nobody awaits this"],
    ["strayThrow", "thrown from a timer"],
  ];
  test.each(cases)("%s", async (tool, message) => {
    expect(await call(tool)).toEqual({ kind: "threw", message, notApplied: false, traffic: { writes: [], opaque: 0 } });
    await bystanderGoesOn();
  });

  test("A5 NotApplied is told apart", async () => {
    expect(await call("notApplied")).toMatchObject({
      kind: "threw",
      notApplied: true,
      message: "the plan is the same already",
    });
  });

  test("a process that failed after its answer is replaced", async () => {
    await withLease(host, "ses_later", async (runtime) => {
      const first = await valueFrom(runtime.invoke(invocation("later")));
      await waitUntil(() =>
        log.lines.some(
          ({ message, fields }) =>
            message === "runtime ended" && "sessionId" in fields && fields.sessionId === "ses_later",
        ),
      );
      expect(typeof first).toBe("number");
      expect(await runtime.invoke(invocation("throwsError"))).toMatchObject({ message: "the order is unknown" });
    });
  });
});

describe("T12 a process that is lost takes its call with it and nothing else", () => {
  const cases: [string, RegExp][] = [
    ["exits", /^it exited with code 0$/],
    ["aborts", /^it was ended by SIG|^it exited with code/],
    ["eats", /^it was ended by SIG|^it exited with code/],
    ["garbage", /^it sent a message that is not of the protocol$/],
    ["deep", /^it sent a message that is not of the protocol$/],
    ["swollen", /^it sent a message that is not of the protocol$/],
    ["forged", /^it answered what was not asked$/],
    ["endless", /^it sent a message that is too long$/],
    ["chatter", /^it sent more messages than are read$/],
  ];
  test.each(cases)("%s", async (tool, reason) => {
    expect(await call(tool)).toEqual({ kind: "lost", reason: expect.stringMatching(reason) });
    await bystanderGoesOn();
  });

  test("blocks, until its time is up", async () => {
    const result = call("blocks", 200);
    await bystanderGoesOn();
    expect(await result).toEqual({ kind: "timedOut" });
  });
});

test("output is counted, never logged", async () => {
  const runtime = await host.lease({ deploymentId: "dpl_test", agentId: "agent", sessionId: "ses_prints" }, NEVER);
  await valueFrom(runtime.invoke(invocation("prints")));
  await runtime.invoke(invocation("exits"));
  await runtime.release();
  const ended = log.lines.find(
    ({ message, fields }) => message === "runtime ended" && "sessionId" in fields && fields.sessionId === "ses_prints",
  );
  expect(ended?.fields).toMatchObject({ stdout: expect.toSatisfy((bytes: number) => bytes > 0), stderr: 0 });
  expect(JSON.stringify(log.lines)).not.toContain("secret words");
});

// Where the host refuses namespaces, a process that left its group is out of reach: what `start` and `doctor` warn of.
test("S4 what a stopped call started is gone, detached or not", async () => {
  await withLease(host, "ses_daemon", async (runtime) => {
    const file = join(harness.data, "workspaces", "ses_daemon", "alive");
    const stop = new AbortController();
    const result = runtime.invoke(invocation("daemon", { input: JSON.stringify({ file }), signal: stop.signal }));
    const size = () =>
      stat(file).then(
        ({ size }) => size,
        () => 0,
      );
    await waitUntil(async () => (await size()) > 0, "the daemon");
    stop.abort();
    expect(await result).toEqual({ kind: "aborted" });
    // Seen from outside, at the moment the call ends: the daemon carries the file's name in its arguments.
    expect(livingIn(file).length === 0).toBe(isolation.kind !== "none");
  });
});
