import {
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
  WebClient,
} from "@slack/web-api";
import type { Log } from "../../core/ports.ts";
import { createSlackLogger } from "./logger.ts";
import { asRecord } from "./read.ts";
import { wellFormed } from "./text.ts";

/** What became of one call of the Web API, as far as this side can know. */
export type SlackAnswer =
  | { readonly kind: "ok"; readonly body: Record<string, unknown> }
  /** Slack said no, by its own error code. */
  | { readonly kind: "refused"; readonly code: string }
  | { readonly kind: "limited"; readonly afterMs: number }
  /** Nothing reached Slack: no connection was made, or something in between turned it away. */
  | { readonly kind: "unsent"; readonly code: string }
  /** The request left and no answer we can read came back. */
  | { readonly kind: "lost"; readonly code: string };

/** One call is at most one request. Never throws. */
export type SlackCall = (method: string, args: Record<string, unknown>) => Promise<SlackAnswer>;

export interface SlackCallOptions {
  readonly botToken: string;
  /** Slack's own when absent; `…/api/`. */
  readonly apiUrl?: string;
  readonly log: Log;
  readonly timeoutMs?: number;
}

/** Slack answers in well under a second or not at all; a call that hangs holds its session's lane. */
const TIMEOUT_MS = 10_000;

/** Where Slack limits us and does not say for how long. */
const UNTOLD_LIMIT_MS = 10_000;

/**
 * WebClient left to itself posts twice (ten retries, also after a socket reset) and stops every channel for one 429
 * (measured: SLACK.md section 0, 3 and 4). Here it does neither: retry and Retry-After belong to the outbox.
 */
export function createSlackCall({ botToken, apiUrl, log, timeoutMs = TIMEOUT_MS }: SlackCallOptions): SlackCall {
  const client = new WebClient(botToken, {
    ...(apiUrl !== undefined && { slackApiUrl: apiUrl }),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: timeoutMs,
    allowAbsoluteUrls: false,
    logger: createSlackLogger(log),
  });
  return async (method, args) => {
    try {
      return { kind: "ok", body: { ...(await client.apiCall(method, wellFormed(args))) } };
    } catch (error) {
      return judge(error);
    }
  };
}

function judge(error: unknown): SlackAnswer {
  if (error instanceof WebAPIRateLimitedError) return { kind: "limited", afterMs: error.retryAfter * 1000 };
  if (error instanceof WebAPIPlatformError) return judgeRefusal(error);
  if (error instanceof WebAPIHTTPError) {
    const code = `http_${error.statusCode}`;
    const turnedAway = error.statusCode >= 400 && error.statusCode < 500 && error.statusCode !== 408;
    return turnedAway ? { kind: "unsent", code } : { kind: "lost", code };
  }
  // A 429 whose Retry-After is missing or no number: web-api 8.2 has no class for it.
  if (error instanceof Error && error.message.startsWith("Retry header did not contain")) {
    return { kind: "limited", afterMs: UNTOLD_LIMIT_MS };
  }
  return judgeNetwork(error);
}

function judgeRefusal(error: WebAPIPlatformError): SlackAnswer {
  const code = error.data.error;
  if (code === "ratelimited" || code === "rate_limited") {
    const seconds = error.data.response_metadata?.retryAfter;
    return { kind: "limited", afterMs: seconds === undefined ? UNTOLD_LIMIT_MS : seconds * 1000 };
  }
  // What is no code is a 200 of somebody in between: WebClient puts the whole page there.
  return /^[a-z0-9_]{1,80}$/.test(String(code))
    ? { kind: "refused", code }
    : { kind: "lost", code: "unreadable_answer" };
}

const NO_CONNECTION =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|CERT_.*|ERR_TLS_.*|.*SELF_SIGNED_CERT.*|UNABLE_TO_.*)$/;

/** fetch hides the reason in `cause`; the connection's own errors are the only ones that prove nothing was sent. */
function judgeNetwork(error: unknown): SlackAnswer {
  let code = "no_answer";
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth++) {
    const fields: Record<string, unknown> = asRecord({ ...at }) ?? {};
    const found = typeof fields["code"] === "string" ? fields["code"] : at.name;
    if (NO_CONNECTION.test(found) || fields["syscall"] === "connect") return { kind: "unsent", code: found };
    code = found;
    at = at instanceof WebAPIRequestError ? at.original : at.cause;
  }
  return { kind: "lost", code };
}
