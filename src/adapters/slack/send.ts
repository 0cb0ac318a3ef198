import type { ChatSender, Clock, Outgoing, SendResult } from "../../core/ports.ts";
import type { SlackBody } from "./blocks.ts";
import { createSlackCall, type SlackCallOptions } from "./call.ts";
import { createFind, deliveryMetadata } from "./find.ts";
import { type Sending, scopeOf, sendResult } from "./outcome.ts";
import { createPauses } from "./pauses.ts";
import { placeOf, refOf } from "./place.ts";
import { textOf } from "./read.ts";
import { renderSlack } from "./render.ts";
import { splitForSlack } from "./split.ts";
import { createStatus } from "./status.ts";
import { slackBodyProblems } from "./validate.ts";

export interface SlackSenderOptions extends SlackCallOptions {
  readonly clock?: Clock;
}

/** Posts, edits and private notes over the Web API. A `ref` is `channel:ts`. */
export function createSlackSender({ clock = { now: Date.now }, ...options }: SlackSenderOptions): ChatSender {
  const call = createSlackCall(options);
  const pauses = createPauses(() => performance.now());
  const { log } = options;

  async function send(outgoing: Outgoing): Promise<SendResult> {
    const { deliveryId } = outgoing;
    const body = renderSlack(outgoing.message);
    const problems = slackBodyProblems(body);
    if (problems.length > 0) {
      log.error({ deliveryId, problems }, "a message was not sent: slack would refuse its body");
      return { outcome: "dead", code: "slack_invalid_body" };
    }
    const { args, ...sending } = request(outgoing, body);
    const afterMs = pauses.leftMs(scopeOf(sending));
    if (afterMs > 0) return { outcome: "retry", code: "ratelimited", afterMs };
    const answer = await call(sending.method, args);
    const ts = answer.kind === "ok" ? (textOf(answer.body, "ts") ?? textOf(answer.body, "message_ts")) : undefined;
    if (answer.kind === "ok" && ts === undefined) return settle(outgoing, { outcome: "unknown", code: "no_ts" });
    const result = settle(outgoing, sendResult(answer, sending, refOf(sending.channel, ts ?? "")));
    if (answer.kind === "limited") pauses.pause(scopeOf(sending), answer.afterMs);
    if (result.outcome !== "sent")
      log.warn({ deliveryId, method: sending.method, ...result }, "slack did not take a message");
    return result;
  }

  return {
    provider: "slack",
    send,
    find: createFind(call, clock),
    status: createStatus(call, log),
    split: (markdown) => splitForSlack(markdown),
  };
}

/** A private note whose answer was lost can be looked up nowhere, and two are worse than none: it ends here (G5). */
const settle = ({ message }: Outgoing, result: SendResult): SendResult =>
  message.kind === "notice" && result.outcome === "unknown" ? { outcome: "dead", code: "notice_unconfirmed" } : result;

function request(outgoing: Outgoing, body: SlackBody): Sending & { args: Record<string, unknown> } {
  const { conversation, message, deliveryId, editRef } = outgoing;
  if (editRef !== undefined) {
    const [channel = "", ts = ""] = editRef.split(":");
    return { method: "chat.update", channel, repeatable: true, args: { channel, ts, ...body } };
  }
  const { channel, thread } = placeOf(conversation);
  const at = { channel, ...(thread !== undefined && { thread_ts: thread }) };
  if (message.kind === "notice") {
    const args = { ...at, user: message.to.userId, ...body };
    return { method: "chat.postEphemeral", channel, repeatable: false, args };
  }
  const quiet = { unfurl_links: false, unfurl_media: false };
  const args = { ...at, ...body, ...quiet, metadata: deliveryMetadata(deliveryId) };
  return { method: "chat.postMessage", channel, repeatable: false, args };
}
