import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { judgeApply } from "../../../src/core/domain/decision.ts";
import { type Connections, createConnections } from "../../../src/core/egress/connections.ts";
import type { InvokeResult } from "../../../src/core/ports.ts";
import type { RuntimeHost } from "../../../src/core/runtime/host.ts";
import { recordingLog, silentLog } from "../../helpers/log.ts";
import { waitUntil } from "../../helpers/waitUntil.ts";
import { createHarness, fixture, type Harness, invocation, withLease } from "./harness.ts";

let harness: Harness;
let host: RuntimeHost;
let target: Server;
let connections: Connections;
/** Secrets being read, and requests of the egress without their end. */
let reading = 0;
let underWay = 0;
const log = recordingLog();
/** Lines of the tests before. */
let before = 0;
/** Methods of what reached the target. */
const written: string[] = [];

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  harness = await createHarness();
  target = createServer((request, response) => {
    if (request.method !== "GET") written.push(request.method ?? "");
    request.resume().on("end", () => response.end());
  });
  await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
  connections = await createConnections({
    connectionsOf: async () => [
      {
        id: "target",
        origin: urlOf(target),
        headers: [{ name: "authorization", secret: "KEY", prefix: "", suffix: "" }],
        redirectOrigins: [],
      },
    ],
    // As slow as a database: a request is on its way while its secret is being read.
    readSecret: async () => {
      reading++;
      await new Promise((resolve) => setTimeout(resolve, 20));
      reading--;
      return "secret";
    },
    onTraffic: ({ outcome }) => {
      underWay += outcome.kind === "request" ? 1 : -1;
    },
    allowLoopback: true,
    allowPrivate: false,
    log: silentLog,
  });
  host = harness.host(
    { agent: await fixture("leftBehind") },
    {
      connectionsUrl: connections.url,
      issueToken: connections.issueToken,
      onLease: connections.lease,
      egress: connections.traffic,
      log,
    },
  );
});
afterAll(async () => {
  await harness.close();
  await connections.close();
  target.closeAllConnections();
  target.close();
});
beforeEach(() => {
  written.length = 0;
  before = log.lines.length;
});

const apply = (tool: string): Promise<InvokeResult> =>
  withLease(host, "ses_left", (runtime) =>
    runtime.invoke(
      invocation(tool, {
        entry: "apply",
        input: JSON.stringify({ url: urlOf(target) }),
        decision: { id: "dec_1", decidedAt: "" },
      }),
    ),
  );

/** Nobody is left who could write: the child has ended, the parent carries nothing for it, the target serves nobody. */
async function nobodyIsLeft(): Promise<void> {
  const ended = () => log.lines.slice(before).some(({ message }) => message === "runtime ended");
  const served = () => new Promise<number>((resolve) => target.getConnections((_error, count) => resolve(count)));
  await waitUntil(
    async () => ended() && reading === 0 && underWay === 0 && (await served()) === 0,
    "nobody to be left",
  );
}

describe("A5 failed means that nothing can have been written: what an apply left behind when it threw", () => {
  test.each([
    "connectionThenThrow",
    "connectionUnderWay",
    "connectionLater",
    "fetchThenThrow",
    "httpThenThrow",
    "fetchLater",
    "crashLater",
  ])("%s", async (tool) => {
    const result = await apply(tool);
    if (result.kind !== "threw") throw new Error(`expected a throw, got ${JSON.stringify(result)}`);
    const outcome = judgeApply(result, false);
    await nobodyIsLeft();
    if (written.length > 0) expect(outcome).toBe("reportUnconfirmed");
    // What had not begun never does.
    if (tool.endsWith("Later")) expect({ outcome, written }).toEqual({ outcome: "reportFailed", written: [] });
  });

  test("a read left behind is no write", async () => {
    expect(judgeApply(await threwFrom("readThenThrow"), false)).toBe("reportFailed");
  });

  test("a Response that is not ok is judged the same way", async () => {
    expect(await apply("refusedAndLater")).toMatchObject({ kind: "returned", value: { status: 422, ok: false } });
    await nobodyIsLeft();
    expect(written).toEqual([]);
  });

  test("a success that is reported when the time is up is a success, and a throw then is none", async () => {
    const late = (tool: string) =>
      withLease(host, "ses_late", (runtime) =>
        runtime.invoke(invocation(tool, { entry: "apply", timeoutMs: 100, decision: { id: "dec_1", decidedAt: "" } })),
      );
    expect(await late("returnsWhenStopped")).toMatchObject({ kind: "returned", value: "written" });
    expect(await late("throwsWhenStopped")).toEqual({ kind: "timedOut" });
  });

  test("an apply that succeeded may finish what it left behind", async () => {
    expect(await apply("returnsAndLater")).toMatchObject({ kind: "returned", value: "done" });
    await expect.poll(() => written).toEqual(["POST"]);
  });
});

async function threwFrom(tool: string) {
  const result = await apply(tool);
  if (result.kind !== "threw") throw new Error(JSON.stringify(result));
  return result;
}
