import type { Json } from "../domain/json.ts";
import type { ProviderName, SdkResult } from "./providers.ts";

/**
 * What a provider wants back with the next step: signed thinking (Anthropic), encrypted reasoning (OpenAI), signatures
 * on calls (Gemini 3). Kept beside the step as opaque JSON and sent only to the provider that wrote it: another one
 * refuses a foreign signature.
 */
type KeptReasoning = {
  readonly provider: ProviderName;
  readonly parts: readonly { readonly text: string; readonly metadata: Metadata }[];
  /** Metadata of the step's calls by position; empty where the provider signs none. */
  readonly calls: readonly (Metadata | null)[];
};

/** By provider, as the SDK hands it over and takes it back. */
export type Metadata = Readonly<Record<string, JsonObject>>;
type JsonObject = { [key: string]: JsonValue };
type JsonValue = null | string | number | boolean | JsonObject | JsonValue[];

export function keepReasoning(provider: ProviderName, content: SdkResult["content"]): KeptReasoning | null {
  const parts = content.flatMap((part) =>
    part.type === "reasoning" && part.providerMetadata
      ? [{ text: part.text, metadata: plain(part.providerMetadata) }]
      : [],
  );
  // OpenAI's and Anthropic's call metadata hold the provider's own call ids, which ours replace: only Gemini's signs.
  const calls =
    provider === "google"
      ? content.flatMap((part) =>
          part.type === "tool-call" ? [part.providerMetadata ? plain(part.providerMetadata) : null] : [],
        )
      : [];
  return parts.length > 0 || calls.some((metadata) => metadata !== null) ? { provider, parts, calls } : null;
}

/** Reads what an earlier step kept; null for anything this provider did not write. */
export function recallReasoning(provider: ProviderName, kept: Json | undefined): KeptReasoning | null {
  return isKept(kept) && kept.provider === provider ? kept : null;
}

function isKept(value: unknown): value is KeptReasoning {
  if (typeof value !== "object" || value === null) return false;
  return (
    "provider" in value &&
    "parts" in value &&
    Array.isArray(value.parts) &&
    "calls" in value &&
    Array.isArray(value.calls)
  );
}

/** A copy through JSON: metadata may hold `undefined`, which the store refuses. */
const plain = (metadata: object): Metadata => JSON.parse(JSON.stringify(metadata));
