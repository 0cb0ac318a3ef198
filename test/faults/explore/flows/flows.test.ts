import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPool, type Pool } from "../../../../src/core/db/pool.ts";
import { ANA, BEN, createTestCore, type TestCore } from "../../../helpers/core.ts";
import { silentLog } from "../../../helpers/log.ts";
import { MUTATIONS, mutate } from "../../mutations.ts";
import type { Rewrite } from "../../wrap.ts";
import { schedules } from "./director.ts";
import { answers, deciders, endings, scripts, talkers } from "./people.ts";
import { CUES, type Play, play } from "./play.ts";

/**
 * More runs: `SCHEDULES=2000`. One run again, as a failure prints it: `SCHEDULE_SEED` and `SCHEDULE_PATH`; with
 * `SCHEDULE_SHRINK=1` it is looked for with ever fewer cues and deeds, which takes minutes.
 */
const { SCHEDULES = "25", SCHEDULE_SEED, SCHEDULE_PATH, SCHEDULE_SHRINK } = process.env;
const parameters = {
  numRuns: Number(SCHEDULES),
  endOnFailure: SCHEDULE_SHRINK === undefined,
  ...(SCHEDULE_SEED !== undefined && { seed: Number(SCHEDULE_SEED) }),
  ...(SCHEDULE_PATH !== undefined && { path: SCHEDULE_PATH }),
};
const TIMEOUT_MS = 60_000 + Number(SCHEDULES) * 3_000;

describe("flows of two people, three workers and the sweeper, one call at a time", () => {
  let t: TestCore;
  let pool: Pool;
  beforeAll(async () => {
    t = await createTestCore();
    // A connection for everybody who may stand still with one, and none of those the director looks through.
    pool = createPool({ url: t.database.url, max: 40, applicationName: "stage", log: silentLog });
  });
  afterAll(async () => {
    await pool.end();
    await t.close();
  });

  const writes: fc.Arbitrary<Play> = fc.record({
    schedule: schedules(CUES),
    people: deciders,
    target: endings,
    platform: answers,
    model: fc.constant([]),
  });
  const talks: fc.Arbitrary<Play> = fc.record({
    schedule: schedules(CUES),
    people: talkers,
    target: endings,
    platform: answers,
    model: scripts,
  });

  /** Fails with what was wrong and every call that led there. */
  const holds = (plays: fc.Arbitrary<Play>, begun: boolean, rewrite?: Rewrite) =>
    fc.asyncProperty(plays, async (run) => {
      await t.reset();
      const users = [ANA.userId, BEN.userId];
      await t.deploy({ id: "dpl_2", approvals: { deciders: { slack: { users, usergroups: [] } } } });
      const { wrong, played } = await play(t, pool, run, begun, rewrite);
      if (wrong.length > 0) throw new Error([...wrong, "after", ...played].join("\n"));
    });

  it(
    "I1-I10 hold for writes that are proposed, decided, applied, lost and run again in any order",
    { timeout: TIMEOUT_MS },
    () => fc.assert(holds(writes, true), parameters),
  );

  it(
    "I8-I10 G3 G5 Q2 S2 hold for turns, questions, steers, interrupts and ends in any order",
    { timeout: TIMEOUT_MS },
    () => fc.assert(holds(talks, false), parameters),
  );

  // What either needs to do harm: a first attempt that fails, and a second that does not.
  const contested = writes.map((run): Play => ({ ...run, target: ["refuses", "answers", "answers"] }));

  it.each(["claim", "fence"] as const)(
    "are seen to break where the %s asks for less than it does",
    { timeout: TIMEOUT_MS },
    async (name) => {
      const found = await fc.check(holds(contested, true, mutate(MUTATIONS[name])), {
        numRuns: 300,
        seed: Number(SCHEDULE_SEED ?? 1),
        endOnFailure: true,
      });
      expect(String(found.errorInstance)).toMatch(/\n?[IA]\d+ /);
    },
  );
});
