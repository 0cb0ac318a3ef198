import type { ButtonInMessage } from "../blocks/buttons.ts";
import { type JsonObject, type Message, type ThreadSummary, toSlack } from "../message.ts";
import type { OpenView } from "../notices.ts";
import type { Channel, Member, Team } from "../workspace.ts";
import { VERIFICATION_TOKEN } from "./envelope.ts";

export interface ClickContext {
  readonly team: Team;
  readonly member: Member;
  readonly channel: Channel;
  readonly message: Message;
  readonly thread: ThreadSummary | undefined;
  readonly triggerId: string;
  readonly responseUrl: string;
  readonly actionTs: string;
}

/** `block_actions`: somebody clicked a button of a message. */
export function blockActions(button: ButtonInMessage, context: ClickContext): JsonObject {
  const { channel, message } = context;
  const threadTs = message.threadTs ?? (context.thread ? message.ts : undefined);
  return {
    type: "block_actions",
    ...common(context.team, context.member),
    trigger_id: context.triggerId,
    container: {
      type: "message",
      message_ts: message.ts,
      channel_id: channel.id,
      is_ephemeral: false,
      ...(threadTs !== undefined && { thread_ts: threadTs }),
    },
    channel: { id: channel.id, name: channel.type === "im" ? "directmessage" : channel.name },
    message: toSlack(message, context.thread),
    state: { values: {} },
    response_url: context.responseUrl,
    actions: [
      {
        type: "button",
        action_id: button.actionId,
        block_id: button.blockId,
        text: { type: "plain_text", text: button.text, emoji: true },
        ...(button.value !== undefined && { value: button.value }),
        action_ts: context.actionTs,
      },
    ],
  };
}

/** What was typed into a modal: block id → action id → text. */
export type ViewValues = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** `view_submission`: somebody pressed a modal's submit button. */
export function viewSubmission(
  open: OpenView,
  values: ViewValues,
  { team, member, triggerId }: Pick<ClickContext, "team" | "member" | "triggerId">,
): JsonObject {
  const state = Object.fromEntries(
    Object.entries(values).map(([block, actions]) => [
      block,
      Object.fromEntries(
        Object.entries(actions).map(([action, value]) => [action, { type: "plain_text_input", value }]),
      ),
    ]),
  );
  return {
    type: "view_submission",
    ...common(team, member),
    trigger_id: triggerId,
    view: { ...open.view, state: { values: state } },
    response_urls: [],
  };
}

const common = (team: Team, member: Member): JsonObject => ({
  user: {
    id: member.id,
    username: member.name.toLowerCase(),
    name: member.name.toLowerCase(),
    team_id: member.team,
  },
  api_app_id: team.appId,
  token: VERIFICATION_TOKEN,
  team: { id: team.id, domain: team.domain },
  enterprise: null,
  is_enterprise_install: false,
});
