import type { Changes } from "./changes.ts";
import type { Log } from "./log.ts";

export interface ApiRequest {
  readonly method: string;
  readonly channel?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** `ok`, Slack's error name, or `fault:` and its kind. */
  readonly outcome: string;
}

/** A call that a correct app never makes: over a limit, malformed, without its token. */
export interface Violation {
  readonly method: string;
  readonly channel?: string;
  /** Slack's error name; `warning` when Slack takes the call and does something else than it says. */
  readonly error: string;
  readonly messages: readonly string[];
}

export interface RequestLog {
  /** The newest 10,000, oldest first. */
  readonly requests: ApiRequest[];
  readonly violations: Violation[];
  addRequest(request: ApiRequest): void;
  addViolation(violation: Violation): void;
  /** Calls of `method` since the start, those that failed included. */
  count(method: string): number;
}

/** A simulator that runs for days must not grow by its own bookkeeping. */
const KEPT = 10_000;

export function createRequestLog(changes: Changes, log: Log): RequestLog {
  const counts = new Map<string, number>();
  const requests: ApiRequest[] = [];
  const violations: Violation[] = [];
  return {
    requests,
    violations,
    addRequest(request) {
      requests.push(request);
      if (requests.length > KEPT) requests.splice(0, requests.length - KEPT);
      counts.set(request.method, (counts.get(request.method) ?? 0) + 1);
      log.debug(
        { method: request.method, channel: request.channel, outcome: request.outcome },
        "slack simulator: call",
      );
      changes.notify();
    },
    addViolation(violation) {
      log.warn(violation, "slack simulator: Slack would not take this call");
      violations.push(violation);
      if (violations.length > KEPT) violations.splice(0, violations.length - KEPT);
      changes.notify();
    },
    count: (method) => counts.get(method) ?? 0,
  };
}
