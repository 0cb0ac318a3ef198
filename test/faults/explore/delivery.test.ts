import { describe, expect, it } from "vitest";
import { STATEMENTS } from "./delivery/statements.ts";
import { createDeliveryWorld, MACHINE, type Machine } from "./delivery/world.ts";
import { explore, tell } from "./explore.ts";

const USUAL = { keyed: false, late: false, crashes: 1 };
const ONE_MESSAGE = "G5 one delivery is one message";

describe("a delivery and the edit behind it, whatever happens in whatever order", () => {
  it.each([
    ["a platform without keys, whose requests arrive or do not", USUAL],
    ["a platform with keys, whose requests arrive when they like", { keyed: true, late: true, crashes: 0 }],
  ])("G5 holds on %s", { timeout: 60_000 }, (name, conditions) => {
    const explored = explore(createDeliveryWorld(conditions));
    console.info(tell(name, explored));
    expect(explored.broken).toBeNull();
    expect(explored.states).toBeGreaterThan(300);
  });

  it("G5 cannot hold without keys where a request leaves after its lease, or arrives after the look", () => {
    // The limit of what looking can do. A lease is longer than a request may take, so only a worker that stands still
    // between its claim and its request comes to this, or a platform that sits on one.
    const { broken } = explore(createDeliveryWorld({ ...USUAL, late: true }));
    expect(broken?.rule).toBe(ONE_MESSAGE);
    expect(broken?.story).toMatchSnapshot();
  });
});

describe("an outbox that is broken", () => {
  const BROKEN: readonly [string, Partial<Machine>, string][] = [
    ["that posts what may be there", { looks: false }, ONE_MESSAGE],
    [
      "that takes a lost one for one that never left",
      { lose: (row) => (row.lease === "past" ? { ...row, status: "queued", lease: null, due: true } : null) },
      ONE_MESSAGE,
    ],
    [
      "whose claim takes what somebody sends",
      { claim: (row, by) => STATEMENTS.claim(row, by) ?? (row.status === "sending" ? { ...row, holder: by } : null) },
      ONE_MESSAGE,
    ],
    [
      "that requeues without a fence",
      { requeue: (row) => (row.holder === null ? null : STATEMENTS.requeue(row, row.holder)) },
      ONE_MESSAGE,
    ],
    [
      "that offers again what may be there",
      { offerAgain: (row) => STATEMENTS.offerAgain({ ...row, inDoubt: false }) },
      ONE_MESSAGE,
    ],
    ["that forgets whose worker is gone", { lose: () => null }, "I8"],
  ];

  it.each(BROKEN)("%s is found out by its shortest story", (name, over, rule) => {
    const explored = explore(createDeliveryWorld(USUAL, { ...MACHINE, ...over }));
    console.info(tell(`an outbox ${name}`, explored));
    expect(explored.broken?.rule).toContain(rule);
    expect(explored.broken?.story).toMatchSnapshot();
  });
});
