import { afterAll, beforeAll, expect, test } from "vitest";
import { type EffectLedger, startEffectLedger } from "./effectLedger.ts";

let ledger: EffectLedger;
beforeAll(async () => {
  ledger = await startEffectLedger();
});
afterAll(() => ledger.close());

const write = (key: string, args = "{}") =>
  fetch(`${ledger.url}/orders`, {
    method: "POST",
    headers: { "idempotency-key": key, "x-attempt": "7" },
    body: args,
    signal: AbortSignal.timeout(2_000),
  });
const outcomes = async (key: string) => (await ledger.calls({ key })).map((call) => call.outcome);

test("writes down every write, and carries a key out once", async () => {
  expect((await write("a", '{"n":1}')).status).toBe(200);
  expect((await write("a", '{"n":1}')).status).toBe(200);
  expect(await outcomes("a")).toEqual(["committed", "replayed"]);
  const [first] = await ledger.calls({ key: "a" });
  expect(first).toMatchObject({ key: "a", attempt: "7", path: "/orders", args: '{"n":1}', fault: null });
});

test("25 refuses a key that comes again with other arguments", async () => {
  await write("b", '{"n":1}');
  expect((await write("b", '{"n":2}')).status).toBe(422);
  expect(await outcomes("b")).toEqual(["committed", "conflict"]);
});

test("25 commits and hangs, commits and cuts the connection, commits and answers 500", async () => {
  await ledger.fail("hangs", "hang");
  const hanging = fetch(`${ledger.url}/orders`, {
    method: "POST",
    headers: { "idempotency-key": "hangs" },
    signal: AbortSignal.timeout(50),
  });
  await expect(hanging).rejects.toThrow(/timeout/i);
  await ledger.fail("cut", "reset");
  await expect(write("cut")).rejects.toThrow(/fetch failed/);
  await ledger.fail("oops", "500");
  expect((await write("oops")).status).toBe(500);
  for (const key of ["hangs", "cut", "oops"]) expect(await outcomes(key)).toEqual(["committed"]);
  expect((await write("oops")).status, "a fault holds for one write").toBe(200);
});

test("refuses without doing anything, and says whether an effect is there", async () => {
  await ledger.fail("*", "refuse");
  expect((await write("c")).status).toBe(402);
  const look = () => fetch(`${ledger.url}/orders`, { headers: { "idempotency-key": "c" } });
  expect((await look()).status).toBe(404);
  await write("c");
  expect((await look()).status).toBe(200);
  expect(await outcomes("c")).toEqual(["refused", "committed"]);
});
