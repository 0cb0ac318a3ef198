import type { Log } from "../../core/ports.ts";
import { textOf } from "./read.ts";

/** A click is not told a second time, and a commit that nobody answered may have been one: the card knows. */
const UNRECORDED =
  "The gateway could not make sure that this was recorded: its database does not answer. If nothing has changed here in a minute, click again.";
const ANSWER_WITHIN_MS = 5_000;

/**
 * Tells who clicked in vain, through the click's own `response_url`, which needs no row of ours. Best effort, never
 * throws; an event, which Slack sends again by itself, has no such address and nobody who waits.
 */
export async function tellUnrecorded(body: Record<string, unknown>, log: Log): Promise<void> {
  const url = textOf(body, "response_url");
  if (url === undefined) return;
  try {
    const { status } = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ response_type: "ephemeral", replace_original: false, text: UNRECORDED }),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    if (status !== 200) log.debug({ status }, "slack did not take the note about a click");
  } catch (error) {
    log.debug({ err: error }, "the note about a click did not reach slack");
  }
}
