import { ofTheQueue, outsideTransactions, pairs, singles } from "./cases.ts";
import { countViolations, INVARIANTS } from "./invariants.ts";
import { type Options, readOptions } from "./options.ts";
import { startOwnPostgres } from "./ownPostgres.ts";
import type { Case, Ended } from "./run.ts";
import type { StoryName } from "./stories.ts";
import { type Found, judge, openSweep, type Sweep } from "./sweep.ts";

/**
 * `npm run faults`: kill -9 at every call of every flow, then every pair of two in decide and apply; one JSON line at
 * the end. Exit 1 where anything is violated. With REDIS_URL the queue is on Redis, and its own points are run on
 * PostgreSQL, too.
 */

/** Together with their successors they stay under the connections of `startOwnPostgres`. */
const SIDE_BY_SIDE = 24;
/** Nobody reads more of them; what is wrong at one point is wrong at its neighbours. */
const MOST_TOLD = 20;
/** What recoveries are killed in while they sweep: in a turn, in a write, in a delivery, each holding what it claimed. */
const SWEPT: readonly Case[] = [
  { story: "once", points: ["turn:9:after"], how: "kill" },
  { story: "once", points: ["apply:10:after"], how: "kill" },
  { story: "once", points: ["deliver:3:after"], how: "kill" },
];

const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Tally {
  readonly found: Found[];
  readonly reference: Ended[];
  points: number;
  pairs: number;
  sweepPairs: number;
  pauses: number;
  /** Cases whose last point was never reached: the second time, the story went another way. */
  unreached: number;
}

async function run(sweep: Sweep, tally: Tally, what: string, cases: readonly Case[]): Promise<Ended[]> {
  const started = performance.now();
  const ended = await sweep.run(cases);
  const found = judge(ended);
  const unreached = ended.filter(({ of, stops }) => stops.length < of.points.length);
  tally.found.push(...found);
  tally.unreached += unreached.length;
  const seconds = (performance.now() - started) / 1000;
  say(
    `${what}: ${cases.length} cases in ${seconds.toFixed(0)} s, ${found.length} violations, ${unreached.length} not reached`,
  );
  for (const { of } of unreached.slice(0, MOST_TOLD)) say(`  not reached: ${nameOf(of)}`);
  return ended;
}

const nameOf = ({ story, points, how }: Case): string =>
  `npm run faults -- --story ${story} --point ${points.join(",")}${how === "pause" ? " --pause" : ""}`;

async function everything(sweep: Sweep, tally: Tally, { stories, every }: Options): Promise<void> {
  const some = <T>(list: readonly T[]): T[] => list.filter((_, i) => i % every === 0);
  const has = (story: StoryName) => stories.includes(story);
  const first = await run(
    sweep,
    tally,
    "stories without a crash",
    stories.map((story) => ({ story, points: [], how: "kill" })),
  );
  tally.reference.push(...stories.flatMap((story) => first.find(({ of }) => of.story === story) ?? []));

  const single = some(singles(tally.reference));
  tally.points = single.length;
  const ended = await run(sweep, tally, "one kill", single);

  if (!has("once")) return;
  // Where a story shares its beginning with another one its first kills are missing: pairs begin at the first click.
  const two = some(
    pairs(
      ended.filter(({ of }) => of.story === "once"),
      ["decide", "apply"],
      ["decide", "apply"],
    ),
  );
  tally.pairs = two.length;
  await run(sweep, tally, "two kills", two);

  const lost = await run(sweep, tally, "a claim of each kind lost", SWEPT);
  const swept = some(pairs(lost, ["turn", "apply", "deliver"], ["sweep"]));
  tally.sweepPairs = swept.length;
  await run(sweep, tally, "two kills, the second one in the sweep", swept);

  const paused = some(
    tally.reference
      .filter(({ of }) => of.story === "once")
      .flatMap((once) => outsideTransactions(singles([once], "pause"), once))
      .filter(({ points: [point] }) => point?.startsWith("apply:")),
  );
  tally.pauses = paused.length;
  await run(sweep, tally, "one pause, for as long as the successor takes", paused);
}

function report(tally: Tally, more: object): void {
  for (const { of, invariant, detail } of tally.found.slice(0, MOST_TOLD))
    say(`${invariant}: ${detail}\n  ${nameOf(of)}`);
  const outcome = tally.found.filter((one) => one.invariant === "outcome").length;
  const violations = countViolations(
    tally.found.flatMap(({ invariant, detail }) => (invariant === "outcome" ? [] : [{ invariant, detail }])),
  );
  const { points, pairs, sweepPairs, pauses, unreached } = tally;
  say(
    JSON.stringify({ points, pairs, sweepPairs, pauses, unreached, ...more, violations: { ...violations, outcome } }),
  );
  process.exitCode = tally.found.length === 0 ? 0 : 1;
}

const options = readOptions(process.argv.slice(2));
const started = performance.now();
const redisUrl = process.env.REDIS_URL || null;
const tally: Tally = { found: [], reference: [], points: 0, pairs: 0, sweepPairs: 0, pauses: 0, unreached: 0 };
const backends = [redisUrl === null ? "postgres" : "redis"];
let kills = 0;

const postgres = await startOwnPostgres();
try {
  const at = { serverUrl: postgres.url, sideBySide: SIDE_BY_SIDE };
  const sweep = await openSweep({ ...at, redisUrl });
  try {
    if (options.points !== null) {
      const [story = "approve"] = options.stories;
      const how = options.pause ? "pause" : "kill";
      await run(sweep, tally, "one case", [{ story, points: options.points, how }]);
      tally.points = 1;
    } else await everything(sweep, tally, options);
  } finally {
    kills += sweep.kills();
    await sweep.close();
  }
  if (redisUrl !== null && options.points === null) {
    const other = await openSweep({ ...at, redisUrl: null });
    try {
      backends.push("postgres");
      const own = ofTheQueue(singles(tally.reference), tally.reference).filter((_, i) => i % options.every === 0);
      tally.points += own.length;
      await run(other, tally, "one kill, at the queue's own calls, on PostgreSQL", own);
    } finally {
      kills += other.kills();
      await other.close();
    }
  }
} finally {
  await postgres.close();
}
report(tally, {
  kills,
  invariants: INVARIANTS.length,
  backends,
  seconds: Math.round((performance.now() - started) / 1000),
});
