import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AgentManifest, Deployment, DeploymentFile, Manifest } from "../domain/manifest.ts";
import { type AgentRules, type DeclaredAgent, readAgent } from "./agent.ts";
import { checkRules } from "./approvals.ts";
import { bundleAgent } from "./bundle.ts";
import { canonicalJson, deploymentId } from "./deploymentId.ts";
import { createProblems, type Problems } from "./problems.ts";
import { agentFolder, environmentNames, findProject, type Project, readProject, refuseApproval } from "./project.ts";

export interface BuildOptions {
  /** The folder with project.ts, or the one above its `opencomputer/`. */
  readonly dir: string;
  /** Set: the deployment is written there too, as `manifest.json` beside its files. */
  readonly outDir?: string;
  /** `http://` origins on this machine; for development only. Default false. */
  readonly allowLoopback?: boolean;
  /** The built-in tools this installation offers; others build with a warning (T11). Default: `ask`. */
  readonly availableBuiltins?: readonly string[];
  /** Other origins for connections, by id: the demo and tests run their own servers. Not checked. */
  readonly overrideOrigins?: Readonly<Record<string, string>>;
}

/**
 * Builds a project into a deployment without running any of its code. The same project gives the same id on every
 * machine. Throws `project_invalid` with everything that is wrong, one `file:line: what — what instead` a line.
 */
export async function buildProject(options: BuildOptions): Promise<Deployment> {
  const folder = findProject(options.dir);
  const problems = createProblems();
  const warnings: string[] = [];
  const project = await readProject(folder, problems, warnings);
  if (!project) throw problems.error();
  const ofProject = problems.count();
  const agents = await readAgents(project, folder, options, problems, warnings);
  // A tool in a module that could not be read would be missed here, and called misspelt.
  if (problems.count() === ofProject) checkApprovals(project, agents, problems);
  problems.throwIfAny();

  const files: DeploymentFile[] = [];
  for (const { entry, declaring, manifest } of agents) {
    files.push(
      ...(await bundleAgent({ project: folder, outfile: manifest.module, agent: entry, modules: declaring }, problems)),
    );
  }
  problems.throwIfAny();
  files.sort((a, b) => (a.path < b.path ? -1 : 1));

  const manifests = agents.map(({ manifest }) => withOrigins(manifest, options.overrideOrigins ?? {}));
  const secrets = new Set(manifests.flatMap((agent) => agent.secrets));
  const manifest: Manifest = {
    version: 1,
    project: project.name,
    agents: manifests,
    approvals: project.approvals,
    warnings,
    variables: (await environmentNames(folder)).filter((name) => !secrets.has(name)),
  };
  const deployment = { id: deploymentId(manifest, files), manifest, files };
  if (options.outDir !== undefined) await writeDeployment(deployment, options.outDir);
  return deployment;
}

async function readAgents(
  project: Project,
  root: string,
  options: BuildOptions,
  problems: Problems,
  warnings: string[],
): Promise<DeclaredAgent[]> {
  const agents: DeclaredAgent[] = [];
  for (const id of project.agents) {
    const folder = agentFolder(root, id);
    if (folder === null) {
      problems.add(
        project.place,
        `the agent "${id}" has no folder agents/${id}`,
        "create it with an agent.ts, or take the name out of agents",
      );
      continue;
    }
    const rules: AgentRules = {
      project: root,
      folder,
      optionalTools: project.optionalTools,
      availableBuiltins: options.availableBuiltins ?? ["ask"],
      allowLoopback: options.allowLoopback ?? false,
      problems,
      warnings,
    };
    const agent = await readAgent(id, rules);
    if (agent) agents.push(agent);
  }
  await warnOfUnlisted(project, root, warnings);
  return agents;
}

function checkApprovals(project: Project, agents: readonly DeclaredAgent[], problems: Problems): void {
  const waiting = agents.flatMap(({ manifest }) =>
    manifest.tools.filter(({ kind }) => kind === "approval").map(({ name }) => name),
  );
  checkRules(project.approvals, [...new Set(waiting)].sort(), refuseApproval(project.place, problems));
}

async function warnOfUnlisted(project: Project, root: string, warnings: string[]): Promise<void> {
  const agentsFolder = join(root, "agents");
  if (!existsSync(agentsFolder)) return;
  const listed = new Set(project.agents.flatMap((id) => [id, id.split("@")[0]]));
  for (const entry of (await readdir(agentsFolder, { withFileTypes: true })).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    if (entry.isDirectory() && !listed.has(entry.name))
      warnings.push(`agents/${entry.name}: project.ts does not list it, so it is not deployed`);
  }
}

const withOrigins = (agent: AgentManifest, origins: Readonly<Record<string, string>>): AgentManifest => ({
  ...agent,
  connections: agent.connections.map((connection) => ({
    ...connection,
    origin: new URL((Object.hasOwn(origins, connection.id) && origins[connection.id]) || connection.origin).origin,
  })),
});

async function writeDeployment({ manifest, files }: Deployment, outDir: string): Promise<void> {
  for (const { path, content } of [...files, { path: "manifest.json", content: canonicalJson(manifest) }]) {
    const target = join(outDir, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
  }
}
