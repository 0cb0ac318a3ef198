import { pathToFileURL } from "node:url";
import type { DeclaredTool } from "../protocol.ts";
import { isTool, kindOf, type Tool } from "./tool.ts";

/** An agent's bundle, loaded. */
export interface Agent {
  readonly render: () => unknown;
  /** Its tools by name: those its modules export, and those a render selected. */
  readonly tools: Map<string, Tool>;
}

/** Imports a bundle and finds its tools. Throws what its modules throw, or a sentence about what is wrong with it. */
export async function loadAgent(file: string, declared: readonly DeclaredTool[]): Promise<Agent> {
  const bundle = (await import(pathToFileURL(file).href)) as { default?: unknown; modules?: unknown };
  const render = bundle.default;
  if (typeof render !== "function") throw new Error("The agent's module has no default export that is a function.");
  const tools = new Map<string, Tool>();
  for (const tool of exportedTools(bundle.modules)) {
    if (tools.has(tool.name) && tools.get(tool.name) !== tool) {
      throw new Error(`Two tools are named ${JSON.stringify(tool.name)}.`);
    }
    checkDeclaration(tool, declared);
    tools.set(tool.name, tool);
  }
  return { render: () => render(), tools };
}

function exportedTools(modules: unknown): Tool[] {
  if (!Array.isArray(modules)) return [];
  return modules.flatMap((module) => Object.values(module)).filter(isTool);
}

/** The deployment was built, shown and approved by its manifest: code that says something else is not that code (B4). */
function checkDeclaration(tool: Tool, declared: readonly DeclaredTool[]): void {
  const name = JSON.stringify(tool.name);
  const manifest = declared.find((each) => each.name === tool.name);
  if (!manifest) throw new Error(`The tool ${name} is not in the deployment's manifest.`);
  if (manifest.kind !== kindOf(tool))
    throw new Error(`The tool ${name} is not the ${manifest.kind} tool of the manifest.`);
  if (manifest.result !== (tool.result === true))
    throw new Error(`The tool ${name} disagrees with the manifest about result.`);
}
