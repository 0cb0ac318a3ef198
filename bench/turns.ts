import { join } from "node:path";
import { createSlackSimulator, type SlackSimulator } from "../src/adapters/slack/simulator/index.ts";
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
  /** Of one mention, until its reply is noted as sent. */
  readonly transactions: number;
  readonly roundTrips: number;
  /** The same by flow; `background` is what sweeps and renewals took meanwhile, and is not in the sum. */
  readonly costs: Costs;
}

/** How many mentions are counted, one after another. */
const COUNTED = 20;

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
    await load(slack, options.inFlight, 1); // Warm-up, not counted.
    const rounds: Round[] = [];
    for (let n = 0; n < options.rounds; n++) rounds.push(await load(slack, options.inFlight, options.seconds));
    return {
      perSecond: round(median(rounds.map((r) => r.perSecond))),
      measured: rounds.reduce((sum, r) => sum + r.latenciesMs.length, 0),
      latencyMs: latencyOf(rounds.flatMap((r) => r.latenciesMs)),
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

/** `inFlight` mentions wait for their reply at any time; those under way when the time is over are finished. */
async function load(slack: SlackSimulator, inFlight: number, seconds: number): Promise<Round> {
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  const elapsedMs = (): number => performance.now() - startedAt;
  const one = async (): Promise<void> => {
    while (elapsedMs() < seconds * 1000) latenciesMs.push(await mention(slack));
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  return { perSecond: (latenciesMs.length * 1000) / elapsedMs(), latenciesMs };
}

/** Milliseconds until the thread has its reply. */
async function mention(slack: SlackSimulator): Promise<number> {
  const startedAt = performance.now();
  const { channel, ts } = await slack.people.ada.mention(slack.general, "hello");
  await slack.waitFor(() => slack.thread(channel, ts).some((message) => message.user === slack.team.botUserId), {
    timeoutMs: 30_000,
    what: "a reply to a mention",
  });
  return performance.now() - startedAt;
}

async function countCosts(ours: Contestant, slack: SlackSimulator) {
  await ours.startCounting();
  for (let n = 0; n < COUNTED; n++) await mention(slack);
  const counted = Object.entries(await ours.readCosts());
  const costs = Object.fromEntries(counted.map(([flow, cost]) => [flow, each(cost)]));
  const { background: _apart, ...flows } = costs;
  const total = (key: keyof Cost): number => round(Object.values(flows).reduce((sum, cost) => sum + cost[key], 0));
  return { transactions: total("transactions"), roundTrips: total("roundTrips"), costs };
}

const each = ({ transactions, roundTrips }: Cost): Cost => ({
  transactions: round(transactions / COUNTED),
  roundTrips: round(roundTrips / COUNTED),
});
