import { randomUUID } from "node:crypto";
import { type ButtonInMessage, type ButtonQuery, buttonsOf, matches } from "./blocks/buttons.ts";
import type { Announcer, EventOrder } from "./events/announce.ts";
import type { Deliveries, Delivery } from "./events/delivery.ts";
import { blockActions, type ViewValues, viewSubmission } from "./events/interaction.ts";
import type { Ids } from "./ids.ts";
import { Impossible } from "./impossible.ts";
import { isObject, type Message, type Subtype } from "./message.ts";
import type { Notices, OpenView } from "./notices.ts";
import type { ResponseUrls } from "./responseUrls.ts";
import type { Triggers } from "./triggers.ts";
import { richText, typedText } from "./typedText.ts";
import type { Channel, Member, Workspace } from "./workspace.ts";

/** Names a message; for a reply in a thread, any message of it will do. */
export interface MessageRef {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs?: string;
}

export interface Posted extends MessageRef {
  /** What the app was told of it, each after its first attempt. */
  readonly deliveries: readonly Delivery[];
}

export interface SayOptions {
  readonly threadTs?: string;
  /** `mention-first` unless given; matters only where the text mentions the app. */
  readonly order?: EventOrder;
  /** A timestamp of one's own choosing, to make the same one in two channels. */
  readonly ts?: string;
  readonly subtype?: Exclude<Subtype, "tombstone">;
}

/** Somebody of the workspace. Every method resolves when the app has been told once and has answered, or has not. */
export interface Person extends Member {
  /** The id of the direct message channel with the app. */
  readonly dmChannel: string;
  /** Posts as typed; `@name` mentions. Events follow from the text and the channel, as in Slack. */
  say(channel: string, text: string, options?: SayOptions): Promise<Posted>;
  /** Posts with a mention of the app in front, unless the text has one. */
  mention(channel: string, text: string, options?: SayOptions): Promise<Posted>;
  /** Posts in the thread of that message. */
  reply(thread: MessageRef, text: string, options?: Omit<SayOptions, "threadTs">): Promise<Posted>;
  dm(text: string, options?: SayOptions): Promise<Posted>;
  edit(message: MessageRef, text: string): Promise<readonly Delivery[]>;
  remove(message: MessageRef): Promise<readonly Delivery[]>;
  /** Clicks a button that the message has now. Throws when it has no such button, and names those it has. */
  click(message: MessageRef, button: ButtonQuery): Promise<Delivery>;
  /** Clicks a button that somebody still sees, though the message may have lost it: a stale click. */
  rawClick(message: MessageRef, button: ButtonInMessage): Promise<Delivery>;
  /** Submits a modal opened for this person, and closes it unless the app answers with errors or an update. */
  submitView(view: OpenView, values?: ViewValues): Promise<Delivery>;
}

export interface PersonDeps {
  readonly workspace: Workspace;
  readonly announcer: Announcer;
  readonly deliveries: Deliveries;
  readonly notices: Notices;
  readonly triggers: Triggers;
  readonly responseUrls: ResponseUrls;
  readonly ids: Ids;
  readonly url: () => string;
}

export function createPerson(member: Member, dm: Channel, deps: PersonDeps): Person {
  const { workspace, announcer, deliveries, notices, triggers, ids } = deps;
  const { team } = workspace;

  const find = ({ channel, ts }: MessageRef): Message => {
    const message = workspace.message(channel, ts);
    if (!message) throw new Impossible(`there is no message ${ts} in ${channel}`);
    return message;
  };
  const own = (ref: MessageRef): Message => {
    const message = find(ref);
    if (message.user !== member.id) throw new Impossible(`${member.name} did not write ${ref.ts}`);
    return message;
  };
  const written = (typed: string) => {
    const text = typedText(typed, team, workspace.members());
    return { text, blocks: [richText(text, ids.next("").slice(-5))] };
  };

  async function say(channel: string, typed: string, options: SayOptions = {}): Promise<Posted> {
    const { threadTs, order, ts, subtype } = options;
    if (workspace.channel(channel)?.user !== undefined && channel !== dm.id) {
      throw new Impossible(`${channel} is not a direct message channel of ${member.name}`);
    }
    const message = workspace.post({
      channel,
      user: member.id,
      team: member.team,
      clientMsgId: randomUUID(),
      ...written(typed),
      ...(member.botId !== undefined && { botId: member.botId }),
      ...(threadTs !== undefined && { threadTs }),
      ...(ts !== undefined && { ts }),
      ...(subtype !== undefined && { subtype }),
    });
    return {
      channel,
      ts: message.ts,
      ...(threadTs !== undefined && { threadTs }),
      deliveries: await announcer.posted(message, order),
    };
  }

  function rawClick(ref: MessageRef, button: ButtonInMessage): Promise<Delivery> {
    const message = find(ref);
    const channel = workspace.channel(message.channel);
    if (!channel) throw new Impossible(`there is no channel ${message.channel}`);
    const payload = blockActions(button, {
      team,
      member,
      channel,
      message,
      thread: workspace.threadSummary(message),
      triggerId: triggers.issue(member.id),
      responseUrl: `${deps.url()}${deps.responseUrls.issue(message, member.id)}`,
      actionTs: ids.ts(),
    });
    return deliveries.interaction(payload, "block_actions");
  }

  return {
    ...member,
    dmChannel: dm.id,
    say,
    mention(channel, text, options) {
      const named = text.includes(`<@${team.botUserId}>`) ? text : `<@${team.botUserId}> ${text}`;
      return say(channel, named, options);
    },
    reply(ref, text, options) {
      const root = workspace.message(ref.channel, ref.ts)?.threadTs ?? ref.threadTs ?? ref.ts;
      return say(ref.channel, text, { ...options, threadTs: root });
    },
    dm: (text, options) => say(dm.id, text, options),
    async edit(ref, typed) {
      const before = own(ref);
      return announcer.changed(before, workspace.edit(before, { by: member.id, ...written(typed) }));
    },
    async remove(ref) {
      const message = own(ref);
      return announcer.removed(message, workspace.remove(message));
    },
    async click(ref, query) {
      const buttons = buttonsOf(find(ref).blocks);
      const button = buttons.find((candidate) => matches(candidate, query));
      if (button) return rawClick(ref, button);
      const there = buttons.map(({ text, actionId }) => `${JSON.stringify(text)} (${actionId})`).join(", ");
      throw new Impossible(`message ${ref.ts} has no button ${JSON.stringify(query)}; it has ${there || "none"}`);
    },
    rawClick: async (ref, button) => rawClick(ref, button),
    async submitView(view, values = {}) {
      if (view.user !== member.id) throw new Impossible(`${view.id} is not open for ${member.name}`);
      const triggerId = triggers.issue(member.id);
      const delivery = await deliveries.interaction(
        viewSubmission(view, values, { team, member, triggerId }),
        "view_submission",
      );
      if (closes(delivery)) notices.closeView(view.id);
      return delivery;
    },
  };
}

/** An acknowledgement without a body closes the modal; `response_action` says what else to do with it. */
function closes({ attempts }: Delivery): boolean {
  const last = attempts.at(-1);
  if (last?.status !== 200) return false;
  if (!last.body) return true;
  try {
    const answer: unknown = JSON.parse(last.body);
    return !isObject(answer) || !["errors", "update", "push"].includes(String(answer["response_action"]));
  } catch {
    return true;
  }
}
