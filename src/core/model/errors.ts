import { APICallError } from "ai";
import { CountersignError, type ErrorCode } from "../domain/errors.ts";
import { KEY_VARIABLES, type NamedModel } from "./providers.ts";

/** One failed call as the gateway sees it: what to say, and whether the same call may go well in a moment. */
export interface ModelFailure {
  readonly code: Extract<ErrorCode, "model_unavailable" | "model_refused" | "model_rate_limited">;
  readonly retryable: boolean;
  /** What the provider asked for with `retry-after`. */
  readonly retryAfterMs: number | null;
  /** For people; the catalogue's sentence when absent. */
  readonly sentence?: string;
  /** For the log: status, the provider's error type and request id, none of the conversation. */
  readonly facts: ProviderFacts;
}

interface ProviderFacts {
  readonly status: number | null;
  /** `invalid_request_error`, `insufficient_quota`, `ECONNRESET` …, as the provider or the socket names it. */
  readonly type: string | null;
  readonly requestId: string | null;
}

/** Errors that are the account's, not the moment's: OpenAI sends them as 429. */
const OUT_OF_CREDIT = new Set(["insufficient_quota", "billing_error", "billing_hard_limit_reached"]);

export function classify(error: unknown, model: Pick<NamedModel, "provider" | "name">): ModelFailure {
  const facts = factsOf(error);
  const refused = (sentence?: string): ModelFailure => ({
    code: "model_refused",
    retryable: false,
    retryAfterMs: null,
    facts,
    ...(sentence ? { sentence } : {}),
  });
  // Thrown before or after the exchange, by the SDK itself: asking again changes nothing.
  if (!APICallError.isInstance(error)) return refused();

  const retryAfterMs = retryAfter(error.responseHeaders ?? {});
  const unavailable: ModelFailure = { code: "model_unavailable", retryable: true, retryAfterMs, facts };
  const { status, type } = facts;
  const named = JSON.stringify(model.name);
  if (type !== null && OUT_OF_CREDIT.has(type)) {
    return refused(`The account behind ${KEY_VARIABLES[model.provider]} has no credit left; top it up.`);
  }
  switch (status) {
    // No status: no answer. A status of 2xx: an answer that could not be read to its end.
    case null:
    case 408:
    case 409:
      return unavailable;
    case 429:
      return { ...unavailable, code: "model_rate_limited" };
    case 401:
    case 403:
      return refused(`The provider of ${named} refused the key; check ${KEY_VARIABLES[model.provider]}.`);
    case 404:
      return refused(`The provider of ${named} does not know this model; check its name.`);
    default:
      return status >= 500 || status < 300 ? unavailable : refused();
  }
}

/**
 * The error a flow sees. Its cause is a summary and never the SDK's own error, which carries the whole request: a
 * logger that prints causes would print the conversation.
 */
export function toCountersignError(failure: ModelFailure, model: Pick<NamedModel, "name">): CountersignError {
  const { status, type, requestId } = failure.facts;
  const said = [status ?? "no answer", type, requestId && `request ${requestId}`].filter(Boolean).join(", ");
  return new CountersignError(failure.code, failure.sentence, { cause: new Error(`${model.name}: ${said}`) });
}

function factsOf(error: unknown): ProviderFacts {
  if (!APICallError.isInstance(error)) {
    return { status: null, type: error instanceof Error ? error.name : typeof error, requestId: null };
  }
  const headers = error.responseHeaders ?? {};
  return {
    status: error.statusCode ?? null,
    type: typeIn(error.responseBody) ?? socketCode(error.cause),
    requestId: headers["request-id"] ?? headers["x-request-id"] ?? null,
  };
}

/** All three providers answer `{error: {type | code | status}}`; only a word is taken, never the message. */
function typeIn(body: string | undefined): string | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body ?? "");
  } catch {
    return null;
  }
  const error = property(parsed, "error");
  for (const key of ["code", "type", "status"]) {
    const value = property(error, key);
    if (typeof value === "string" && /^[\w.-]{1,64}$/.test(value)) return value;
  }
  return null;
}

function socketCode(error: unknown): string | null {
  for (let current = error; current instanceof Error; current = current.cause) {
    const code = property(current, "code");
    if (typeof code === "string") return code;
  }
  return null;
}

const property = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && key in value ? Reflect.get(value, key) : undefined;

function retryAfter(headers: Readonly<Record<string, string>>): number | null {
  const milliseconds = Number.parseFloat(headers["retry-after-ms"] ?? "");
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds);
  const value = headers["retry-after"];
  if (value === undefined) return null;
  const seconds = Number(value);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(wait) ? Math.max(0, wait) : null;
}
