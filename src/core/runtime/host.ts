import { join } from "node:path";
import type { Deployment } from "../domain/manifest.ts";
import { packageRoot } from "../packageRoot.ts";
import type { LeaseRequest, Log, RuntimePort } from "../ports.ts";
import { createChildMessageReader } from "./childMessage.ts";
import { createDeploymentFiles } from "./deploymentFiles.ts";
import { detectIsolation, type Isolation } from "./isolation.ts";
import { createLaunch, type Launched } from "./launch.ts";
import { createLease, type EgressTraffic } from "./lease.ts";
import { createPool } from "./pool.ts";

export interface RuntimeHostOptions {
  /** Bundles are written here, one folder a deployment; hidden from agents but for their own. */
  readonly deploymentsDir: string;
  /** One folder a session, kept between leases; hidden from agents but for their own. */
  readonly workspacesDir: string;
  /** The deployment of an id; called once per id while this host lives. */
  readonly loadDeployment: (id: string) => Promise<Deployment>;
  readonly connectionsUrl: string;
  /** A bearer token for one child process, good until it is gone. */
  readonly issueToken: (runtimeId: string) => string;
  /** A child was leased, or (null) given back or lost: whose requests its token carries. */
  readonly onLease?: (token: string, lease: LeaseRequest | null) => void;
  /** What the egress saw a child send, for A5. */
  readonly egress?: EgressTraffic;
  /** Runtime variables of an agent (contract, section 1). */
  readonly env?: (lease: LeaseRequest) => Promise<Readonly<Record<string, string>>>;
  /** `process`: without namespaces. A detected `Isolation` saves the probe. */
  readonly isolation: "auto" | "process" | Isolation;
  /** Folders that agents must not see: the data folder, the project's sources with its `.env` files. */
  readonly hideDirs: readonly string[];
  readonly log: Log;
  /** Children alive at once, leased or idle. Default 64: some 3 GB if all are busy. */
  readonly poolSize?: number;
  /** How long a child stays warm for its session. Default 60 s. */
  readonly idleMs?: number;
  readonly heapMiB?: number;
  readonly loadTimeoutMs?: number;
  readonly renderTimeoutMs?: number;
  readonly graceMs?: number;
  /** The bundled child/main.ts. Default: the package's own, in dist. */
  readonly childEntry?: string;
}

export interface RuntimeHost extends RuntimePort {
  /** What agents are kept apart with; probes once under `auto`. */
  isolation(): Promise<Isolation>;
}

const NO_EGRESS: EgressTraffic = { begin: () => {}, of: () => ({ writes: [], opaque: 0 }) };

/** Runs agent code in child processes, one session each. Starts nothing before the first lease. */
export function createRuntimeHost(options: RuntimeHostOptions): RuntimeHost {
  const { log } = options;
  const root = packageRoot();
  const children = new Set<Launched>();
  const pool = createPool<Launched>({ size: options.poolSize ?? 64, idleMs: options.idleMs ?? 60_000 });
  let closed = false;
  let detected: Promise<Isolation> | null = null;

  function isolation(): Promise<Isolation> {
    if (typeof options.isolation === "object") return Promise.resolve(options.isolation);
    if (options.isolation === "process")
      return Promise.resolve({ kind: "none", reason: "COUNTERSIGN_RUNTIME=process" });
    detected ??= detectIsolation();
    return detected;
  }

  const launch = createLaunch(
    {
      materialise: createDeploymentFiles(options.deploymentsDir, options.loadDeployment),
      isolation,
      readMessage: createChildMessageReader(),
      issueToken: options.issueToken,
      variables: options.env ?? (async () => ({})),
      log,
    },
    {
      deploymentsDir: options.deploymentsDir,
      workspacesDir: options.workspacesDir,
      hideDirs: options.hideDirs,
      connectionsUrl: options.connectionsUrl,
      childEntry: options.childEntry ?? join(root, "dist/core/runtime/child/main.js"),
      packageRoot: root,
      heapMiB: options.heapMiB ?? 256,
      loadTimeoutMs: options.loadTimeoutMs ?? 10_000,
    },
  );

  async function launchTracked(lease: LeaseRequest): Promise<Launched> {
    const child = await launch(lease);
    children.add(child);
    void child.gone.then(() => children.delete(child));
    if (closed) await child.end("the runtime host closed");
    return child;
  }

  /** A lease that cannot begin holds no slot. */
  async function launchFirst(key: string, lease: LeaseRequest): Promise<Launched> {
    try {
      return await launchTracked(lease);
    } catch (error) {
      await pool.release(key, null);
      throw error;
    }
  }

  return {
    isolation,
    async lease(request, signal) {
      const key = JSON.stringify([request.deploymentId, request.agentId, request.sessionId]);
      const warm = await pool.acquire(key, signal);
      const child = warm ?? (await launchFirst(key, request));
      return createLease(
        request,
        child,
        {
          launch: () => launchTracked(request),
          onLease: options.onLease ?? (() => {}),
          egress: options.egress ?? NO_EGRESS,
          giveBack: (child) => pool.release(key, child),
          log,
        },
        { renderTimeoutMs: options.renderTimeoutMs ?? 5_000, graceMs: options.graceMs ?? 500 },
      );
    },
    async close() {
      closed = true;
      await pool.close();
      await Promise.all([...children].map((child) => child.end("the runtime host closed")));
    },
  };
}
