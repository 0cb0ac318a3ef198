import type { ChatSender, Log } from "../../core/ports.ts";
import type { SlackCall } from "./call.ts";
import { cut } from "./cut.ts";
import { placeOf } from "./place.ts";

/** Refusals that hold for as long as the app is installed as it is; asking again before every step is noise. */
const UNSUPPORTED =
  /^(unknown_method|missing_scope|no_permission|method_not_supported.*|not_allowed.*|feature_not_enabled)$/;

/** The "is working" line of a thread, which Slack clears by itself after two minutes. A DM without a thread has none. */
export function createStatus(call: SlackCall, log: Log): ChatSender["status"] {
  let supported = true;
  return async (conversation, text) => {
    const { channel, thread } = placeOf(conversation);
    if (!supported || thread === undefined) return;
    const answer = await call("assistant.threads.setStatus", {
      channel_id: channel,
      thread_ts: thread,
      status: cut(text, 100),
    });
    if (answer.kind !== "refused" || !UNSUPPORTED.test(answer.code)) return;
    supported = false;
    log.info({ code: answer.code }, "slack takes no status line from this app; none is sent until the next start");
  };
}
