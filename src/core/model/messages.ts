import { createHash } from "node:crypto";
import type { HistoryCall, HistoryMessage, HistoryResult } from "../domain/history.ts";
import type { Json } from "../domain/json.ts";
import type { ProviderName, SdkPrompt } from "./providers.ts";
import { type Metadata, recallReasoning } from "./reasoning.ts";

type Message = SdkPrompt[number];
type AssistantPart = Extract<Message, { role: "assistant" }>["content"][number];
type ResultPart = Extract<Extract<Message, { role: "tool" }>["content"][number], { type: "tool-result" }>;
type JsonInput = Extract<ResultPart["output"], { type: "json" }>["value"];

/** Anthropic refuses a conversation that opens with the assistant, and every provider an empty one. */
const OPENING = "(The conversation begins.)";
/** Anthropic refuses a text block without a visible character. */
const EMPTY_TEXT = "(An empty message.)";

/**
 * A history as the providers take it: user first, no empty texts, ids and names in their alphabet, well-formed
 * Unicode, and every call followed by its result before the next model message (I10). Total for legal histories.
 */
export function toPrompt(instructions: string, history: readonly HistoryMessage[], provider: ProviderName): SdkPrompt {
  const messages = history.flatMap((message) => toMessage(message, provider));
  if (messages[0]?.role !== "user") messages.unshift(userMessage(OPENING));
  if (instructions.trim() === "") return messages;
  return [{ role: "system", content: wellFormed(instructions) }, ...messages];
}

function toMessage(message: HistoryMessage, provider: ProviderName): Message[] {
  switch (message.role) {
    case "user":
      return [userMessage(message.text.trim() === "" ? EMPTY_TEXT : wellFormed(message.text))];
    case "assistant": {
      const kept = recallReasoning(provider, message.reasoning);
      // By position, so only while every call of the step is still there: a cancelled turn leaves some out.
      const signatures = kept?.calls.length === message.calls.length ? kept.calls : [];
      const spoken: AssistantPart[] = [
        ...(message.text.trim() === "" ? [] : [{ type: "text" as const, text: wellFormed(message.text) }]),
        ...message.calls.map((call, index) => toCall(call, signatures[index] ?? null)),
      ];
      // Reasoning that led to nothing said is not worth an assistant message of its own, and OpenAI refuses it.
      if (spoken.length === 0) return [];
      const reasoning = (kept?.parts ?? []).map(({ text, metadata }) => ({
        type: "reasoning" as const,
        text,
        providerOptions: metadata,
      }));
      return [{ role: "assistant", content: [...reasoning, ...spoken] }];
    }
    case "tool":
      return message.results.length === 0 ? [] : [{ role: "tool", content: message.results.map(toResult) }];
  }
}

const userMessage = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });

const toCall = (call: HistoryCall, metadata: Metadata | null): AssistantPart => ({
  type: "tool-call",
  toolCallId: legalCallId(call.callId),
  toolName: legalToolName(call.tool),
  // Anthropic and Gemini take objects only; what a model sent malformed is kept as text and shown to it wrapped.
  input: isObject(call.input) ? wellFormedJson(call.input) : { arguments: wellFormedJson(call.input) },
  ...(metadata ? { providerOptions: metadata } : {}),
});

const toResult = (result: HistoryResult): ResultPart => ({
  type: "tool-result",
  toolCallId: legalCallId(result.callId),
  toolName: legalToolName(result.tool),
  output: toOutput(result),
});

function toOutput({ output, failed }: HistoryResult): ResultPart["output"] {
  if (typeof output === "string") return { type: failed ? "error-text" : "text", value: wellFormed(output) };
  return { type: failed ? "error-json" : "json", value: wellFormedJson(output) };
}

/** Anthropic: `^[a-zA-Z0-9_-]+$`; OpenAI: at most 64 characters. Ours fit; anything else gets a stable stand-in. */
function legalCallId(callId: string): string {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(callId)) return callId;
  return `call_${createHash("sha256").update(callId).digest("hex").slice(0, 40)}`;
}

/**
 * A model may have called a name that no tool has; the history must not be refused for it ever after. The SDK looks
 * names up in a plain object: `toString` would be sent as the function it finds there, which is no name at all.
 */
function legalToolName(name: string): string {
  const legal = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 128);
  if (legal === "") return "unknown";
  return legal in Object.prototype ? `${legal}_` : legal;
}

/** Providers answer 400 to a lone surrogate and some to NUL (G6). Under `u` a paired surrogate is not matched. */
const wellFormed = (text: string): string => text.replace(/[\0\p{Surrogate}]/gu, "\uFFFD");

function wellFormedJson(value: Json): JsonInput {
  if (typeof value === "string") return wellFormed(value);
  if (value === null || typeof value !== "object") return value;
  if (isArray(value)) return value.map(wellFormedJson);
  return Object.fromEntries(Object.entries(value).map(([key, nested]) => [wellFormed(key), wellFormedJson(nested)]));
}

const isArray = (value: Json): value is readonly Json[] => Array.isArray(value);

const isObject = (value: Json): boolean => typeof value === "object" && value !== null && !isArray(value);
