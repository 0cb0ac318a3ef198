import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildProject } from "../../../src/core/build/buildProject.ts";
import { packageRoot } from "../../../src/core/packageRoot.ts";
import type { RuntimeHost } from "../../../src/core/runtime/host.ts";
import { createHarness, type Harness, invocation, valueFrom, withLease } from "./harness.ts";

/** The example as it is built: the published hooks, tools and connections meet this runtime here. */
let harness: Harness;
let egress: Server;
let host: RuntimeHost;
const asked: { path: string | undefined; token: string | undefined; message: unknown }[] = [];

beforeAll(async () => {
  harness = await createHarness();
  egress = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const message = JSON.parse(Buffer.concat(chunks).toString());
    asked.push({ path: request.url, token: request.headers.authorization, message });
    const body = message.method === "GET" ? { name: "Ada", plan: "team-monthly", nextCharge: 20 } : { error: "no" };
    response.writeHead(message.method === "GET" ? 200 : 422, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => egress.listen(0, "127.0.0.1", resolve));
  const deployment = await buildProject({ dir: join(packageRoot(), "examples/support"), allowLoopback: true });
  host = harness.host(
    {},
    {
      loadDeployment: async () => deployment,
      connectionsUrl: `http://127.0.0.1:${(egress.address() as AddressInfo).port}`,
      issueToken: () => "good-for-this-runtime",
    },
  );
});
afterAll(async () => {
  await harness.close();
  egress.closeAllConnections();
  egress.close();
});

const input = '{"customerId":"cus_42","planId":"pro-monthly"}';

test("T10 the example renders what its input selects", async () => {
  const answer = { questionId: "qst_1", text: "Monthly" };
  const [first, answered] = await withLease(
    host,
    "ses_built",
    async (runtime) => [
      await runtime.render({ input: { source: "user", text: "hello" }, sessionData: {} }),
      await runtime.render({ input: { source: "user", text: "Monthly", answer }, sessionData: {} }),
    ],
    "support",
  );
  expect(first?.model).toBe("anthropic/claude-sonnet-4.6");
  expect(first?.tools).toMatchObject([
    { kind: "run", name: "lookup_order" },
    { kind: "approval", name: "attach" },
    { kind: "builtin", id: "ask" },
  ]);
  expect(answered?.tools).toHaveLength(2);
});

test("C1 its connection goes through the parent with the token of its runtime", async () => {
  asked.length = 0;
  const preview = withLease(
    host,
    "ses_built",
    (runtime) => valueFrom(runtime.invoke(invocation("attach", { entry: "preview", input }))),
    "support",
  );
  expect(await preview).toMatchObject({ title: "Move Ada to pro-monthly", facts: [{}, {}, { value: 20 }] });
  expect(asked).toEqual([
    {
      path: "/billing/fetch",
      token: "Bearer good-for-this-runtime",
      message: expect.objectContaining({ method: "GET", path: "/customers/cus_42" }),
    },
  ]);
});

test("A5 a refused write through the parent leaves the judging to what the parent saw", async () => {
  const decision = { id: "dec_1", decidedAt: "2026-01-01T00:00:00.000Z" };
  const applied = withLease(
    host,
    "ses_built",
    (runtime) => runtime.invoke(invocation("attach", { entry: "apply", input, decision })),
    "support",
  );
  expect(await applied).toEqual({
    kind: "threw",
    message: "The billing server answered 422",
    notApplied: false,
    traffic: { writes: [], opaque: 0 },
  });
  expect(asked.at(-1)?.message).toMatchObject({ headers: { "idempotency-key": "dec_1" } });
});
