import type { SendResult } from "../../core/ports.ts";
import type { SlackAnswer } from "./call.ts";

/** An operator can mend these: the token, its scopes, the bot's membership. Asked again, slowly, for as long as it takes. */
const MENDABLE = new Set([
  "invalid_auth",
  "not_authed",
  "account_inactive",
  "token_revoked",
  "token_expired",
  "missing_scope",
  "no_permission",
  "not_allowed_token_type",
  "org_login_required",
  "ekm_access_denied",
  "team_access_not_granted",
  "access_denied",
  "accesslimited",
  "not_in_channel",
]);

/** Slack is busy with itself; it took nothing. */
const PASSING = new Set(["service_unavailable", "team_added_to_org", "request_timeout"]);

/** Slack's documentation: "some aspect of the operation may have succeeded before the error was raised". */
const DOUBTFUL = new Set(["internal_error", "fatal_error"]);

const MENDABLE_RETRY_MS = 60_000;

export interface Sending {
  readonly method: string;
  readonly channel: string;
  /** The same call again does the same: a lost answer needs no looking, only another try. */
  readonly repeatable: boolean;
}

/** What a limit holds for. */
export const scopeOf = ({ method, channel }: Sending): string => `${method}:${channel}`;

/** What an answer means for the delivery. Every refusal that is no known exception is final: Slack would say it again. */
export function sendResult(answer: SlackAnswer, { repeatable }: Sending, ref: string): SendResult {
  switch (answer.kind) {
    case "ok":
      return { outcome: "sent", ref };
    case "limited":
      return { outcome: "retry", code: "ratelimited", afterMs: answer.afterMs };
    case "unsent":
      return { outcome: "retry", code: answer.code };
    case "lost":
      return { outcome: repeatable ? "retry" : "unknown", code: answer.code };
    case "refused":
      if (MENDABLE.has(answer.code)) return { outcome: "retry", code: answer.code, afterMs: MENDABLE_RETRY_MS };
      if (PASSING.has(answer.code)) return { outcome: "retry", code: answer.code };
      if (DOUBTFUL.has(answer.code)) return { outcome: repeatable ? "retry" : "unknown", code: answer.code };
      return { outcome: "dead", code: answer.code };
  }
}
