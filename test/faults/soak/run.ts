import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { openSurroundings } from "../../../bench/surroundings.ts";
import { createSlackSimulator } from "../../../src/adapters/slack/simulator/index.ts";
import { migrate } from "../../../src/core/db/migrate.ts";
import { createPool } from "../../../src/core/db/pool.ts";
import { createLog } from "../../../src/gateway/log.ts";
import { waitUntil } from "../../helpers/waitUntil.ts";
import { startEffectLedger } from "../effectLedger.ts";
import { check, countViolations } from "../invariants.ts";
import { openWork } from "../openWork.ts";
import { checkRecord } from "../recordInvariant.ts";
import { startBalancer } from "./balancer.ts";
import { createClient } from "./client.ts";
import { collect } from "./collect.ts";
import { startFleet } from "./fleet.ts";
import { createNemesis } from "./nemesis.ts";
import { readOptions } from "./options.ts";
import { writeSoakProject } from "./project.ts";
import { createRandom } from "./random.ts";

/**
 * `npm run soak`: people propose and decide while processes are killed and paused, connections cut, the queue emptied
 * and clocks moved. Then everything heals, what is due within a minute is waited for, and the history is checked.
 */

/** Slack's retries, sooner: what comes while a gateway is gone is told again. */
const RETRY_DELAYS_MS = [100, 1_000, 3_000, 10_000, 20_000, 30_000];
/** A crash is taken up within this (contract 10). */
const SETTLED_WITHIN_MS = 60_000;

const MASTER_KEY = Buffer.alloc(32, 5).toString("base64");

const options = readOptions(process.argv.slice(2));
const began = performance.now();
const say = (line: string): void =>
  void process.stdout.write(`${Math.round((performance.now() - began) / 1_000)} s  ${line}\n`);
say(`seed ${options.seed}`);

const closers: (() => Promise<unknown>)[] = [];
try {
  process.exitCode = await soak();
} finally {
  for (const close of closers.reverse()) await close();
}

async function soak(): Promise<number> {
  const random = createRandom(options.seed);
  const around = await openSurroundings(process.env.REDIS_URL || null);
  closers.push(around.close);
  const databaseUrl = await around.createDatabase("soak");
  await migrate(databaseUrl);
  const pool = createPool({ url: databaseUrl, max: 3, applicationName: "soak", log: createLog("error") });
  closers.push(() => pool.end());
  const redis = around.redisUrl === null ? null : new Redis(around.redisUrl);
  if (redis) closers.push(() => redis.quit());
  const ledger = await startEffectLedger();
  closers.push(ledger.close);
  const sim = createSlackSimulator({ retryDelaysMs: RETRY_DELAYS_MS });
  await sim.start();
  closers.push(sim.stop);

  const projectDir = join(around.folder, "project");
  await writeSoakProject(projectDir, ledger.url);
  await mkdir(join(around.folder, "home"));
  const fleet = await startFleet({
    folder: around.folder,
    projectDir,
    gateways: options.gateways,
    workers: options.workers,
    env: {
      HOME: join(around.folder, "home"),
      LOG_LEVEL: "error",
      DATABASE_URL: databaseUrl,
      ...(around.redisUrl !== null && { REDIS_URL: around.redisUrl }),
      COUNTERSIGN_API_KEY: "key-of-the-soak",
      COUNTERSIGN_MASTER_KEY: MASTER_KEY,
      SLACK_BOT_TOKEN: sim.botToken,
      SLACK_SIGNING_SECRET: sim.signingSecret,
      SLACK_API_URL: sim.apiUrl,
    },
  });
  closers.push(fleet.close);
  const balancer = await startBalancer(fleet.ports);
  closers.push(balancer.close);
  sim.setEventsUrl(`${balancer.url}/slack/events`);
  say(`${options.gateways} gateways and ${options.workers} workers on ${redis ? "Redis" : "PostgreSQL"} are ready`);

  const until = performance.now() + options.minutes * 60_000;
  let number = 0;
  const clients = Array.from({ length: options.clients }, (_, n) =>
    createClient({
      sim,
      person: sim.addPerson({ name: `person${n + 1}` }),
      random,
      number: () => ++number,
      goesOn: () => performance.now() < until && ended() < options.approvals,
      approveAll: options.approveAll,
    }),
  );
  const ended = (): number => clients.reduce((sum, { ends }) => sum + ends.length, 0);
  let working = true;
  const flush = redis && (async () => void (await redis.flushall()));
  const nemesis = createNemesis({ ...options, fleet, pool, ledger, flush, random, say, goesOn: () => working });
  const breaking = nemesis.run();
  await Promise.all(clients.map((client) => client.run()));
  working = false;
  await breaking;
  say(`${ended()} decisions came to an end; everything heals`);

  const healed = performance.now();
  const settled = await waitUntil(
    async () => !(await openWork(pool)),
    "everything to be at rest",
    SETTLED_WITHIN_MS,
  ).then(
    () => true,
    () => false,
  );
  const settledMs = Math.round(performance.now() - healed);
  await sim.settled({ timeoutMs: SETTLED_WITHIN_MS });

  const operations = clients.flatMap((client) => client.operations);
  const history = await collect(pool, ledger, sim, operations);
  const violations = [...check(history), ...(await checkRecord(pool))];
  for (const { invariant, detail } of violations) say(`VIOLATION ${invariant} ${detail}`);
  for (const violation of sim.violations) say(`SLACK WOULD REFUSE ${JSON.stringify(violation)}`);
  const { decisions, attempts } = history.stored;
  const statuses = Object.fromEntries(
    [...new Set(decisions.map(({ status }) => status))].map((status) => [
      status,
      decisions.filter((decision) => decision.status === status).length,
    ]),
  );
  const keys = new Set(history.effects.filter(({ outcome }) => outcome === "committed").map(({ key }) => key));
  const result = {
    seed: options.seed,
    queue: redis ? "redis" : "postgres",
    seconds: Math.round((performance.now() - began) / 1_000),
    operations: operations.length,
    decisions: decisions.length,
    statuses,
    attempts: attempts.length,
    effects: keys.size,
    calls: history.effects.length,
    faults: nemesis.done,
    kills: nemesis.done.kill,
    settledMs,
    errorsLogged: fleet.errors().length,
    violations: countViolations(violations),
    refusedBySlack: sim.violations.length,
  };
  for (const line of fleet.errors().slice(0, 20)) say(line);
  process.stdout.write(`${JSON.stringify(result)}\n`);
  return violations.length > 0 || sim.violations.length > 0 || !settled ? 1 : 0;
}
