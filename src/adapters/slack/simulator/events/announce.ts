import type { Ids } from "../ids.ts";
import { Impossible } from "../impossible.ts";
import type { JsonObject, Message } from "../message.ts";
import type { Channel, Workspace } from "../workspace.ts";
import type { Deliveries, Delivery } from "./delivery.ts";
import { changedEvent, envelope, mentionEvent, messageEvent, removedEvent } from "./envelope.ts";

/**
 * In which order the app hears of one post that mentions it: Slack sends `app_mention` and `message` with an id each,
 * in any order. `mention-only` is an app without `message` subscriptions.
 */
export type EventOrder = "mention-first" | "message-first" | "together" | "mention-only" | "message-only";

/** Tells the app what happened in the workspace; each resolves after the first attempt of every event. */
export interface Announcer {
  posted(message: Message, order?: EventOrder): Promise<Delivery[]>;
  changed(before: Message, after: Message): Promise<Delivery[]>;
  /** `left`: the tombstone of a root that had replies. */
  removed(before: Message, left: Message | undefined): Promise<Delivery[]>;
}

/** The same for what the app itself did: it hears of that too, and nobody waits for it. */
export interface Echo {
  posted(message: Message): void;
  changed(before: Message, after: Message): void;
  removed(before: Message, left: Message | undefined): void;
}

interface AnnouncerDeps {
  readonly workspace: Workspace;
  readonly deliveries: Deliveries;
  readonly ids: Ids;
  readonly now: () => number;
}

export function createAnnouncer({ workspace, deliveries, ids, now }: AnnouncerDeps): Announcer {
  const { team } = workspace;
  const send = (event: JsonObject): Promise<Delivery> =>
    deliveries.event(envelope(event, team, ids, now()), String(event["type"]));
  const channelOf = ({ channel }: Message): Channel => {
    const found = workspace.channel(channel);
    if (!found) throw new Impossible(`there is no channel ${channel}`);
    return found;
  };
  const mentionsApp = (message: Message): boolean =>
    message.text.includes(`<@${team.botUserId}>`) &&
    message.user !== team.botUserId &&
    channelOf(message).type !== "im";

  return {
    async posted(message, order = "mention-first") {
      const thread = workspace.threadSummary(message);
      const ordinary = messageEvent(message, thread, channelOf(message));
      if (!mentionsApp(message)) return [await send(ordinary)];
      const mention = mentionEvent(message, thread);
      switch (order) {
        case "mention-first":
          return [await send(mention), await send(ordinary)];
        case "message-first":
          return [await send(ordinary), await send(mention)];
        case "together":
          return Promise.all([send(mention), send(ordinary)]);
        case "mention-only":
          return [await send(mention)];
        case "message-only":
          return [await send(ordinary)];
      }
    },
    async changed(before, after) {
      const changed = await send(changedEvent(before, after, channelOf(after), ids.ts()));
      // An edit that mentions the app is a mention too: `app_mention` with `edited`.
      return mentionsApp(after)
        ? [changed, await send(mentionEvent(after, workspace.threadSummary(after)))]
        : [changed];
    },
    async removed(before, left) {
      const channel = channelOf(before);
      return [
        await send(left ? changedEvent(before, left, channel, ids.ts()) : removedEvent(before, channel, ids.ts())),
      ];
    },
  };
}

/** Fire and forget; an announcement never rejects. */
export const createEcho = (announcer: Announcer, enabled: boolean): Echo => ({
  posted: (message) => void (enabled && announcer.posted(message)),
  changed: (before, after) => void (enabled && announcer.changed(before, after)),
  removed: (before, left) => void (enabled && announcer.removed(before, left)),
});
