import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect, type TestContext } from "vitest";
import { type BillingServer, createBillingServer } from "../../examples/support/billing/server.ts";
import { createSlackSimulator, type SlackSimulator } from "../../src/adapters/slack/simulator/index.ts";
import { createTestDatabase, type TestDatabase } from "../helpers/database.ts";
import { createEffectLedger, type EffectLedger } from "../helpers/effectLedger.ts";
import { type CountersignProcess, createProcesses, type GatewayProcess } from "../helpers/gatewayProcess.ts";
import { livingIn } from "../helpers/livingIn.ts";
import { copySupportProject, type SupportProject } from "../helpers/supportProject.ts";
import { waitUntil } from "../helpers/waitUntil.ts";

/** Everything around a gateway, in the test's own process; gateways are processes of their own. */
export interface World {
  readonly sim: SlackSimulator;
  readonly billing: BillingServer;
  /** Between the gateway and the billing server. */
  readonly ledger: EffectLedger;
  readonly db: TestDatabase;
  readonly project: SupportProject;
  /** Holds `data` and `project`; no process is left in it at the end. */
  readonly folder: string;
  readonly dataDir: string;
  /** Starts a gateway and, unless it is a worker, has Slack tell it what happens. */
  start(options?: StartOptions): Promise<GatewayProcess>;
  /** Any command, with the environment of `start`. */
  run(args: readonly string[], env?: Environment): CountersignProcess;
  /** A call of the HTTP API with its key. */
  api<T>(gateway: GatewayProcess, path: string, body?: object): Promise<T>;
  /** What every gateway said so far. */
  output(): string;
}

/** Variables beside the world's own; undefined takes one away. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface StartOptions {
  readonly env?: Environment;
  readonly role?: "all" | "gateway" | "worker";
}

const API_KEY = "key-of-the-end-to-end-tests";
const BILLING_KEY = "key-of-the-billing-server";
/** Slack's retries, sooner: what comes while no gateway runs is told again. */
const RETRY_DELAYS_MS = [100, 1_000, 5_000, 10_000, 20_000];

/** vitest's `test` with a world for each test. */
export const test = base.extend<{ world: World; report: null }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs.
  world: ({}, use) => withWorld(use),
  report: [({ task, world }, use) => report(task, world, use), { auto: true }],
});

/** With one world, and one gateway where a test asks for it, for all tests of a file. */
export const shared = base.extend<{ world: World; gateway: GatewayProcess; report: null }>({
  // biome-ignore lint/correctness/noEmptyPattern: as above.
  world: [({}, use) => withWorld(use), { scope: "file" }],
  gateway: [async ({ world }, use) => use(await world.start()), { scope: "file" }],
  report: [({ task, world }, use) => report(task, world, use), { auto: true }],
});

/** Shows what the gateways of a failed test said. */
async function report(task: TestContext["task"], world: World, use: (value: null) => Promise<void>): Promise<void> {
  await use(null);
  if (task.result?.state === "fail") console.error(`${task.name}\n${world.output()}`);
}

/** Ends with the world; it leaves no process, and no call that Slack would refuse. */
async function withWorld(use: (world: World) => Promise<void>): Promise<void> {
  const { world, close } = await createWorld();
  try {
    await use(world);
    expect(world.sim.violations).toEqual([]);
  } finally {
    await close();
  }
}

async function createWorld(): Promise<{ world: World; close: () => Promise<void> }> {
  const processes = createProcesses();
  const folder = await realpath(await mkdtemp(join(tmpdir(), "countersign-e2e-")));
  const dataDir = join(folder, "data");
  const cwd = join(folder, "elsewhere");
  await mkdir(cwd);
  const sim = createSlackSimulator({ retryDelaysMs: RETRY_DELAYS_MS });
  const billing = createBillingServer({ key: BILLING_KEY });
  await sim.start();
  const ledger = await createEffectLedger(await billing.start());
  const db = await createTestDatabase();
  const project = await copySupportProject(join(folder, "project"), { origin: ledger.url, key: BILLING_KEY });

  const environment = (more: Environment = {}): Record<string, string> => {
    const own: Environment = {
      HOME: folder,
      COUNTERSIGN_API_KEY: API_KEY,
      DATABASE_URL: db.url,
      SLACK_BOT_TOKEN: sim.botToken,
      SLACK_SIGNING_SECRET: sim.signingSecret,
      SLACK_API_URL: sim.apiUrl,
      ...more,
    };
    return Object.fromEntries(
      Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
  };

  const world: World = {
    sim,
    billing,
    ledger,
    db,
    project,
    folder,
    dataDir,
    async start({ env, role = "all" } = {}) {
      const where = ["--project", project.dir, "--data", dataDir, "--port", "0", "--admin-port", "0", "--role", role];
      const gateway = await processes.start(where, { cwd, env: environment(env) });
      if (role !== "worker") sim.setEventsUrl(`${gateway.url}/slack/events`);
      return gateway;
    },
    run: (args, env) => processes.run(args, { cwd, env: environment(env) }),
    async api<T>(gateway: GatewayProcess, path: string, body?: object): Promise<T> {
      const response = await fetch(`${gateway.url}/api${path}`, {
        headers: { "x-api-key": API_KEY, ...(body && { "content-type": "application/json" }) },
        ...(body && { method: "POST", body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as T;
    },
    output: processes.output,
  };

  async function close(): Promise<void> {
    await processes.killAll();
    await sim.stop();
    await ledger.close();
    await billing.stop();
    await db.drop();
    await waitUntil(() => livingIn(folder).length === 0, "the gateway's children to end with it");
    await rm(folder, { recursive: true, force: true });
  }
  return { world, close };
}
