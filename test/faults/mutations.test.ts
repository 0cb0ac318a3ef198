import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { Point } from "./crashPoints.ts";
import { MUTATIONS, type MutationName, mutate } from "./mutations.ts";
import type { Case } from "./run.ts";
import { judge, openSweep, type Sweep } from "./sweep.ts";

/** A sweep that cannot fail proves nothing: with one mistake in the code it must find what the mistake breaks. */

const open = (mutation?: MutationName): Promise<Sweep> =>
  openSweep({ serverUrl: inject("databaseServerUrl"), redisUrl: null, lanes: 1, ...(mutation && { mutation }) });

// A busy machine takes its time over a dozen processes, and each of these tests waits for several.
describe("a mistake is found", { timeout: 180_000 }, () => {
  let sound: Sweep;
  beforeAll(async () => {
    sound = await open();
  }, 60_000);
  afterAll(() => sound.close());

  async function violations(sweep: Sweep, one: Case): Promise<string[]> {
    const ended = await sweep.run([one]);
    expect(ended.map(({ stops }) => stops.length)).toEqual([one.points.length]);
    return judge(ended).map(({ invariant }) => invariant);
  }

  /** Where the last process of a case calls the ledger, when nothing is wrong. */
  async function write(of: Case, side: "before" | "after"): Promise<Point> {
    const [ended] = await sound.run([of]);
    const at = ended?.called.at(-1)?.find(({ point, label }) => label === "ledger.write" && point.endsWith(side));
    if (!at) throw new Error(`${of.story} never calls the ledger`);
    return at.point;
  }

  async function isFound(mutation: MutationName, one: Case): Promise<void> {
    expect(await violations(sound, one)).toEqual([]);
    // In a sweep of its own, because a mutation of the schema is made in the template.
    const mistaken = await open(mutation);
    try {
      expect(await violations(mistaken, one)).toContain(MUTATIONS[mutation].violates);
    } finally {
      await mistaken.close();
    }
  }

  test("I3 a start that asks for no state", () =>
    isFound("claim", { story: "approve", points: ["turn:1:before"], how: "kill" }));

  test("16 I7 an end that names no fence", async () => {
    // The first worker stands still with a refusal in its hands, the second one right before its write.
    const refused = await write({ story: "refuse", points: [], how: "kill" }, "after");
    const again = await write({ story: "refuse", points: [refused], how: "pause" }, "before");
    await isFound("fence", { story: "refuse", points: [refused, again], how: "pause" });
  });

  test("G3 an inbox that forgets", () =>
    isFound("dedupe", { story: "approve", points: ["receive:1:after"], how: "kill" }));
});

test("a mutation that does not find its text says so", async () => {
  const rewrite = mutate(MUTATIONS.claim);
  expect(rewrite("select 1")).toBe("select 1");
  expect(() => rewrite("insert into decision_attempts …")).toThrow(/does not find its text/);
  // A flow may catch what a statement throws: each is in the stores as it is looked for, once.
  const store = await readFile("src/core/store/attempts.ts", "utf8");
  for (const { of, text } of [MUTATIONS.claim, MUTATIONS.fence]) {
    expect(store.split(of)).toHaveLength(2);
    expect(store.split(text)).toHaveLength(2);
  }
});
