import type { InboundEvent } from "../../core/domain/message.ts";
import { decodeButton } from "../buttonValue.ts";
import { ignored, type SlackSelf } from "./inbound.ts";
import { LIMITS } from "./limits.ts";
import { asArray, asRecord, idOf, textOf, tsOf } from "./read.ts";

type Fields = Record<string, unknown>;

/**
 * An interaction on a message: one click for each action whose value is ours. Slack gives it no id of its own, so the
 * key is who clicked what, where and when: the same delivery twice is one click, a second press is another.
 */
export function parseClicks(body: Fields, self: SlackSelf): InboundEvent[] {
  const user = asRecord(body["user"]);
  const userId = idOf(user, "id");
  // Without the clicker's own team nobody can be told from a namesake elsewhere (A7): never guessed from the card's.
  const userTeam = idOf(user, "team_id");
  const container = asRecord(body["container"]);
  const message = asRecord(body["message"]);
  const channel = idOf(container, "channel_id") ?? idOf(asRecord(body["channel"]), "id");
  const ts = tsOf(container, "message_ts") ?? tsOf(message, "ts");
  if (!userId || !userTeam || !channel || !ts) return [ignored("the click names no person, no team or no message")];

  const root = tsOf(container, "thread_ts") ?? tsOf(message, "thread_ts") ?? ts;
  const unthreaded = channel.startsWith("D") && root === ts;
  const name = textOf(user, "name") ?? textOf(user, "username");
  const clicks = asArray(body["actions"])
    .slice(0, LIMITS.actionsElements)
    .map((action): InboundEvent => {
      const fields = asRecord(action);
      const value = textOf(fields, "value") ?? "";
      const button = decodeButton(value);
      if (!button) return ignored("the action's value is not a button of ours");
      return {
        kind: "click",
        conversation: {
          provider: "slack",
          connectionId: self.connectionId,
          // The card is our own post: its team is ours also where the clicker's is another (Slack Connect).
          workspaceId: idOf(message, "team") ?? idOf(asRecord(body["team"]), "id") ?? self.teamId,
          conversationId: unthreaded ? channel : `${channel}:${root}`,
        },
        dedupe: [`slack:click:${userId}:${ts}:${pressOf(fields)}:${value}`],
        person: { provider: "slack", workspaceId: userTeam, userId, ...(name && { name: name.slice(0, 200) }) },
        button,
      };
    });
  return clicks.length > 0 ? clicks : [ignored("the interaction holds no action")];
}

/** Part of a key, which is text and holds no NUL: a click that could not be stored would be lost. */
const pressOf = (action: Fields | undefined): string =>
  (textOf(action, "action_ts") ?? "").slice(0, 40).replaceAll(/[^\w.-]/g, "");
