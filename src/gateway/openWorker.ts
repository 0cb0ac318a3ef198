import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { ChatAdapter } from "../adapters/adapter.ts";
import { deploymentId } from "../core/build/deploymentId.ts";
import type { Config } from "../core/config.ts";
import { CountersignError } from "../core/domain/errors.ts";
import type { Deployment, Manifest } from "../core/domain/manifest.ts";
import { createConnections } from "../core/egress/connections.ts";
import { type Core, DEFAULT_WORKER_LIMITS, type WorkerCore } from "../core/flow/core.ts";
import { loadDeployment } from "../core/flow/deploy.ts";
import { createLeases, type Leases } from "../core/flow/leases.ts";
import { createModel } from "../core/model/model.ts";
import type { JobQueue, Log } from "../core/ports.ts";
import { createHeadKey } from "../core/record/headKey.ts";
import { createRuntimeHost } from "../core/runtime/host.ts";
import { createSchemaCheck } from "../core/tools/schema.ts";
import type { Closing } from "./closing.ts";
import type { Keys } from "./keys.ts";
import { createSecrets } from "./secrets.ts";
import type { Served } from "./served.ts";
import { type Sweeper, startSweeper } from "./sweeper.ts";
import { startWorkers } from "./workers.ts";

/** A turn that has not come to its next step by then is stopped there and handed back. */
const FINISH_WITHIN_MS = 10_000;

export interface WorkerOptions {
  readonly config: Config;
  readonly keys: Keys;
  readonly log: Log;
  /** Values of the runtime variables that agents declare. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface WorkerDeps {
  readonly core: Core;
  readonly queue: JobQueue;
  /** For what the queue does not take. */
  readonly own: Pick<JobQueue, "consume" | "stop">;
  readonly ring: WorkerCore["ring"];
  readonly slack: ChatAdapter;
  readonly served: Served;
}

export interface Worker {
  readonly leases: Leases;
  readonly sweeper: Sweeper;
}

/** What runs the agents: their processes, the way out for their requests, the model, and the taking of wakes. */
export async function openWorker(
  options: WorkerOptions,
  { core, queue, own, ring, slack, served }: WorkerDeps,
  closing: Closing,
  parts: string[],
): Promise<Worker> {
  const { config, log, keys } = options;
  const kept = async (id: string) => {
    const deployment = await loadDeployment(core, id);
    if (!deployment) throw new CountersignError("agent_load_failed");
    // An approval binds the code by this id (A4): what was changed since it was kept is not that code.
    if (deploymentId(deployment.manifest, deployment.files) !== id) {
      const cause = new Error(`what is kept as ${id} is not what that id was computed from`);
      throw new CountersignError("agent_load_failed", undefined, { cause });
    }
    return deployment;
  };
  const manifests = new Map<string, Promise<Deployment>>();
  const known = (id: string): Promise<Deployment> => {
    const found = manifests.get(id) ?? kept(id);
    manifests.set(id, found);
    found.catch(() => manifests.delete(id));
    return found;
  };
  const secrets = createSecrets(
    core.pool,
    keys.masterKey,
    config.masterKeyPrevious,
    config.production ? {} : served.values,
  );
  const connections = await createConnections({
    connectionsOf: async ({ deploymentId, agentId }) =>
      (await known(deploymentId)).manifest.agents.find((a) => a.id === agentId)?.connections ?? null,
    readSecret: secrets.read,
    allowLoopback: !config.production,
    allowPrivate: false,
    log,
  });
  closing.push("connections", () => connections.close());

  const deploymentsDir = join(config.dataDir, "deployments");
  const workspacesDir = join(config.dataDir, "workspaces");
  await Promise.all([deploymentsDir, workspacesDir].map((dir) => mkdir(dir, { recursive: true })));
  const runtime = createRuntimeHost({
    deploymentsDir,
    workspacesDir,
    loadDeployment: known,
    connectionsUrl: connections.url,
    issueToken: connections.issueToken,
    onLease: connections.lease,
    egress: connections.traffic,
    env: async ({ deploymentId }) =>
      declaredVariables((await known(deploymentId)).manifest, { ...options.environment, ...served.values }),
    isolation: config.runtime,
    hideDirs: [config.dataDir, ...(served.folder ? [served.folder] : [])],
    log,
  });
  closing.push("agent processes", () => runtime.close());
  const isolation = await runtime.isolation();
  if (isolation.kind === "none" && config.runtime === "auto" && config.production) {
    throw new CountersignError(
      "config_invalid",
      `This host refuses namespaces to agents (${isolation.reason}); allow user namespaces, or set COUNTERSIGN_RUNTIME=process to go on without.`,
    );
  }
  parts.push(
    isolation.kind === "none"
      ? `isolation  child processes WITHOUT namespaces of their own: ${isolation.reason}`
      : `isolation  child processes in namespaces of their own (${isolation.kind})`,
  );

  const model = createModel({ providers: config.models, log });
  parts.push(
    Object.keys(config.models).length > 0
      ? `model      ${Object.keys(config.models).join(", ")}`
      : "model      a scripted demo model; set ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY for a real one",
  );
  const { leaseMs } = DEFAULT_WORKER_LIMITS;
  const leases = createLeases({ pool: core.pool, log }, { leaseMs, beatMs: 2_000 });
  closing.drain("work", () => leases.close(FINISH_WITHIN_MS, Promise.all([queue.stop(), own.stop()])));
  const worker: WorkerCore = {
    ...core,
    leases,
    model,
    runtime,
    chats: { slack: slack.sender },
    check: createSchemaCheck(),
    providers: [],
    headKey: createHeadKey(options.keys.masterKey),
    ring,
    random: Math.random,
    limits: DEFAULT_WORKER_LIMITS,
  };
  await startWorkers(worker, [queue, own]);
  const sweeper = startSweeper(worker);
  closing.drain("sweeper", () => sweeper.stop());
  return { leases, sweeper };
}

/** Runtime variables are the names the project declares, never the gateway's own; secrets are not among them. */
function declaredVariables(manifest: Manifest, values: WorkerOptions["environment"]): Record<string, string> {
  return Object.fromEntries(
    manifest.variables.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  );
}
