import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { Deployment, ToolManifest } from "../../../src/core/domain/manifest.ts";
import { DEFAULT_APPROVALS } from "../../../src/core/domain/manifest.ts";
import { packageRoot } from "../../../src/core/packageRoot.ts";
import type { InvokeRequest, InvokeResult, Runtime } from "../../../src/core/ports.ts";
import { createRuntimeHost, type RuntimeHost, type RuntimeHostOptions } from "../../../src/core/runtime/host.ts";
import { silentLog } from "../../helpers/log.ts";

/** An agent's bundle, as text, and what the manifest says about its tools. */
export interface Bundle {
  readonly source: string;
  readonly tools: readonly { readonly name: string; readonly kind: "run" | "approval"; readonly result?: boolean }[];
}

export interface Harness {
  readonly data: string;
  /** A host over the bundles, each the agent of its name in one deployment `dpl_test`. */
  host(bundles: Record<string, Bundle>, options?: Partial<RuntimeHostOptions>): RuntimeHost;
  close(): Promise<void>;
}

export const NEVER = new AbortController().signal;

/** Builds the child from the sources, so that no test meets an old dist, and a data folder like an installation's. */
export async function createHarness(): Promise<Harness> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-runtime-"));
  const childEntry = join(folder, "child", "main.mjs");
  await build({
    entryPoints: [join(packageRoot(), "src/core/runtime/child/main.ts")],
    outfile: childEntry,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning",
  });
  const data = join(folder, "data");
  await mkdir(data);
  const hosts: RuntimeHost[] = [];
  return {
    data,
    host(bundles, options = {}) {
      const deployment = deploymentOf(bundles);
      const host = createRuntimeHost({
        deploymentsDir: join(data, "deployments", String(hosts.length)),
        workspacesDir: join(data, "workspaces"),
        loadDeployment: async () => deployment,
        connectionsUrl: "http://127.0.0.1:9",
        issueToken: (runtimeId) => `token-${runtimeId}`,
        isolation: "process",
        hideDirs: [data],
        log: silentLog,
        childEntry,
        ...options,
      });
      hosts.push(host);
      return host;
    },
    async close() {
      await Promise.all(hosts.map((host) => host.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const DEPLOYMENT = "dpl_test";

function deploymentOf(bundles: Record<string, Bundle>): Deployment {
  const ids = Object.keys(bundles);
  return {
    id: DEPLOYMENT,
    manifest: {
      version: 1,
      project: "test",
      agents: ids.map((id) => ({
        id,
        module: `agents/${id}/agent.js`,
        tools: (bundles[id]?.tools ?? []).map(toolManifest),
        connections: [],
        secrets: [],
        builtins: [],
      })),
      approvals: DEFAULT_APPROVALS,
      warnings: [],
      variables: [],
    },
    files: ids.map((id) => ({ path: `agents/${id}/agent.js`, content: Buffer.from(bundles[id]?.source ?? "") })),
  };
}

const toolManifest = ({ name, kind, result = false }: Bundle["tools"][number]): ToolManifest => ({
  name,
  kind,
  result,
  digest: "0".repeat(64),
  declaredAt: "agent.js:1",
});

/** A bundle of test/fixtures/runtime, with a manifest that agrees with it. */
export async function fixture(name: string): Promise<Bundle> {
  const path = join(packageRoot(), "test/fixtures/runtime", `${name}.js`);
  const source = await readFile(path, "utf8");
  const { modules } = (await import(path)) as {
    modules: Record<string, { name: string; apply?: unknown; description?: string }>[];
  };
  const tools = modules
    .flatMap((module) => Object.values(module))
    .filter(({ description }) => description !== undefined)
    .map(({ name, apply }) => ({ name, kind: apply ? ("approval" as const) : ("run" as const) }));
  return { source, tools };
}

export const bundle = (source: string, tools: Bundle["tools"] = []): Bundle => ({ source, tools });

let calls = 0;

export const invocation = (tool: string, more: Partial<InvokeRequest> = {}): InvokeRequest => ({
  tool,
  entry: "run",
  input: "{}",
  context: { sessionId: "ses_1", messageId: "msg_1", toolCallId: `call_${++calls}`, agentId: "agent" },
  timeoutMs: 10_000,
  signal: NEVER,
  ...more,
});

/** The value of a call that has to return one. */
export async function valueFrom(result: Promise<InvokeResult>): Promise<unknown> {
  const settled = await result;
  if (settled.kind !== "returned") throw new Error(`expected a value, got ${JSON.stringify(settled)}`);
  return settled.value;
}

export const withLease = async <T>(
  host: RuntimeHost,
  sessionId: string,
  act: (runtime: Runtime) => Promise<T>,
  agentId = "agent",
): Promise<T> => {
  const runtime = await host.lease({ deploymentId: DEPLOYMENT, agentId, sessionId }, new AbortController().signal);
  try {
    return await act(runtime);
  } finally {
    await runtime.release();
  }
};
