import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Expression, Node } from "oxc-parser";
import { RESERVED_TOOL_IDS } from "../authoring/toolShape.ts";
import type { AgentManifest, ConnectionManifest } from "../domain/manifest.ts";
import { type AuthoringCall, authoringCalls, refuseUnsupported } from "./authoringCalls.ts";
import { readConnection, readSecret } from "./connectionDeclaration.ts";
import { fileName, type ModuleGraph, readModuleGraph } from "./moduleGraph.ts";
import { type Place, type Problems, place } from "./problems.ts";
import type { SourceModule } from "./sourceModule.ts";
import { type FollowImport, unwrap } from "./staticValue.ts";
import { type DeclaredTool, type Reach, readTool } from "./toolDeclaration.ts";

export interface AgentRules {
  readonly project: string;
  readonly folder: string;
  readonly optionalTools: readonly string[];
  readonly availableBuiltins: readonly string[];
  readonly allowLoopback: boolean;
  readonly problems: Problems;
  readonly warnings: string[];
}

/** An agent as its source declares it. */
export interface DeclaredAgent {
  readonly manifest: AgentManifest;
  /** Relative to the project: the module of the agent function, and those that declare something. */
  readonly entry: string;
  readonly declaring: readonly string[];
}

/** Reads an agent's modules. Null when it has no agent function to bundle; the problems say why. */
export async function readAgent(id: string, rules: AgentRules): Promise<DeclaredAgent | null> {
  const { project, folder, problems } = rules;
  const entry = ["agent.ts", "agent.tsx", "agent.js", "agent.mjs"]
    .map((name) => join(folder, name))
    .find((path) => existsSync(path));
  if (!entry) {
    problems.add(
      { file: fileName(project, folder) },
      "it has no agent.ts",
      "add one whose default export is the agent function",
    );
    return null;
  }
  const graph = await readModuleGraph(project, folder, problems);
  const agent = graph.modules.find(({ path }) => path === entry);
  if (agent) checkDefaultExport(agent, problems);

  const calls = graph.modules.flatMap((module) => {
    const found = authoringCalls(module);
    refuseUnsupported(module, found, problems);
    return found;
  });
  const named = (name: string) => calls.filter((call) => call.name === name);
  const reach = reachOf(graph, fileName(project, folder));
  const tools = readTools(named("defineTool"), reach, problems);
  const connections = readConnections(named("defineConnection"), reach, rules);
  const secrets = named("useSecret").flatMap(
    ({ node, module }) => readSecret(node, module, { follow: reach.inProject, problems })?.secret ?? [],
  );
  warnOfWhatWaits(calls, rules.warnings);
  return {
    entry: fileName(project, entry),
    declaring: [
      ...new Set(calls.filter(({ name }) => name.startsWith("define")).map(({ module }) => module.file)),
    ].sort(),
    manifest: {
      id,
      module: `agents/${id}/agent.js`,
      tools: tools.map(({ manifest }) => manifest).sort((a, b) => (a.name < b.name ? -1 : 1)),
      connections,
      secrets: [...new Set(secrets)].sort(),
      builtins: selectedBuiltins(named("useTool"), new Set(tools.map(({ manifest }) => manifest.name)), rules),
    },
  };
}

function checkDefaultExport(agent: SourceModule, problems: Problems): void {
  const exported = agent.exports.get("default");
  const instead = "write export default function Agent() { … return instructions; }";
  if (!exported) {
    problems.add({ file: agent.file }, "it has no default export", instead);
    return;
  }
  if (exported.kind === "reexport") return;
  const node = exported.kind === "expression" ? exported.node : agent.variables.get(exported.name)?.init;
  if (!node) return;
  const value = node.type === "FunctionDeclaration" ? node : unwrap(node as Expression);
  const isFunction = ["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"].includes(value.type);
  if (isFunction && "async" in value && value.async) {
    problems.add(
      agent.at(value),
      "the agent function is async",
      "make it synchronous: it runs before every model step, and waiting belongs into tools",
    );
  } else if (
    ["ObjectExpression", "ArrayExpression", "Literal", "TemplateLiteral", "ClassDeclaration"].includes(value.type)
  ) {
    problems.add(agent.at(value), "the default export is not a function", instead);
  }
}

function reachOf(graph: ModuleGraph, folder: string): Reach {
  const inProject: FollowImport = (from, specifier) =>
    graph.resolve(from, specifier) ??
    (graph.isPackage(specifier) ? "a package import" : "an import of a file that is not in the project");
  const inAgent: FollowImport = (from, specifier) => {
    const target = inProject(from, specifier);
    return typeof target === "string" || target.file.startsWith(`${folder}/`)
      ? target
      : "an import from outside the agent's folder";
  };
  return { inProject, inAgent };
}

