import type { Json } from "../../domain/json.ts";
import type { RenderRequest } from "../../ports.ts";
import { isTool, type Tool } from "./tool.ts";

/** Where the published hooks look for whoever renders. */
const HOST = Symbol.for("opencomputer.agent-hooks");

/** What one render selected, in the order selected. */
export interface Selection {
  model: string | null;
  readonly tools: Map<string, Tool | string>;
}

/** Runs an agent function with hooks that answer from `request` and record into the selection. */
export type WithHooks = <T>(request: RenderRequest, selection: Selection, render: () => T) => T;

/** Installs the hooks' host; outside `WithHooks` every hook throws. */
export function installHooks(): WithHooks {
  let rendering: { request: RenderRequest; selection: Selection } | null = null;

  const during = (hook: string) => {
    if (rendering) return rendering;
    throw new Error(`${hook} was called outside a render; call it inside the agent function, before it returns.`);
  };
  const notOffered = (hook: string) => () => {
    during(hook);
    throw new Error(`${hook} is not offered by this gateway.`);
  };

  const hooks = {
    useInput: () => during("useInput").request.input,
    useModel: (model: unknown) => {
      const { selection } = during("useModel");
      if (typeof model !== "string" || model === "")
        throw new TypeError("useModel takes a model's name, as provider/model.");
      selection.model = model;
    },
    useTool: (tool: unknown) => select(during("useTool").selection, tool),
    useConnection: () => void during("useConnection"),
    useService: () => void during("useService"),
    useSessionData: (key: string): Json | undefined => {
      const { sessionData } = during("useSessionData").request;
      return Object.hasOwn(sessionData, key) ? sessionData[key] : undefined;
    },
    useSubagent: notOffered("useSubagent"),
    useMcpServer: notOffered("useMcpServer"),
    useMemory: notOffered("useMemory"),
  };
  Object.defineProperty(globalThis, HOST, { value: Object.freeze(hooks) });

  return (request, selection, render) => {
    rendering = { request: deepFreeze(request), selection };
    try {
      return render();
    } finally {
      rendering = null;
    }
  };
}

function select({ tools }: Selection, tool: unknown): void {
  const known = typeof tool === "string" ? tool !== "" : isTool(tool);
  if (!known) throw new TypeError('useTool takes what defineTool returns, or the id of a built-in tool such as "ask".');
  const selected = tool as Tool | string;
  const name = typeof selected === "string" ? selected : selected.name;
  const before = tools.get(name);
  if (before !== undefined && before !== selected) {
    throw new Error(
      `Two tools named ${JSON.stringify(name)} were selected in one render; the model could not tell them apart.`,
    );
  }
  tools.set(name, selected);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
