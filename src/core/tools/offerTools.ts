import type { Json } from "../domain/json.ts";
import type { Log, OfferRequest, ProvidedTool, RenderedTool, ToolProvider } from "../ports.ts";
import { ASK } from "./ask.ts";

/** What one step offers a model, and what its calls are held to (T10). */
export interface Offered {
  /** The agent's own tools, and `ask` where it was selected. */
  readonly own: readonly RenderedTool[];
  /** Tools of the gateway. */
  readonly provided: readonly ProvidedTool[];
}

/** An agent's tool keeps its name: one of the gateway's that bears it, too, is left out, and the log says so. */
export async function offerTools(
  providers: readonly ToolProvider[],
  request: OfferRequest,
  log: Log,
): Promise<Offered> {
  const own = request.rendered.tools.filter((tool) => tool.kind !== "builtin" || tool.id === ASK.name);
  const taken = new Set(own.map((tool) => (tool.kind === "builtin" ? tool.id : tool.name)));
  const provided = (await Promise.all(providers.map((provider) => provider.offer(request)))).flat();
  return {
    own,
    provided: provided.filter(({ name }) => {
      if (!taken.has(name)) return taken.add(name);
      log.warn({ session: request.sessionId, tool: name }, "a tool was left out: another one has its name");
      return false;
    }),
  };
}

/** As a model sees them. */
export const modelTools = ({ own, provided }: Offered): { name: string; description: string; input: Json }[] => [
  ...own.map((tool) =>
    tool.kind === "builtin" ? ASK : { name: tool.name, description: tool.description, input: tool.input },
  ),
  ...provided.map(({ name, description, input }) => ({ name, description, input })),
];