function readTools(calls: readonly AuthoringCall[], reach: Reach, problems: Problems): DeclaredTool[] {
  const tools = calls.flatMap((call) => readTool(call, reach, problems) ?? []);
  const byName = new Map<string, DeclaredTool>();
  for (const tool of tools) {
    const { name, kind } = tool.manifest;
    const first = byName.get(name);
    if (first)
      problems.add(
        tool.place,
        `the tool "${name}" is declared a second time`,
        `rename it; the first is at ${first.manifest.declaredAt}`,
      );
    else byName.set(name, tool);
    // Applied long after the render that selected it, it is found by its name among the exports.
    if (kind === "approval" && !isExported(tool)) {
      problems.add(
        tool.place,
        `the tool "${name}" waits for a person but is not exported`,
        "declare it as export const … = defineTool(…) at the top of its module",
      );
    }
  }
  const [result, ...more] = tools.filter(({ manifest }) => manifest.result);
  for (const other of more) {
    problems.add(
      other.place,
      `"${other.manifest.name}" is a second result tool`,
      `an agent has one; the first is "${result?.manifest.name}" at ${result?.manifest.declaredAt}`,
    );
  }
  return [...byName.values()];
}

function isExported({ module, node }: DeclaredTool): boolean {
  return [...module.exports.values()].some((exported) => {
    const value =
      exported.kind === "expression"
        ? exported.node
        : exported.kind === "local"
          ? module.variables.get(exported.name)?.init
          : null;
    return value ? unwrap(value as Expression) === node : false;
  });
}

function readConnections(calls: readonly AuthoringCall[], reach: Reach, rules: AgentRules): ConnectionManifest[] {
  const { problems, allowLoopback, warnings } = rules;
  const byId = new Map<string, { readonly manifest: ConnectionManifest; readonly place: Place }>();
  for (const call of calls) {
    const where = call.module.at(call.node);
    const declared = readConnection(call, { follow: reach.inProject, allowLoopback, problems });
    if (declared?.kind === "managed") {
      warnings.push(
        `${place(where)}: the connection "${declared.id}" has a managed provider, which this version does not offer; its commands get no credential`,
      );
    }
    if (declared?.kind !== "http") continue;
    const { id } = declared.manifest;
    const first = byId.get(id);
    if (first)
      problems.add(
        where,
        `the connection "${id}" is declared a second time`,
        `import the one at ${place(first.place)}`,
      );
    else byId.set(id, { manifest: declared.manifest, place: where });
  }
  return [...byId.values()].map(({ manifest }) => manifest).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** T11: an id is one of the project's tools, a built-in, or listed as optional; else it is a mistake. */
function selectedBuiltins(calls: readonly AuthoringCall[], ownTools: ReadonlySet<string>, rules: AgentRules): string[] {
  const builtins = new Set<string>();
  for (const { node, module } of calls) {
    for (const { id, at } of literalIds(node.arguments[0], module)) {
      if (ownTools.has(id)) continue;
      const known = (RESERVED_TOOL_IDS as readonly string[]).includes(id);
      if (known) builtins.add(id);
      if (rules.optionalTools.includes(id)) continue;
      if (!known) {
        rules.problems.add(
          at,
          `useTool("${id}") selects a tool that nothing provides`,
          "correct the id, define the tool, or list it under optionalTools in project.ts",
        );
      } else if (!rules.availableBuiltins.includes(id)) {
        rules.warnings.push(`${place(at)}: "${id}" is not available in this installation and is not offered`);
      }
    }
  }
  return [...builtins].sort();
}

function literalIds(
  argument: Node | null | undefined,
  module: SourceModule,
): { readonly id: string; readonly at: Place }[] {
  const node = argument && argument.type !== "SpreadElement" ? unwrap(argument as Expression) : null;
  switch (node?.type) {
    case "Literal":
      return typeof node.value === "string" ? [{ id: node.value, at: module.at(node) }] : [];
    case "ConditionalExpression":
      return [...literalIds(node.consequent, module), ...literalIds(node.alternate, module)];
    default:
      return [];
  }
}

/** Declarations that are accepted, so that a project builds, and do nothing in this version. */
function warnOfWhatWaits(calls: readonly AuthoringCall[], warnings: string[]): void {
  const waits: Record<string, string> = {
    defineSchedule: "schedules do not run in this version",
    defineMcpServer: "the tools of MCP servers are not offered in this version",
    callService: "connected services are not offered in this version; the call fails",
  };
  for (const { name, module, node } of calls) {
    const what = waits[name];
    if (what) warnings.push(`${place(module.at(node))}: ${what}`);
  }
}
