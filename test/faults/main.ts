import { commitments, instants, ofTheQueue, type Pick, pairs, pauses, singles, singlesOf } from "./cases.ts";
import { type Flow, flowOf } from "./crashPoints.ts";
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
/** Which of two wakes is heard first is the queue's business: a story that went another way is played again. */
const TRIES = 4;
/** Nobody reads more of them; what is wrong at one point is wrong at its neighbours. */
const MOST_TOLD = 20;
/** What recoveries are killed in while they sweep: in a turn, in a write, in a delivery, each holding what it claimed. */
const SWEPT: readonly Case[] = [
  { story: "once", points: ["turn:9:after"], how: "kill" },
  { story: "once", points: ["apply:10:after"], how: "kill" },
  { story: "once", points: ["deliver:3:after"], how: "kill" },
];

/** Stories that ring for every kind of work. */
const QUEUED: ReadonlySet<StoryName> = new Set(["approve", "question", "verify"]);

const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Tally {
  readonly found: Found[];
  readonly reference: Ended[];
  points: number;
  pairs: number;
  sweepPairs: number;
  pauses: number;
  /** Cases whose points were not reached in any try. */
  unreached: number;
}

async function run(sweep: Sweep, tally: Tally, what: string, cases: readonly Case[]): Promise<Ended[]> {
  const started = performance.now();
  const ended: Ended[] = [];
  let left = cases;
  for (let tries = 0; left.length > 0 && tries < TRIES; tries++) {
    const now = await sweep.run(left);
    ended.push(...now);
    left = now.filter(({ of, stops }) => stops.length < of.points.length).map(({ of }) => of);
  }
  const found = judge(ended);
  tally.found.push(...found);
  tally.unreached += left.length;
  const seconds = (performance.now() - started) / 1000;
  say(
    `${what}: ${cases.length} cases in ${seconds.toFixed(0)} s, ${found.length} violations, ${left.length} not reached`,
  );
  for (const of of left.slice(0, MOST_TOLD)) say(`  not reached: ${nameOf(of)}`);
  return ended;
}

const nameOf = ({ story, points, how }: Case): string =>
  `npm run faults -- --story ${story} --point ${points.join(",")}${how === "pause" ? " --pause" : ""}`;

async function everything(sweep: Sweep, tally: Tally, { stories, every, all }: Options): Promise<void> {
  const some = <T>(list: readonly T[]): T[] => list.filter((_, i) => i % every === 0);
  const pick: Pick = all ? (called) => called : instants;
  const whole = stories.map((story): Case => ({ story, points: [], how: "kill" }));
  const played = await run(sweep, tally, "no kill", whole);
  tally.reference.push(...stories.flatMap((story) => played.find(({ of }) => of.story === story) ?? []));
  const once = tally.reference.find(({ of }) => of.story === "once");

  // `once` is `approve` with nothing coming twice: it is there for its decide and apply, which pairs begin with.
  const others = tally.reference.filter((one) => one !== once);
  const first = once ? singles(once, pick).filter(inFlow("decide", "apply")) : [];
  const single = [...some(singlesOf(others, pick)), ...some(first)];
  tally.points = single.length;
  const ended = await run(sweep, tally, "one kill", single);
  if (!once) return;

  const begins = new Set(singles(once, all ? pick : commitments).map(({ points: [point] }) => point));
  const deciding = ended.filter(({ of: { story, points } }) => story === "once" && begins.has(points[0]));
  const two = some(pairs(deciding, ["decide", "apply"], ["decide", "apply"], pick));
  tally.pairs = two.length;
  await run(sweep, tally, "two kills in decide and apply", two);

  const lost = await run(sweep, tally, "a claim of each kind lost", SWEPT);
  const swept = some(pairs(lost, ["turn", "apply", "deliver"], ["sweep"], pick));
  tally.sweepPairs = swept.length;
  await run(sweep, tally, "the second kill in the sweep", swept);

  const paused = some(pauses(once, ["apply"]));
  tally.pauses = paused.length;
  await run(sweep, tally, "a pause for as long as the successor takes", paused);
}

const inFlow =
  (...flows: readonly Flow[]) =>
  ({ points: [point] }: Case): boolean =>
    point !== undefined && flows.includes(flowOf(point));

function report(tally: Tally, more: object): void {
  for (const { of, invariant, detail } of tally.found.slice(0, MOST_TOLD))
    say(`${invariant}: ${detail}${of ? `\n  ${nameOf(of)}` : ""}`);
  const outcome = tally.found.filter((one) => one.invariant === "outcome").length;
  const violations = countViolations(
    tally.found.flatMap(({ invariant, detail }) => (invariant === "outcome" ? [] : [{ invariant, detail }])),
  );
  const { points, pairs, sweepPairs, pauses, unreached } = tally;
  say(
    JSON.stringify({ points, pairs, sweepPairs, pauses, unreached, ...more, violations: { ...violations, outcome } }),
  );
  // A point that was not reached was not found to be right.
  process.exitCode = tally.found.length + unreached === 0 ? 0 : 1;
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
    tally.found.push(...(await sweep.checkRecords()));
  } finally {
    kills += sweep.kills();
    await sweep.close();
  }
  if (redisUrl !== null && options.points === null) {
    const other = await openSweep({ ...at, redisUrl: null });
    try {
      backends.push("postgres");
      const own = tally.reference
        .filter(({ of }) => QUEUED.has(of.story))
        .flatMap(ofTheQueue)
        .filter((_, i) => i % options.every === 0);
      tally.points += own.length;
      await run(other, tally, "one kill at the queue's own calls, on PostgreSQL", own);
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
