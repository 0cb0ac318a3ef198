import type { ConnectionReference } from "./connection.ts";
import { idProblem } from "./connectionShape.ts";
import type { ResourceReference } from "./data.ts";
import { mark } from "./mark.ts";

export interface McpServerDefinition extends ResourceReference {
  readonly kind: "mcp";
  readonly url: string;
  readonly connection?: ConnectionReference;
}

/** A remote MCP server over streamable HTTP, authorised through `connection`. */
export function defineMcpServer(input: {
  readonly id: string;
  readonly url: string;
  readonly connection?: ConnectionReference;
}): McpServerDefinition {
  const problem = idProblem("MCP server", input.id);
  if (problem) throw new TypeError(`defineMcpServer: ${problem.what}; ${problem.instead}.`);
  if (!URL.canParse(input.url) || new URL(input.url).protocol !== "https:") {
    throw new TypeError(
      `defineMcpServer "${input.id}": url is not an https address; write url: "https://mcp.example.com/mcp".`,
    );
  }
  return mark("mcp", {
    kind: "mcp" as const,
    id: input.id,
    url: new URL(input.url).href,
    ...(input.connection ? { connection: input.connection } : {}),
  });
}
