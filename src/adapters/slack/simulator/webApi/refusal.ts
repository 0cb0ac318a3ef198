import type { JsonObject } from "../message.ts";

/**
 * `{ok: false, error}`. A violation is what a correct app never sends (too long, malformed, unknown); anything else is
 * an answer that a correct app may get, such as `message_not_found`.
 */
export class Refusal extends Error {
  readonly error: string;
  readonly messages: readonly string[];
  readonly violation: boolean;
  /** What Slack puts beside the error. */
  readonly detail: JsonObject;

  constructor(error: string, messages: readonly string[], violation: boolean, detail: JsonObject = {}) {
    super([error, ...messages].join("; "));
    this.name = "Refusal";
    this.error = error;
    this.messages = messages;
    this.violation = violation;
    this.detail = detail;
  }
}

export const violation = (error: string, ...messages: readonly string[]): Refusal => new Refusal(error, messages, true);

export const refusal = (error: string, detail?: JsonObject): Refusal => new Refusal(error, [], false, detail);
