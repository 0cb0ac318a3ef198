import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CountersignError } from "../domain/errors.ts";
import type { LeaseRequest, Log } from "../ports.ts";
import { type AgentProcess, startAgentProcess } from "./agentProcess.ts";
import type { ReadChildMessage } from "./childMessage.ts";
import { folderName, type Materialised } from "./deploymentFiles.ts";
import { type Isolation, isolate, programPath } from "./isolation.ts";

export interface LaunchConfig {
  readonly deploymentsDir: string;
  readonly workspacesDir: string;
  readonly hideDirs: readonly string[];
  readonly connectionsUrl: string;
  /** The bundled child/main.ts, and folders it needs to be readable. */
  readonly childEntry: string;
  readonly packageRoot: string;
  /** Heap limit of one child in MiB; a tool that needs more ends its own process only. */
  readonly heapMiB: number;
  readonly loadTimeoutMs: number;
}

export interface LaunchDeps {
  readonly materialise: (deploymentId: string) => Promise<Materialised>;
  readonly isolation: () => Promise<Isolation>;
  readonly readMessage: ReadChildMessage;
  readonly issueToken: (runtimeId: string) => string;
  /** Runtime variables of the agent, by name. */
  readonly variables: (lease: LeaseRequest) => Promise<Readonly<Record<string, string>>>;
  readonly log: Log;
}

/** A child of one session, with the token that its requests to the parent carry. */
export interface Launched extends AgentProcess {
  readonly runtimeId: string;
  readonly token: string;
}

/** Names that the gateway sets; a project's variables of these names are not passed on. */
const OURS = /^(PATH|HOME|TMPDIR|OPENCOMPUTER_CONNECTIONS_URL|OPENCOMPUTER_CONNECTION_TOKEN)$/;

/**
 * Starts a child for a lease's session: bound to it for life, because the mounts that show one workspace and hide the
 * others are made before the child runs. Rejects with `agent_load_failed` when the deployment has no such agent.
 */
export function createLaunch(deps: LaunchDeps, config: LaunchConfig): (lease: LeaseRequest) => Promise<Launched> {
  return async (lease) => {
    const [{ manifest, folder }, { kind }] = await Promise.all([
      deps.materialise(lease.deploymentId),
      deps.isolation(),
    ]);
    const agent = manifest.agents.find(({ id }) => id === lease.agentId);
    if (!agent)
      throw new CountersignError("agent_load_failed", undefined, { cause: new Error(`no agent ${lease.agentId}`) });
    const workspace = join(config.workspacesDir, folderName(lease.sessionId));
    await mkdir(workspace, { recursive: true, mode: 0o700 });

    const runtimeId = randomUUID();
    const token = deps.issueToken(runtimeId);
    const base = { PATH: programPath(), HOME: workspace, TMPDIR: "/tmp", LANG: "C.UTF-8", TZ: "UTC" };
    const variables = Object.entries(await deps.variables(lease)).filter(([name]) => !OURS.test(name));
    const view = {
      hidden: [...config.hideDirs, config.workspacesDir, config.deploymentsDir],
      readable: [folder, config.packageRoot, dirname(config.childEntry), dirname(process.execPath)],
      workspace,
    };
    const node = [process.execPath, `--max-old-space-size=${config.heapMiB}`, config.childEntry];
    const started = startAgentProcess({
      command: await isolate(kind, view, node),
      cwd: workspace,
      // The launchers run before privileges are dropped: nothing that a project names is in their environment.
      env: base,
      namespaced: kind !== "none",
      readMessage: deps.readMessage,
      loadTimeoutMs: config.loadTimeoutMs,
      load: {
        type: "load",
        module: join(folder, agent.module),
        tools: agent.tools.map(({ name, kind, result }) => ({ name, kind, result })),
        env: {
          ...base,
          ...Object.fromEntries(variables),
          OPENCOMPUTER_CONNECTIONS_URL: config.connectionsUrl,
          OPENCOMPUTER_CONNECTION_TOKEN: token,
        },
        connectionsUrl: config.connectionsUrl,
      },
    });
    const fields = { runtimeId, deploymentId: lease.deploymentId, agentId: lease.agentId, sessionId: lease.sessionId };
    deps.log.debug({ ...fields, isolation: kind }, "runtime started");
    void started.gone.then((reason) =>
      deps.log.debug({ ...fields, reason, ...started.outputBytes() }, "runtime ended"),
    );
    return Object.assign(started, { runtimeId, token });
  };
}
