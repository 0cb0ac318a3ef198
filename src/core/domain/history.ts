import type { Json } from "./json.ts";

/**
 * The conversation as a model sees it, free of any provider's shape. Every tool call of an assistant message has
 * exactly one result in the tool message right behind it (I10).
 */
export type HistoryMessage =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly HistoryCall[]; readonly reasoning?: Json }
  | { readonly role: "tool"; readonly results: readonly HistoryResult[] };

export interface HistoryCall {
  /** Our call id, unique within the session whatever ids the model repeats (T3). */
  readonly callId: string;
  readonly tool: string;
  readonly input: Json;
}

export interface HistoryResult {
  readonly callId: string;
  readonly tool: string;
  readonly failed: boolean;
  readonly output: Json;
}
