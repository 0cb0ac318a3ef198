import type { ChatSender, Clock } from "../../core/ports.ts";
import type { SlackCall } from "./call.ts";
import { placeOf, refOf } from "./place.ts";
import { asArray, asRecord, textOf, tsOf } from "./read.ts";

const EVENT_TYPE = "countersign_delivery";

/** Slack has no idempotency key: the delivery's id rides in the message's metadata, and is looked for there. */
export const deliveryMetadata = (deliveryId: string) => ({
  event_type: EVENT_TYPE,
  event_payload: { delivery_id: deliveryId },
});

/** A delivery is looked for as soon as a process is up again; nobody waits a week for one. Bounds the reading. */
const LOOK_BACK_S = 7 * 24 * 60 * 60;
const PAGE = 200;
const MOST_PAGES = 20;

/** Errors that say there is no such place: then our message is not in it either, and the next send is told why. */
const NO_PLACE = new Set(["thread_not_found", "channel_not_found"]);

export function createFind(call: SlackCall, clock: Clock): ChatSender["find"] {
  return async ({ deliveryId, conversation, message, editRef }) => {
    // An edit is not looked for: doing it again does the same.
    if (editRef !== undefined) return { found: false };
    // Private notes are in no history, and two of them are worse than none.
    if (message.kind === "notice") return { found: "never" };
    const { channel, thread } = placeOf(conversation);
    const method = thread === undefined ? "conversations.history" : "conversations.replies";
    const oldest = `${Math.floor(clock.now() / 1000) - LOOK_BACK_S}.000000`;
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const answer = await call(method, {
        channel,
        ...(thread !== undefined && { ts: thread }),
        oldest,
        include_all_metadata: true,
        limit: PAGE,
        ...(cursor !== undefined && { cursor }),
      });
      if (answer.kind === "refused" && NO_PLACE.has(answer.code)) return { found: false };
      if (answer.kind !== "ok") return { found: "unknown" };
      const ts = tsOfDelivery(answer.body["messages"], deliveryId);
      if (ts !== undefined) return { found: true, ref: refOf(channel, ts) };
      cursor = textOf(asRecord(answer.body["response_metadata"]), "next_cursor") || undefined;
      if (cursor === undefined) return { found: false };
    }
    return { found: "unknown" };
  };
}

function tsOfDelivery(messages: unknown, deliveryId: string): string | undefined {
  for (const item of asArray(messages)) {
    const message = asRecord(item);
    const metadata = asRecord(message?.["metadata"]);
    const id = textOf(asRecord(metadata?.["event_payload"]), "delivery_id");
    if (textOf(metadata, "event_type") === EVENT_TYPE && id === deliveryId) return tsOf(message, "ts");
  }
  return undefined;
}
