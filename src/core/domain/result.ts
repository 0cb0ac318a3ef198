import type { Json } from "./json.ts";

/** What an agent's result tool last reported, as it stands on the session (T6). */
export interface SessionResult {
  readonly turnId: string;
  readonly callId: string;
  /** ISO 8601, UTC. */
  readonly reportedAt: string;
  readonly data: Json;
}

/** One report of the result tool, kept as it was (T9). */
export interface ResultRecord extends SessionResult {
  readonly id: string;
  readonly sessionId: string;
}

/** Of a result's JSON text, in UTF-8 (T7). */
export const MAX_RESULT_BYTES = 8 * 1024;
