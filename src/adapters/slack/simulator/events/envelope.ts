import type { Ids } from "../ids.ts";
import { type JsonObject, type Message, type ThreadSummary, toSlack } from "../message.ts";
import type { Channel, Team } from "../workspace.ts";

/** The deprecated verification token: present in every payload, and proof of nothing. */
export const VERIFICATION_TOKEN = "simulator-verification-token";

/** The Events API's envelope around one event. */
export function envelope(event: JsonObject, team: Team, ids: Ids, now: number): JsonObject {
  const author = event["team"];
  return {
    token: VERIFICATION_TOKEN,
    team_id: team.id,
    context_team_id: team.id,
    context_enterprise_id: null,
    api_app_id: team.appId,
    event,
    type: "event_callback",
    event_id: ids.next("Ev"),
    event_time: Math.floor(now / 1000),
    authorizations: [
      {
        enterprise_id: null,
        team_id: team.id,
        user_id: team.botUserId,
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
    is_ext_shared_channel: author !== undefined && author !== team.id,
    event_context: `4-${ids.next("").toLowerCase()}`,
  };
}

/** `app_mention`: it says nothing about the kind of channel. */
export function mentionEvent(message: Message, thread: ThreadSummary | undefined): JsonObject {
  return { ...inThread(message, thread), type: "app_mention", channel: message.channel, event_ts: message.ts };
}

export function messageEvent(message: Message, thread: ThreadSummary | undefined, channel: Channel): JsonObject {
  return {
    ...inThread(message, thread),
    channel: message.channel,
    event_ts: message.ts,
    channel_type: channel.type,
  };
}

export function changedEvent(before: Message, after: Message, channel: Channel, ts: string): JsonObject {
  return {
    type: "message",
    subtype: "message_changed",
    message: toSlack(after),
    previous_message: toSlack(before),
    ...hidden(channel, ts),
  };
}

export function removedEvent(before: Message, channel: Channel, ts: string): JsonObject {
  return {
    type: "message",
    subtype: "message_deleted",
    previous_message: toSlack(before),
    deleted_ts: before.ts,
    ...hidden(channel, ts),
  };
}

/** A post's event tells of its root, never of the replies it may get. */
const inThread = (message: Message, thread: ThreadSummary | undefined): JsonObject =>
  toSlack(message, message.threadTs === undefined ? undefined : thread);

const hidden = (channel: Channel, ts: string): JsonObject => ({
  channel: channel.id,
  hidden: true,
  ts,
  event_ts: ts,
  channel_type: channel.type,
});
