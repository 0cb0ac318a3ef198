import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModel } from "ai";
import { CountersignError } from "../domain/errors.ts";

/** The SDK's own interface to one model; a step is one `doGenerate`. */
type SdkModel = Extract<LanguageModel, { readonly specificationVersion: "v3" }>;
export type SdkCall = Parameters<SdkModel["doGenerate"]>[0];
export type SdkPrompt = SdkCall["prompt"];
export type SdkResult = Awaited<ReturnType<SdkModel["doGenerate"]>>;

export const PROVIDERS = ["anthropic", "openai", "google"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

interface ProviderConfig {
  readonly apiKey: string;
  /** As the provider's SDK package reads it, version included: `https://api.anthropic.com/v1`. */
  readonly baseUrl?: string;
}

export type ProviderConfigs = { readonly [provider in ProviderName]?: ProviderConfig };

export interface NamedModel {
  readonly provider: ProviderName;
  /** `provider/model` as the contract writes it. */
  readonly name: string;
  readonly sdk: SdkModel;
}

/** The variable that holds each provider's key, as its SDK package names it. */
export const KEY_VARIABLES: Readonly<Record<ProviderName, string>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  google: "GOOGLE_GENERATIVE_AI_API_KEY",
};

/** What answers when neither the agent nor the configuration names a model: each provider's balanced one. */
const DEFAULT_MODELS: Readonly<Record<ProviderName, string>> = {
  anthropic: "anthropic/claude-sonnet-4.6",
  openai: "openai/gpt-5",
  google: "google/gemini-2.5-pro",
};

const isProvider = (name: string): name is ProviderName => PROVIDERS.some((provider) => provider === name);

export const configuredProviders = (configs: ProviderConfigs): ProviderName[] =>
  PROVIDERS.filter((provider) => configs[provider]?.apiKey);

/** The default of the first configured provider; null when none is. */
export function defaultModelOf(configs: ProviderConfigs): string | null {
  const [first] = configuredProviders(configs);
  return first ? DEFAULT_MODELS[first] : null;
}

/** Throws `model_refused` with a sentence that names what to set. */
export function resolveModel(name: string, configs: ProviderConfigs): NamedModel {
  const slash = name.indexOf("/");
  const provider = name.slice(0, Math.max(slash, 0));
  const id = name.slice(slash + 1);
  if (!isProvider(provider) || id === "") {
    const variables = PROVIDERS.map((known) => `${known}/… (${KEY_VARIABLES[known]})`).join(", ");
    throw refused(`The model ${quoted(name)} is not known here; name one of ${variables}.`);
  }
  const config = configs[provider];
  if (!config?.apiKey) {
    throw refused(`The model ${quoted(name)} needs ${KEY_VARIABLES[provider]}; set it and start the gateway again.`);
  }
  return { provider, name, sdk: open(provider, id, config) };
}

function open(provider: ProviderName, id: string, { apiKey, baseUrl }: ProviderConfig): SdkModel {
  const settings = { apiKey, ...(baseUrl ? { baseURL: baseUrl } : {}) };
  switch (provider) {
    case "anthropic":
      // The contract writes versions with a dot; Anthropic's own ids have dashes only.
      return createAnthropic(settings)(id.replaceAll(".", "-"));
    case "openai":
      return createOpenAI(settings)(id);
    case "google":
      return createGoogleGenerativeAI(settings)(id);
  }
}

const refused = (sentence: string): CountersignError => new CountersignError("model_refused", sentence);

const quoted = (name: string): string => JSON.stringify(name.slice(0, 100));
