import { toJson } from "../../domain/json.ts";
import type { Rendered, RenderedTool, RenderRequest } from "../../ports.ts";
import type { Agent } from "./agent.ts";
import type { Selection, WithHooks } from "./hooks.ts";
import { kindOf, type Tool } from "./tool.ts";

/** Calls the agent function once (T10). Throws what it throws, or a sentence about what it returned. */
export function renderAgent(agent: Agent, request: RenderRequest, withHooks: WithHooks): Rendered {
  const selection: Selection = { model: null, tools: new Map() };
  const instructions = withHooks(request, selection, agent.render);
  if (instructions instanceof Promise) {
    instructions.catch(() => {});
    throw new Error(
      "The agent function returned a promise; it must be synchronous and return the instructions themselves.",
    );
  }
  if (typeof instructions !== "string") throw new Error("The agent function must return its instructions as a string.");
  const tools = [...selection.tools.values()].map(describeTool);
  for (const tool of selection.tools.values()) if (typeof tool !== "string") agent.tools.set(tool.name, tool);
  return { instructions, model: selection.model, tools };
}

function describeTool(tool: Tool | string): RenderedTool {
  if (typeof tool === "string") return { kind: "builtin", id: tool };
  const { name, description } = tool;
  const input = toJson(tool.input ?? { type: "object" });
  if (!input.ok)
    throw new Error(`The input schema of the tool ${name} is not JSON, at ${input.error.at}: ${input.error.reason}.`);
  return {
    kind: kindOf(tool),
    name,
    description,
    input: input.value,
    verifies: typeof tool.verify === "function",
    ...(tool.result === true && { result: true }),
  };
}
