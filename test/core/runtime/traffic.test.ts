import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createRawServer, type Server as RawServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ApplyOutcome, judgeApply, type Traffic } from "../../../src/core/domain/decision.ts";
import type { InvokeResult, Runtime } from "../../../src/core/ports.ts";
import type { RuntimeHost } from "../../../src/core/runtime/host.ts";
import { createHarness, fixture, type Harness, invocation, valueFrom, withLease } from "./harness.ts";

let harness: Harness;
let host: RuntimeHost;
let target: Server;
let egress: Server;
let sink: RawServer;
const begun: string[] = [];
let seenByEgress: Traffic = { writes: [], opaque: 0 };

const portOf = (server: RawServer) => (server.address() as AddressInfo).port;
const listening = <S extends RawServer>(server: S) =>
  new Promise<S>((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
const url = (status: number) => `http://127.0.0.1:${portOf(target)}/${status}`;

beforeAll(async () => {
  harness = await createHarness();
  target = await listening(
    createServer((request, response) => {
      if (request.url === "/drop") return void request.socket.destroy();
      request.resume();
      response.writeHead(Number(request.url?.slice(1)) || 200).end();
    }),
  );
  egress = await listening(createServer((request, response) => void request.resume().on("end", () => response.end())));
  sink = await listening(createRawServer((socket) => void socket.on("error", () => {}).resume()));
  host = harness.host(
    { agent: await fixture("traffic") },
    {
      connectionsUrl: `http://127.0.0.1:${portOf(egress)}`,
      egress: { begin: (token) => void begun.push(token), of: () => seenByEgress },
    },
  );
});
afterAll(async () => {
  await harness.close();
  for (const server of [target, egress]) server.closeAllConnections();
  for (const server of [target, egress, sink]) server.close();
});

const apply = (runtime: Runtime, tool: string, input: object = {}): Promise<InvokeResult> =>
  runtime.invoke(
    invocation(tool, {
      entry: "apply",
      input: JSON.stringify({ port: portOf(sink), ...input }),
      decision: { id: "dec_1", decidedAt: "" },
    }),
  );

const sent = async (tool: string, input: object = {}): Promise<{ traffic: Traffic; outcome: ApplyOutcome }> => {
  const result = await withLease(host, "ses_traffic", (runtime) => apply(runtime, tool, input));
  if (result.kind !== "threw" || result.message !== "failed after that") throw new Error(JSON.stringify(result));
  return { traffic: result.traffic, outcome: judgeApply(result, false) };
};

describe("A5 an apply that threw is failed", () => {
  test("when it sent nothing", async () => {
    expect(await sent("silent")).toEqual({ traffic: { writes: [], opaque: 0 }, outcome: "reportFailed" });
  });

  test("when it only read, by fetch and by node:http", async () => {
    expect(await sent("reads", { url: url(200) })).toEqual({
      traffic: { writes: [], opaque: 0 },
      outcome: "reportFailed",
    });
  });

  test("when what it read could not be reached", async () => {
    expect(await sent("refusedRead", { url: "http://127.0.0.1:9" })).toMatchObject({ outcome: "reportFailed" });
  });

  test.each(["posts", "postsByHttp"])("when its write was refused: %s", async (tool) => {
    expect(await sent(tool, { url: url(422) })).toEqual({
      traffic: { writes: [{ status: 422 }], opaque: 0 },
      outcome: "reportFailed",
    });
  });

  test("when a raw socket carried nothing", async () => {
    expect(await sent("silentSocket")).toEqual({ traffic: { writes: [], opaque: 0 }, outcome: "reportFailed" });
  });
});

describe("A5 an apply that threw is unconfirmed", () => {
  test.each(["posts", "postsByHttp"])("when its write was answered otherwise: %s", async (tool) => {
    for (const status of [200, 302, 500]) {
      expect(await sent(tool, { url: url(status) })).toEqual({
        traffic: { writes: [{ status }], opaque: 0 },
        outcome: "reportUnconfirmed",
      });
    }
  });

  test("when its write was never answered", async () => {
    const dropped = `http://127.0.0.1:${portOf(target)}/drop`;
    expect(await sent("unanswered", { url: dropped })).toEqual({
      traffic: { writes: [{ status: null }], opaque: 0 },
      outcome: "reportUnconfirmed",
    });
  });

  test("when its write was still being sent", async () => {
    expect(await sent("streams", { url: url(200) })).toMatchObject({ traffic: { writes: [{ status: null }] } });
  });

  test.each(["rawSocket", "closedSocket", "datagram", "spawned", "execSync", "execFileSync", "thread"])(
    "when it did what cannot be judged: %s",
    async (tool) => {
      expect(await sent(tool)).toEqual({ traffic: { writes: [], opaque: 1 }, outcome: "reportUnconfirmed" });
    },
  );

  test("when it wrote through a connection that an earlier call opened", async () => {
    await withLease(host, "ses_pool", async (runtime) => {
      expect(await valueFrom(apply(runtime, "pool"))).toBe("connected");
      expect(await apply(runtime, "usesPool")).toMatchObject({ traffic: { opaque: 1 } });
    });
    await withLease(host, "ses_pool", async (runtime) => {
      expect(await valueFrom(apply(runtime, "pool"))).toBe("connected");
      expect(await apply(runtime, "leavesPool")).toMatchObject({ traffic: { opaque: 0 } });
    });
  });
});

describe("A5 what went through the parent", () => {
  test("is counted by the parent, once", async () => {
    seenByEgress = { writes: [{ status: 503 }], opaque: 0 };
    begun.length = 0;
    const { traffic } = await sent("throughParent");
    seenByEgress = { writes: [], opaque: 0 };
    expect(traffic).toEqual({ writes: [{ status: 503 }], opaque: 0 });
    expect(begun).toEqual([expect.stringMatching(/^token-/)]);
  });
});
