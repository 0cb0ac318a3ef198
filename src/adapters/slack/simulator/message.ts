import type { Json } from "../../../core/domain/json.ts";

export type JsonObject = { readonly [key: string]: Json };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export type Subtype = "file_share" | "thread_broadcast" | "me_message" | "tombstone";

/** A post as the workspace keeps it; an edit replaces it by a new one. */
export interface Message {
  readonly channel: string;
  readonly ts: string;
  /** The root's `ts`, on replies alone. */
  readonly threadTs?: string;
  readonly user: string;
  readonly team: string;
  /** Set on what a bot posted. */
  readonly botId?: string;
  readonly appId?: string;
  readonly subtype?: Subtype;
  /** Escaped as Slack escapes it: `&amp; &lt; &gt;`. */
  readonly text: string;
  readonly blocks: readonly JsonObject[];
  readonly metadata?: JsonObject;
  readonly edited?: { readonly user: string; readonly ts: string };
  readonly clientMsgId?: string;
  readonly reactions: readonly { readonly name: string; readonly users: readonly string[] }[];
}

/** What a root says about its thread. */
export interface ThreadSummary {
  readonly replyCount: number;
  readonly replyUsers: readonly string[];
  readonly latestReply: string;
  readonly rootUser: string;
}

/**
 * A message in Slack's own spelling, as the Web API answers it and as events carry it. `thread` is there when the
 * message is part of one: a root then names itself in `thread_ts`.
 */
export function toSlack(message: Message, thread?: ThreadSummary, withMetadata = false): JsonObject {
  const root = thread !== undefined && message.threadTs === undefined;
  return {
    type: "message",
    ...(message.subtype && { subtype: message.subtype }),
    user: message.user,
    ...(message.botId && { bot_id: message.botId }),
    ...(message.appId && { app_id: message.appId }),
    ...(message.clientMsgId && { client_msg_id: message.clientMsgId }),
    team: message.team,
    text: message.text,
    ts: message.ts,
    ...(message.threadTs !== undefined && { thread_ts: message.threadTs }),
    ...(message.threadTs !== undefined && thread && { parent_user_id: thread.rootUser }),
    ...(root && {
      thread_ts: message.ts,
      reply_count: thread.replyCount,
      reply_users_count: thread.replyUsers.length,
      reply_users: thread.replyUsers,
      latest_reply: thread.latestReply,
    }),
    ...(message.blocks.length > 0 && { blocks: message.blocks }),
    ...(message.edited && { edited: { user: message.edited.user, ts: message.edited.ts } }),
    ...(message.reactions.length > 0 && {
      reactions: message.reactions.map(({ name, users }) => ({ name, users, count: users.length })),
    }),
    ...(withMetadata && message.metadata && { metadata: message.metadata }),
  };
}
