import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createSlackSimulator, type MessageRef, type SlackSimulator } from "../src/adapters/slack/simulator/index.ts";
import { type Contestant, startContestant } from "./contestant.ts";
import { type Latency, latencyOf, median, round } from "./figures.ts";
import type { GatewaySettings } from "./gatewayServer.ts";
import type { Options } from "./options.ts";
import type { Cost, Costs } from "./statements.ts";
import type { Surroundings } from "./surroundings.ts";

export interface Turns {
  readonly perSecond: number;
  /** How many mentions were answered in all rounds. */
  readonly measured: number;
  /** From the mention to the reply in the thread. */
  readonly latencyMs: Latency;
  /** The same for a post in a thread whose process is warm: what is left when none has to be started. */
  readonly warm: { readonly perSecond: number; readonly latencyMs: Latency };
  /** Of one mention, until its reply is noted as sent. */
  readonly transactions: number;
  readonly roundTrips: number;
  /** The same by flow; `background` is what sweeps and renewals took meanwhile, and is not in the sum. */
  readonly costs: Costs;
}

/** How many mentions are counted, one after another: each costs the same. */
const COUNTED = 5;

/**
 * From a mention to the reply in its thread, with the scripted model: two events a post, as Slack sends them, a
 * session and a process of the agent for each, one model step, one message out. The simulator is the load's process.
 */
export async function benchTurns(around: Surroundings, options: Options): Promise<Turns> {
  const slack = createSlackSimulator();
  await slack.start();
  const ours = await startOurs(around, slack);
  slack.setEventsUrl(ours.url);
  try {
    const { inFlight, seconds } = options;
    const inNewThreads = () => mention(slack);
    await load(inFlight, 1, () => inNewThreads); // Warm-up, not counted.
    const cold: Round[] = [];
    const warm: Round[] = [];
    for (let n = 0; n < options.rounds; n++) {
      cold.push(await load(inFlight, seconds, () => inNewThreads));
      const threads = await Promise.all(Array.from({ length: inFlight }, () => openThread(slack)));
      warm.push(await load(inFlight, seconds, (lane) => () => followUp(slack, threads[lane])));
    }
    return {
      ...summary(cold),
      measured: cold.reduce((sum, r) => sum + r.latenciesMs.length, 0),
      warm: summary(warm),
      ...(await countCosts(ours, slack)),
    };
  } finally {
    await ours.stop();
    await slack.stop();
  }
}

async function startOurs(around: Surroundings, slack: SlackSimulator): Promise<Contestant> {
  const settings: GatewaySettings = {
    role: "all",
    dataDir: join(around.folder, "turns"),
    env: {
      DATABASE_URL: await around.createDatabase("turns"),
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_SIGNING_SECRET: slack.signingSecret,
      SLACK_API_URL: slack.apiUrl,
      ...(around.redisUrl && { REDIS_URL: around.redisUrl }),
    },
  };
  return startContestant("gatewayServer", settings);
}

interface Round {
  readonly perSecond: number;
  readonly latenciesMs: readonly number[];
}

const summary = (rounds: readonly Round[]) => ({
  perSecond: round(median(rounds.map((r) => r.perSecond))),
  latencyMs: latencyOf(rounds.flatMap((r) => r.latenciesMs)),
});

/** One post after another in each of `inFlight` lanes; those under way when the time is over are finished. */
async function load(
  inFlight: number,
  seconds: number,
  poster: (lane: number) => () => Promise<number>,
): Promise<Round> {
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  const elapsedMs = (): number => performance.now() - startedAt;
  const run = async (post: () => Promise<number>): Promise<void> => {
    while (elapsedMs() < seconds * 1000) latenciesMs.push(await post());
  };
  await Promise.all(Array.from({ length: inFlight }, (_, lane) => run(poster(lane))));
  return { perSecond: (latenciesMs.length * 1000) / elapsedMs(), latenciesMs };
}

/** Milliseconds until a new thread has its reply. */
async function mention(slack: SlackSimulator): Promise<number> {
  const startedAt = performance.now();
  await openThread(slack);
  return performance.now() - startedAt;
}

async function openThread(slack: SlackSimulator): Promise<MessageRef> {
  const root = await slack.people.ada.mention(slack.general, "hello");
  await replies(slack, root, 1);
  return root;
}

/** Milliseconds until the thread has one reply more. */
async function followUp(slack: SlackSimulator, root: MessageRef | undefined): Promise<number> {
  if (!root) throw new Error("no thread was opened for this lane");
  const before = repliesIn(slack, root);
  const startedAt = performance.now();
  await slack.people.ada.reply(root, "hello again");
  await replies(slack, root, before + 1);
  return performance.now() - startedAt;
}

const repliesIn = (slack: SlackSimulator, { channel, ts }: MessageRef): number =>
  slack.thread(channel, ts).filter((message) => message.user === slack.team.botUserId).length;

const replies = (slack: SlackSimulator, root: MessageRef, count: number): Promise<unknown> =>
  slack.waitFor(() => repliesIn(slack, root) >= count, { timeoutMs: 30_000, what: "a reply to a post" });

async function countCosts(ours: Contestant, slack: SlackSimulator) {
  await ours.startCounting();
  await restingCosts(ours); // What the rounds before left behind is theirs.
  await ours.startCounting();
  for (let n = 0; n < COUNTED; n++) await mention(slack);
  const { background, ...flows } = await restingCosts(ours);
  const total = (key: keyof Cost): number => round(Object.values(flows).reduce((sum, cost) => sum + cost[key], 0));
  return {
    transactions: total("transactions"),
    roundTrips: total("roundTrips"),
    costs: background ? { ...flows, background } : flows,
  };
}

/** Of one mention, once nothing but the background still asks the database: a reply is seen before it is noted as sent. */
async function restingCosts(ours: Contestant): Promise<Record<string, Cost>> {
  for (let before = ""; ; await sleep(200)) {
    const costs = Object.entries(await ours.readCosts());
    const now = JSON.stringify(costs.filter(([flow]) => flow !== "background"));
    if (now === before) return Object.fromEntries(costs.map(([flow, cost]) => [flow, each(cost)]));
    before = now;
  }
}

const each = ({ transactions, roundTrips }: Cost): Cost => ({
  transactions: round(transactions / COUNTED),
  roundTrips: round(roundTrips / COUNTED),
});
