import { join } from "node:path";
import type { FastifyPluginAsync } from "fastify";
import type { ChatAdapter } from "../adapters/adapter.ts";
import { createSlackAdapter } from "../adapters/slack/index.ts";
import { createSlackSimulator, SLACK_RETRY_DELAYS_MS, type SlackSimulator } from "../adapters/slack/simulator/index.ts";
import type { Config } from "../core/config.ts";
import { migrate } from "../core/db/migrate.ts";
import { createPool, type Pool } from "../core/db/pool.ts";
import { CountersignError } from "../core/domain/errors.ts";
import type { ChatProvider } from "../core/domain/message.ts";
import { checkDeciders } from "../core/flow/checkDeciders.ts";
import type { Core } from "../core/flow/core.ts";
import { deploy } from "../core/flow/deploy.ts";
import type { Directory, JobQueue, Log } from "../core/ports.ts";
import { type DeploymentRow, findActiveDeployment } from "../core/store/deployments.ts";
import { createJobQueue } from "../queue/jobQueue.ts";
import { createOwnQueue } from "../queue/ownQueue.ts";
import { type Closing, createClosing } from "./closing.ts";
import { createDependency, watch } from "./dependency.ts";
import { createEmbeddedPostgres } from "./embeddedPostgres.ts";
import { createAdminApp } from "./http/admin.ts";
import { createApiApp } from "./http/app.ts";
import { createReadiness } from "./http/readiness.ts";
import { ids } from "./ids.ts";
import type { Keys } from "./keys.ts";
import { listen } from "./listen.ts";
import { openWorker } from "./openWorker.ts";
import { createReceive } from "./receive.ts";
import { createRing } from "./ring.ts";
import type { Served } from "./served.ts";

