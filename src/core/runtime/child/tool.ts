import type { InvokeRequest } from "../../ports.ts";

type Entry = InvokeRequest["entry"];

/** A tool's definition as `defineTool` makes it. */
export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly input?: unknown;
  readonly result?: boolean;
} & { readonly [E in Entry]?: (context: unknown) => unknown };

const KIND = Symbol.for("countersign.kind");

/** By its mark: the bundle carries its own copy of the authoring API. Never throws, whatever a module exports. */
export function isTool(value: unknown): value is Tool {
  try {
    if (typeof value !== "object" || value === null) return false;
    const { name, description, [KIND]: kind } = value as { name?: unknown; description?: unknown; [KIND]?: unknown };
    return kind === "tool" && typeof name === "string" && typeof description === "string";
  } catch {
    return false;
  }
}

export const kindOf = (tool: Tool): "run" | "approval" => (typeof tool.apply === "function" ? "approval" : "run");
