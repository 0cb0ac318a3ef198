import { type ButtonInMessage, buttonsOf } from "../blocks/buttons.ts";
import type { Changes } from "../changes.ts";
import type { Deliveries, Delivery } from "../events/delivery.ts";
import type { JsonObject, Message } from "../message.ts";
import type { Ephemeral, Notices, OpenView } from "../notices.ts";
import type { RequestLog, Violation } from "../requestLog.ts";
import type { Channel, Team, Usergroup, Workspace } from "../workspace.ts";

/** What `GET /simulator/state` answers: the workspace as a person with every screen in view would see it. */
export interface SimulatorState {
  /** Grows with every change; pass it as `after` to be answered at the next one. */
  readonly revision: number;
  readonly team: Team;
  readonly people: readonly { readonly id: string; readonly name: string; readonly dmChannel: string }[];
  readonly channels: readonly Channel[];
  readonly usergroups: readonly Usergroup[];
  /** The newest 100, oldest first; a post without replies is a thread of one message. */
  readonly threads: readonly ThreadState[];
  readonly ephemerals: readonly Ephemeral[];
  readonly views: readonly OpenView[];
  readonly violations: readonly Violation[];
  /** The newest 20. */
  readonly deliveries: readonly DeliveryState[];
}

export interface ThreadState {
  readonly channel: string;
  readonly ts: string;
  /** The line under the thread while the app works. */
  readonly status: string | null;
  readonly messages: readonly MessageState[];
}

export interface MessageState {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs?: string;
  readonly user: string;
  readonly name: string;
  readonly bot: boolean;
  readonly text: string;
  readonly blocks: readonly JsonObject[];
  readonly buttons: readonly ButtonInMessage[];
  readonly metadata?: JsonObject;
  readonly edited: boolean;
}

export interface DeliveryState {
  readonly id: string;
  readonly type: string;
  readonly eventId?: string;
  /** HTTP status, or why there was none, of each attempt. */
  readonly attempts: readonly (number | string)[];
}

export interface StateDeps {
  readonly workspace: Workspace;
  readonly notices: Notices;
  readonly deliveries: Deliveries;
  readonly log: RequestLog;
  readonly changes: Changes;
}

const THREADS = 100;
const DELIVERIES = 20;
const NOTICES = 50;

export function readState({ workspace, notices, deliveries, log, changes }: StateDeps): SimulatorState {
  const { team } = workspace;
  const channels = workspace.channels();
  const roots = channels
    .flatMap(({ id }) => workspace.messages(id).filter(({ threadTs }) => threadTs === undefined))
    .sort((a, b) => (a.ts < b.ts ? -1 : 1))
    .slice(-THREADS);
  const toMessage = (message: Message): MessageState => ({
    channel: message.channel,
    ts: message.ts,
    ...(message.threadTs !== undefined && { threadTs: message.threadTs }),
    user: message.user,
    name: message.user === team.botUserId ? team.botName : (workspace.member(message.user)?.name ?? message.user),
    bot: message.botId !== undefined,
    text: message.text,
    blocks: message.blocks,
    buttons: buttonsOf(message.blocks),
    ...(message.metadata && { metadata: message.metadata }),
    edited: message.edited !== undefined,
  });
  return {
    revision: changes.revision(),
    team,
    people: workspace.members().map(({ id, name }) => ({ id, name, dmChannel: workspace.directChannel(id)?.id ?? "" })),
    channels,
    usergroups: workspace.usergroups(),
    threads: roots.map(({ channel, ts }) => ({
      channel,
      ts,
      status: notices.currentStatus(channel, ts),
      messages: workspace.thread(channel, ts).map(toMessage),
    })),
    ephemerals: notices.ephemerals.slice(-NOTICES),
    views: notices.views,
    violations: log.violations.slice(-NOTICES),
    deliveries: deliveries.all.slice(-DELIVERIES).map(toDeliveryState),
  };
}

export const toDeliveryState = ({ id, type, eventId, attempts }: Delivery): DeliveryState => ({
  id,
  type,
  ...(eventId !== undefined && { eventId }),
  attempts: attempts.map(({ status, failure }) => status ?? failure ?? "unknown"),
});
