import type { Conversation, InboundEvent } from "../../core/domain/message.ts";
import { ignored, type SlackSelf } from "./inbound.ts";
import { asRecord, idOf, textOf, tsOf } from "./read.ts";
import { unescapeText } from "./text.ts";

type Fields = Record<string, unknown>;

/** Subtypes that are somebody talking; every other is news about a channel or a message (SLACK.md 1.3). */
const SPOKEN = new Set(["file_share", "thread_broadcast", "me_message"]);

/**
 * An Events API envelope. `app_mention` and `message` of one post read the same and share a key, so that either may
 * come first, twice, or alone (G3).
 */
export function parseMessage(envelope: Fields, self: SlackSelf): InboundEvent {
  const event = asRecord(envelope["event"]);
  const type = textOf(event, "type");
  if (!event || (type !== "message" && type !== "app_mention"))
    return ignored(`event ${type ?? "without type"} starts nothing`);
  const reason = notSpoken(event, envelope, self);
  if (reason) return ignored(reason);

  const team = idOf(envelope, "team_id") ?? self.teamId;
  const channel = idOf(event, "channel");
  const ts = tsOf(event, "ts");
  const user = idOf(event, "user");
  if (!channel || !ts || !user) return ignored("the event names no channel, no ts or no user");

  const raw = (textOf(event, "text") ?? "").toWellFormed().replaceAll("\u0000", "\ufffd");
  const mentions =
    type === "app_mention" || raw.includes(`<@${self.botUserId}>`) || raw.includes(`<@${self.botUserId}|`);
  const direct = textOf(event, "channel_type") === "im" || channel.startsWith("D");
  const root = tsOf(event, "thread_ts");
  const thread = root === ts ? undefined : root;
  if (!direct && !thread && !mentions) return ignored("a channel message that is neither in a thread nor a mention");

  const conversation = (conversationId: string): Conversation => ({
    provider: "slack",
    connectionId: self.connectionId,
    workspaceId: team,
    conversationId,
  });
  const text = unescapeText(withoutLeadingMention(raw, self.botUserId)).trim();
  const eventId = idOf(envelope, "event_id");
  const alone = conversation(direct ? channel : `${channel}:${ts}`);
  return {
    kind: "message",
    conversation: thread ? conversation(`${channel}:${thread}`) : alone,
    dedupe: [`slack:post:${team}:${channel}:${ts}`, ...(eventId ? [`slack:event:${eventId}`] : [])],
    person: { provider: "slack", workspaceId: idOf(event, "user_team") ?? idOf(event, "team") ?? team, userId: user },
    text,
    ref: `${channel}:${ts}`,
    address: direct ? "direct" : mentions ? "mention" : "follow-up",
    forSomebodyElse: mentionsAnother(raw, self.botUserId),
    // Phones write `New`.
    ...(direct && !thread && text.toLowerCase() === "new" && { startsOver: true }),
    ...(direct && thread && { parent: { conversation: conversation(channel), rootRef: `${channel}:${thread}` } }),
  };
}

/** Why this post is nobody talking to us, or null. */
function notSpoken(event: Fields, envelope: Fields, self: SlackSelf): string | null {
  const subtype = textOf(event, "subtype");
  const appId = textOf(event, "app_id");
  if (event["user"] === self.botUserId || event["bot_id"] === self.botId) return "our own post";
  if (appId !== undefined && (appId === self.appId || appId === envelope["api_app_id"])) return "our own app's post";
  if (event["hidden"] === true) return "a hidden message";
  if (subtype !== undefined && !SPOKEN.has(subtype)) return `a message of subtype ${subtype}`;
  if (typeof event["bot_id"] === "string") return "another bot's post";
  if (event["user"] === "USLACK" || event["user"] === "USLACKBOT") return "Slack's own notice";
  if (event["type"] === "app_mention" && event["edited"]) return "an edit that mentions us starts no second turn";
  return null;
}

/** Only at the beginning, where it is an address; anywhere else it is a part of the sentence. */
function withoutLeadingMention(text: string, botUserId: string): string {
  let rest = text.trimStart();
  for (;;) {
    const [mention, user] = /^<@([A-Z0-9]+)(?:\|[^>]*)?>[,:]?\s*/i.exec(rest) ?? [];
    if (mention === undefined || user !== botUserId) return rest;
    rest = rest.slice(mention.length);
  }
}

function mentionsAnother(text: string, botUserId: string): boolean {
  const [, user, group] = /^\s*<(?:@([A-Z0-9]+)|(!subteam\^[^>|]+))(?:\|[^>]*)?>/i.exec(text) ?? [];
  return group !== undefined || (user !== undefined && user !== botUserId);
}
