import { type Logger, LogLevel } from "@slack/web-api";
import type { Log } from "../../core/ports.ts";

/**
 * Our log in the shape Slack's packages want. Their debug and info lines are dropped: WebClient writes whole request
 * bodies there, and message text never reaches a log. Errors keep their message only, for the same reason.
 */
export function createSlackLogger(log: Log): Logger {
  const say =
    (level: "warn" | "error") =>
    (...parts: unknown[]) =>
      log[level](
        { reason: parts.map((part) => (part instanceof Error ? part.message : String(part))).join(" ") },
        "slack package",
      );
  return {
    debug: () => {},
    info: () => {},
    warn: say("warn"),
    error: say("error"),
    setLevel: () => {},
    getLevel: () => LogLevel.WARN,
    setName: () => {},
  };
}
