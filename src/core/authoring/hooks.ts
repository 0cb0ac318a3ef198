import type { ConnectionReference } from "./connection.ts";
import type { DataValue } from "./data.ts";
import type { AgentInput } from "./input.ts";
import type { McpServerDefinition } from "./mcpServer.ts";
import type { ServiceSelection } from "./services.ts";
import type { ToolDefinition } from "./tool.ts";

/** `provider/model`, such as `anthropic/claude-sonnet-4.6`. */
export type ModelSelection = string;

/**
 * What renders an agent: the gateway's runtime, or a project's own render test. It puts this object under
 * `Symbol.for("opencomputer.agent-hooks")` while the agent function runs.
 */
export interface AgentHooks {
  useInput(): AgentInput;
  useModel(model: ModelSelection): void;
  useTool(tool: string | ToolDefinition): void;
  useConnection(connection: string | ConnectionReference): void;
  useService(service: ServiceSelection): void;
  useSubagent(agent: string): void;
  useSessionData(key: string): DataValue | undefined;
  useMcpServer(server: string | McpServerDefinition): void;
  useMemory(id: string): unknown;
}

const HOST = Symbol.for("opencomputer.agent-hooks");

/** The host's own function; a test host may bring only those its agent uses. */
function hook<Name extends keyof AgentHooks>(name: Name): AgentHooks[Name] {
  const host = (globalThis as { [HOST]?: Partial<AgentHooks> })[HOST];
  if (!host)
    throw new Error(
      `${name} was called outside a render; call it inside the agent function, not when the module loads or in a tool.`,
    );
  const found = host[name];
  if (typeof found !== "function") throw new Error(`${name} is not provided by what renders this agent.`);
  return found.bind(host) as AgentHooks[Name];
}

/** What this turn was started with; the same object through the whole turn, and immutable. */
export const useInput = (): Readonly<AgentInput> => hook("useInput")();

/** Another name of `useInput`. */
export const useCurrentInput = (): Readonly<AgentInput> => hook("useInput")();

/** Selects the model of the next step. */
export function useModel(model: ModelSelection): void {
  if (typeof model !== "string" || !/^[^/\s]+\/\S+$/.test(model)) {
    throw new TypeError(
      `useModel: ${JSON.stringify(model)} is no model; write provider/model, as in "anthropic/claude-sonnet-4.6".`,
    );
  }
  hook("useModel")(model);
}

/** Offers a tool in the next step: one of the project's, or a built-in by its id. */
export function useTool(tool: string | ToolDefinition): void {
  if (typeof tool === "string" ? tool === "" : tool?.kind !== "tool") {
    throw new TypeError('useTool takes what defineTool returns, or the id of a built-in tool such as "ask".');
  }
  hook("useTool")(tool);
}

/** Declares that this render uses a connection. Tools may use one without it. */
export const useConnection = (connection: string | ConnectionReference): void => hook("useConnection")(connection);

/** Declares that this render uses an account connected with `countersign connect`. */
export const useService = (service: ServiceSelection): void => hook("useService")(service);

/** Offers the tools of a remote MCP server. */
export const useMcpServer = (server: string | McpServerDefinition): void => hook("useMcpServer")(server);

/** Reads what the application wrote with `PATCH /sessions/:id/data`; the type is the caller's own claim. */
export const useSessionData = <T extends DataValue = DataValue>(key: string): T | undefined =>
  hook("useSessionData")(key) as T | undefined;
