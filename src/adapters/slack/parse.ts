import type { InboundEvent } from "../../core/domain/message.ts";
import { ignored, type SlackSelf } from "./inbound.ts";
import { parseClicks } from "./parseClicks.ts";
import { parseMessage } from "./parseMessage.ts";
import { asRecord, textOf } from "./read.ts";

/** A decoded body of `POST /slack/events`, an event's envelope or an interaction, in our words. Pure and total. */
export function parseSlack(payload: unknown, self: SlackSelf): InboundEvent[] {
  const body = asRecord(payload);
  if (!body) return [ignored("the payload is not an object")];
  switch (body["type"]) {
    case "event_callback":
      return [parseMessage(body, self)];
    case "block_actions":
      return parseClicks(body, self);
    default:
      return [ignored(`payloads of type ${textOf(body, "type") ?? "unknown"} start nothing`)];
  }
}
