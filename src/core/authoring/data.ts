/** What survives JSON: the only thing tools return, progress reports carry and sessions keep. */
export type DataValue = null | boolean | number | string | readonly DataValue[] | { readonly [key: string]: DataValue };

/** A JSON Schema object. Open on purpose: `as const` schemas of any draft and vocabulary fit. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** How one definition names another: a tool, a connection, an MCP server. */
export interface ResourceReference {
  readonly kind: string;
  readonly id: string;
}
