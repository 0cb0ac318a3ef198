import { expect, onTestFinished, test } from "vitest";
import { type BillingServer, createBillingServer } from "../../../examples/support/billing/server.ts";

async function started(key?: string): Promise<BillingServer> {
  const server = createBillingServer(key === undefined ? {} : { key });
  await server.start();
  onTestFinished(() => server.stop());
  return server;
}

const subscribe = (server: BillingServer, body: unknown, key?: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/subscriptions`, {
    method: "POST",
    headers: { ...(key === undefined ? {} : { "Idempotency-Key": key }), ...headers },
    body: JSON.stringify(body),
  });

const MOVE = { customer: "cus_42", plan: "team-monthly" };

test("the example's billing server writes once for each idempotency key", async () => {
  const server = await started();
  const first = await subscribe(server, MOVE, "dec_1");
  const second = await subscribe(server, MOVE, "dec_1");
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(await second.json()).toEqual(await first.json());
  expect(server.writes()).toBe(1);
  expect((await subscribe(server, { ...MOVE, plan: "pro-yearly" }, "dec_1")).status).toBe(409);
  expect((await subscribe(server, MOVE)).status).toBe(400);
  expect((await subscribe(server, { customer: "cus_0", plan: "x" }, "dec_2")).status).toBe(422);
  expect(await (await fetch(`${server.url}/writes`)).json()).toEqual({ writes: 1, byKey: { dec_1: 1 } });
  expect(await (await fetch(`${server.url}/customers/cus_42`)).json()).toMatchObject({
    name: "Acme",
    plan: "team-monthly",
  });
  expect(await (await fetch(`${server.url}/orders/1042`)).json()).toMatchObject({ orderId: "1042", status: "shipped" });
  expect((await fetch(`${server.url}/orders/1`)).status).toBe(404);
});

test("started with a key it asks for it, but not for the counts", async () => {
  const server = await started("k");
  expect((await subscribe(server, MOVE, "dec_1")).status).toBe(401);
  expect((await subscribe(server, MOVE, "dec_1", { authorization: "Bearer k" })).status).toBe(201);
  expect((await fetch(`${server.url}/writes`)).status).toBe(200);
});

test("its faults say whether they wrote, and a repeat of the key never writes again", async () => {
  const server = await started();
  server.faults.push("refuse", "fail-before", "fail-after", "reset-after");
  expect((await subscribe(server, MOVE, "dec_1")).status).toBe(422);
  expect((await subscribe(server, MOVE, "dec_1")).status).toBe(500);
  expect(server.writes()).toBe(0);
  expect((await subscribe(server, MOVE, "dec_1")).status).toBe(500);
  await expect(subscribe(server, MOVE, "dec_1")).rejects.toThrow();
  expect((await subscribe(server, MOVE, "dec_1")).status).toBe(201);
  expect(server.subscriptions).toEqual([{ id: "sub_1", ...MOVE }]);
});
