import { join } from "node:path";
import autocannon from "autocannon";
import { createSlackSimulator, type SlackSimulator } from "../src/adapters/slack/simulator/index.ts";
import type { BareSettings } from "./bareServer.ts";
import type { BoltSettings } from "./boltServer.ts";
import { type Contestant, startContestant } from "./contestant.ts";
import { type Latency, latencyOf, median, round } from "./figures.ts";
import type { GatewaySettings } from "./gatewayServer.ts";
import type { Options } from "./options.ts";
import { createSlackEvents, type SignedEvent } from "./slackEvents.ts";
import type { Cost } from "./statements.ts";
import type { Surroundings } from "./surroundings.ts";

const NAMES = ["countersign", "bolt", "bare"] as const;
type Name = (typeof NAMES)[number];

export interface Ingress {
  /** Our requests a second over those of Bolt with one INSERT. */
  readonly ratio: number;
  readonly ratioToBare: number;
  /** Of one mention that opens a thread. */
  readonly transactions: number;
  readonly roundTrips: number;
  /** The same by what came in. */
  readonly costs: Readonly<Record<"mention" | "repeat" | "followUp", Cost>>;
  readonly contestants: Readonly<Record<Name, Figures>>;
}

interface Figures {
  /** Answers of 200. */
  readonly perSecond: number;
  readonly latencyMs: Latency;
  /** Of the server's own process, for one request: it hardly depends on what else the machine does. */
  readonly cpuMs: number;
  /** Answers other than 200, and requests without one, in all rounds. */
  readonly failed: number;
}

/**
 * A signed mention that opens a thread, until its 200: ours after the commit of the session and its turn, Bolt's after
 * the commit of one row, the bare server's after nothing. All three are up all the time; each has its turn in each
 * round, so that what disturbs the machine disturbs all.
 */
export async function benchIngress(around: Surroundings, options: Options): Promise<Ingress> {
  const slack = createSlackSimulator();
  await slack.start();
  const contestants = await startContestants(around, slack);
  const events = createSlackEvents(slack.signingSecret, slack.team);
  const mention = () => events.mention().mention;
  try {
    const rounds: Record<Name, Round[]> = { countersign: [], bolt: [], bare: [] };
    for (const name of NAMES) await load(contestants[name], options.connections, 1, mention); // Warm-up, not counted.
    for (let n = 0; n < options.rounds; n++) {
      for (const name of NAMES) {
        rounds[name].push(await load(contestants[name], options.connections, options.seconds, mention));
      }
    }
    const costs = await countCosts(contestants.countersign, events);
    const figures = {
      countersign: summary(rounds.countersign),
      bolt: summary(rounds.bolt),
      bare: summary(rounds.bare),
    };
    return {
      ratio: round(figures.countersign.perSecond / figures.bolt.perSecond),
      ratioToBare: round(figures.countersign.perSecond / figures.bare.perSecond),
      ...costs.mention,
      costs,
      contestants: figures,
    };
  } finally {
    for (const name of NAMES) await contestants[name].stop();
    await slack.stop();
  }
}

async function startContestants(around: Surroundings, slack: SlackSimulator): Promise<Record<Name, Contestant>> {
  const { signingSecret } = slack;
  const databaseUrl = await around.createDatabase("ingress");
  const ours: GatewaySettings = {
    role: "gateway",
    dataDir: join(around.folder, "ingress"),
    env: {
      DATABASE_URL: databaseUrl,
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_SIGNING_SECRET: signingSecret,
      SLACK_API_URL: slack.apiUrl,
      ...(around.redisUrl && { REDIS_URL: around.redisUrl }),
    },
  };
  const bolt: BoltSettings = { signingSecret, databaseUrl };
  const bare: BareSettings = { signingSecret };
  return {
    countersign: await startContestant("gatewayServer", ours),
    bolt: await startContestant("boltServer", bolt),
    bare: await startContestant("bareServer", bare),
  };
}

interface Round {
  readonly perSecond: number;
  readonly latenciesMs: readonly number[];
  readonly cpuMs: number;
  readonly failed: number;
}

async function load(on: Contestant, connections: number, seconds: number, next: () => SignedEvent): Promise<Round> {
  const latenciesMs: number[] = [];
  const before = await on.readCpuMs();
  const run = autocannon({
    url: on.url,
    connections,
    duration: seconds,
    requests: [{ method: "POST", setupRequest: (request) => ({ ...request, ...next() }) }],
  });
  run.on("response", (_client, status, _bytes, milliseconds) => {
    if (status === 200) latenciesMs.push(milliseconds);
  });
  const { non2xx, errors, duration } = await run;
  const cpuMs = (await on.readCpuMs()) - before;
  return {
    perSecond: latenciesMs.length / duration,
    latenciesMs,
    cpuMs: cpuMs / latenciesMs.length,
    failed: non2xx + errors,
  };
}

const summary = (rounds: readonly Round[]): Figures => ({
  perSecond: Math.round(median(rounds.map((r) => r.perSecond))),
  latencyMs: latencyOf(rounds.flatMap((r) => r.latenciesMs)),
  cpuMs: round(median(rounds.map((r) => r.cpuMs))),
  failed: rounds.reduce((sum, r) => sum + r.failed, 0),
});

/** Each kind of event a few times, one after another: what it costs does not depend on the load. */
async function countCosts(ours: Contestant, events: ReturnType<typeof createSlackEvents>): Promise<Ingress["costs"]> {
  const posts = Array.from({ length: 10 }, () => events.mention());
  return {
    mention: await costOf(
      ours,
      posts.map((post) => post.mention),
    ),
    repeat: await costOf(
      ours,
      posts.map((post) => post.message),
    ),
    followUp: await costOf(
      ours,
      posts.map((post) => events.followUp(post.ts)),
    ),
  };
}

async function costOf(ours: Contestant, events: readonly SignedEvent[]): Promise<Cost> {
  await ours.startCounting();
  for (const { headers, body } of events) {
    const { status } = await fetch(ours.url, { method: "POST", headers, body });
    if (status !== 200) throw new Error(`An event was answered ${status}.`);
  }
  const { ingress } = await ours.readCosts();
  return {
    transactions: round((ingress?.transactions ?? 0) / events.length),
    roundTrips: round((ingress?.roundTrips ?? 0) / events.length),
  };
}
