import { setTimeout as wait } from "node:timers/promises";
import { type Json, toJson } from "../domain/json.ts";
import type { Log, ModelPort, ModelRequest, ModelStep } from "../ports.ts";
import { createDemoModel } from "./demo.ts";
import { classify, type ModelFailure, toCountersignError } from "./errors.ts";
import { toPrompt } from "./messages.ts";
import {
  configuredProviders,
  defaultModelOf,
  type NamedModel,
  type ProviderConfigs,
  resolveModel,
  type SdkCall,
  type SdkPrompt,
  type SdkResult,
} from "./providers.ts";
import { keepReasoning } from "./reasoning.ts";

export interface ModelConfig {
  readonly providers: ProviderConfigs;
  /** `provider/model` for agents that name none; absent: the first configured provider's. */
  readonly defaultModel?: string;
  readonly log: Log;
  /** One call's time. Node's fetch gives up on the headers after 300 s; this is ours, and below it. */
  readonly timeoutMs?: number;
  /** The first pause before a retry; the second is twice as long. */
  readonly retryPauseMs?: number;
}

/** Retries inside a step are for hiccups; what lasts longer is the turn's to wait for, not a held worker's. */
const RETRIES = 2;
const LONGEST_RETRY_AFTER_MS = 20_000;

/**
 * The model port over the configured providers; without any key, the scripted demo model.
 *
 * A step is one `doGenerate` of the SDK's model and not `generateText`: that one pairs calls with their arguments by
 * the provider's call id, which models repeat (T3), and writes its warnings to the console.
 */
export function createModel(config: ModelConfig): ModelPort {
  const { providers, log, timeoutMs = 240_000, retryPauseMs = 500 } = config;
  if (configuredProviders(providers).length === 0) return createDemoModel();

  return {
    async step(request) {
      const model = resolveModel(request.model ?? config.defaultModel ?? defaultModelOf(providers) ?? "", providers);
      const call = toCall(request, model);
      for (let attempt = 1; ; attempt++) {
        request.signal.throwIfAborted();
        const timeout = AbortSignal.timeout(timeoutMs);
        try {
          const abortSignal = AbortSignal.any([request.signal, timeout]);
          return toStep(await model.sdk.doGenerate({ ...call, abortSignal }), model);
        } catch (error) {
          request.signal.throwIfAborted();
          const failure = timeout.aborted ? TIMED_OUT : classify(error, model);
          const pause = attempt > RETRIES ? null : pauseBefore(failure, attempt, retryPauseMs);
          log.warn(
            { model: model.name, attempt, code: failure.code, ...failure.facts, retryInMs: pause },
            "model call failed",
          );
          if (pause === null) throw toCountersignError(failure, model);
          await wait(pause, undefined, { signal: request.signal }).catch(() => request.signal.throwIfAborted());
        }
      }
    },
  };
}

/** Not asked again: a second try would double a wait that is long already. */
const TIMED_OUT: ModelFailure = {
  code: "model_unavailable",
  retryable: false,
  retryAfterMs: null,
  facts: { status: null, type: "timeout", requestId: null },
};

function pauseBefore(failure: ModelFailure, attempt: number, retryPauseMs: number): number | null {
  if (!failure.retryable) return null;
  const asked = failure.retryAfterMs;
  if (asked === null) return retryPauseMs * 2 ** (attempt - 1);
  return asked <= LONGEST_RETRY_AFTER_MS ? asked : null;
}

function toCall(request: ModelRequest, model: NamedModel): SdkCall {
  const prompt = toPrompt(request.instructions, request.history, model.provider);
  return {
    prompt: model.provider === "anthropic" ? markForCache(prompt) : prompt,
    // Encrypted reasoning travels with the history instead of being kept by OpenAI under an id of theirs.
    providerOptions: { openai: { store: false } },
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map((tool) => toTool(tool, model)) }),
  };
}

/** The prefix up to the last message is read again at every step; Anthropic caches only what is marked. */
const markForCache = (prompt: SdkPrompt): SdkPrompt =>
  prompt.map((message, index) =>
    message.role === "system" || index === prompt.length - 1
      ? { ...message, providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }
      : message,
  );

function toTool(tool: ModelRequest["tools"][number], model: NamedModel): NonNullable<SdkCall["tools"]>[number] {
  const schema = typeof tool.input === "object" && tool.input !== null ? structuredClone(tool.input) : {};
  return {
    type: "function",
    name: tool.name,
    description: tool.description,
    // Anthropic demands a `type`, OpenAI `properties` as well; ajv reads the author's schema, not this copy.
    inputSchema: { type: "object", properties: {}, ...schema },
    // Left out, OpenAI rewrites the schema so that optional arguments become required.
    ...(model.provider === "openai" ? { strict: false } : {}),
  };
}

function toStep({ content, usage }: SdkResult, model: NamedModel): ModelStep {
  const reasoning = keepReasoning(model.provider, content);
  return {
    text: content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
    calls: content.flatMap((part) =>
      part.type === "tool-call"
        ? [{ providerCallId: part.toolCallId, tool: part.toolName, ...readArguments(part.input) }]
        : [],
    ),
    ...(reasoning ? { reasoning } : {}),
    usage: { inputTokens: usage.inputTokens.total ?? 0, outputTokens: usage.outputTokens.total ?? 0 },
    model: model.name,
  };
}

/** Arguments that are not JSON stay as the text they are; a call without any means the empty object. */
function readArguments(text: string): { input: Json; malformed?: string } {
  if (text.trim() === "") return { input: {} };
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return {
      input: text,
      malformed: `The arguments are not JSON: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
  const checked = toJson(parsed);
  if (checked.ok) return { input: checked.value };
  return { input: text, malformed: `The arguments cannot be kept: ${checked.error.reason}, at ${checked.error.at}` };
}