export interface GatewayOptions {
  readonly config: Config;
  readonly keys: Keys;
  readonly log: Log;
  /** Chooses the project, once the database says what is active. */
  readonly serve: (active: DeploymentRow | null) => Promise<Served>;
  /** The environment: values of the runtime variables that agents declare. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Gateway {
  /** `http://127.0.0.1:3000`; null in a worker. */
  readonly url: string | null;
  readonly adminUrl: string;
  /** Set where no Slack credentials are. */
  readonly simulator: SlackSimulator | null;
  /** One line each: what runs where. */
  readonly parts: readonly string[];
  /** Stops taking, lets what runs finish or hands it back, closes; see `createClosing`. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Builds the whole gateway from its configuration, from the inside out: the truth, the doorbell, the agents, the chat,
 * the doors. What was started is closed again, in reverse, when a later part fails to start.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, log } = options;
  const closing = createClosing(log);
  try {
    const parts: string[] = [];
    const { pool, databaseUrl } = await openDatabase(config, log, closing, parts);
    // Filled as the platforms are opened, which need a core to hand over what they receive.
    const directories: Partial<Record<ChatProvider, Directory>> = {};
    const core: Core = { pool, ids, log, directories };
    const queue = await openQueue(config, databaseUrl, log, closing, parts);
    const database = createDependency({ name: "database", required: true, check: () => pool.query("select 1") }, log);
    const doorbell = createDependency({ name: "queue", required: false, check: () => queue.ping() }, log);
    const own = config.role === "gateway" ? null : createOwnQueue(log);
    const ring = createRing({ queue, state: doorbell, own, log });
    const { slack, simulator } = await openSlack(config, core, ring, log, closing, parts);
    directories.slack = slack.directory;
    const served = await chooseDeployment(options, core, closing, parts);
    if (config.linear) parts.push("linear     not supported yet: the LINEAR_ variables are checked and have no effect");
    const worker = own && (await openWorker(options, { core, queue, own, ring, slack, served }, closing, parts));

    const sweeper = worker && createDependency({ name: "sweeper", required: false, check: worker.sweeper.check }, log);
    const dependencies = [database, doorbell, ...(sweeper ? [sweeper] : [])];
    const watching = watch(dependencies, WATCH_MS);
    closing.push("dependencies", async () => watching.stop());
    const readiness = createReadiness(dependencies);
    closing.drain("readiness", async () => readiness.drain());
    const admin = createAdminApp({ core, queue, readiness, sweepAgeMs: worker?.sweeper.ageMs ?? null, log });
    const adminUrl = await listen(admin, config.adminHost, config.adminPort, "--admin-port");
    closing.push("admin port", () => admin.close());
    if (config.role === "worker") return { url: null, adminUrl, simulator, parts, close: closing.close };

    const plugins: FastifyPluginAsync[] = [slack.plugin];
    const nudge = worker ? () => void worker.leases.beat() : undefined;
    const api = await createApiApp({ core, ring, apiKey: options.keys.apiKey, log, plugins, ...(nudge && { nudge }) });
    const url = await listen(api, config.host, config.port, "--port");
    closing.drain("public port", () => api.close());
    simulator?.setEventsUrl(`${url}/slack/events`);
    return { url, adminUrl, simulator, parts, close: closing.close };
  } catch (error) {
    await closing.close();
    throw error;
  }
}

/** As often as a sweep: a queue that is back is used again by then. */
const WATCH_MS = 2_000;

type Ring = ReturnType<typeof createRing>;

/** A worker deploys nothing: it runs what sessions are pinned to. */
async function chooseDeployment(
  { config, serve }: GatewayOptions,
  core: Core,
  closing: Closing,
  parts: string[],
): Promise<Served> {
  const served = await serve(await findActiveDeployment(core.pool));
  const { companion } = served;
  if (companion) {
    closing.push(companion.part, companion.close);
    parts.push(companion.part);
  }
  if (config.role === "worker") return served;
  const active = served.deployment ?? (await findActiveDeployment(core.pool));
  if (!active) {
    throw new CountersignError("config_invalid", "Nothing is deployed yet; name a project's folder with --project.");
  }
  // Before it becomes what new sessions open on, here and in every other gateway.
  for (const warning of await checkDeciders(core, active.manifest.approvals)) parts.push(`warning    ${warning}`);
  if (served.deployment) await deploy(core, served.deployment);
  const agents = active.manifest.agents.map((agent) => agent.id).join(", ");
  parts.push(`serving    ${agents} of project ${active.manifest.project} (${active.id})`);
  return served;
}

async function openDatabase(
  config: Config,
  log: Log,
  closing: Closing,
  parts: string[],
): Promise<{ pool: Pool; databaseUrl: string }> {
  let databaseUrl = config.databaseUrl;
  if (!databaseUrl) {
    const embedded = createEmbeddedPostgres({ dataDir: join(config.dataDir, "postgres"), log });
    await embedded.start();
    closing.push("embedded PostgreSQL", () => embedded.stop());
    databaseUrl = embedded.url;
    parts.push(`database   embedded PostgreSQL in ${join(config.dataDir, "postgres")}`);
  } else {
    parts.push("database   PostgreSQL at DATABASE_URL");
  }
  await migrate(databaseUrl);
  const pool = createPool({ url: databaseUrl, max: 20, applicationName: `countersign-${config.role}`, log });
  closing.push("database pool", () => pool.end());
  return { pool, databaseUrl };
}

async function openQueue(
  config: Config,
  databaseUrl: string,
  log: Log,
  closing: Closing,
  parts: string[],
): Promise<JobQueue> {
  const queue = await createJobQueue({ databaseUrl, log, ...(config.redisUrl && { redisUrl: config.redisUrl }) });
  closing.push("queue", () => queue.close());
  parts.push(`queue      BullMQ on ${config.redisUrl ? "Redis at REDIS_URL" : "PostgreSQL"}`);
  return queue;
}

async function openSlack(
  config: Config,
  core: Core,
  ring: Ring,
  log: Log,
  closing: Closing,
  parts: string[],
): Promise<{ slack: ChatAdapter; simulator: SlackSimulator | null }> {
  const onInbound = createReceive(core, ring);
  if (config.slack) {
    parts.push("slack      the workspace of SLACK_BOT_TOKEN");
    return { slack: await createSlackAdapter(config.slack, { onInbound, log }), simulator: null };
  }
  if (config.role !== "all") {
    throw new CountersignError(
      "config_invalid",
      `--role ${config.role} needs a Slack to talk to; set SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET, or start with --role all for the built-in simulator.`,
    );
  }
  const simulator = createSlackSimulator({
    log,
    retryDelaysMs: SLACK_RETRY_DELAYS_MS,
    stateFile: join(config.dataDir, "slack-simulator.json"),
    preferredPort: simulatorPort(config),
  });
  await simulator.start();
  closing.push("Slack simulator", () => simulator.stop());
  parts.push(`slack      a simulator, nothing here is real Slack: ${simulator.url}`);
  const { botToken, signingSecret, apiUrl } = simulator;
  return {
    slack: await createSlackAdapter({ botToken, signingSecrets: [signingSecret], apiUrl }, { onInbound, log }),
    simulator,
  };
}

/** Beside ours, so that the page somebody has open is there again after a restart. */
function simulatorPort({ port, adminPort }: Config): number {
  if (port === 0) return 0;
  return [port + 2, port + 3].find((p) => p !== adminPort && p <= 65_535) ?? 0;
}
