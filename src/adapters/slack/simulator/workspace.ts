import type { Changes } from "./changes.ts";
import type { Ids } from "./ids.ts";
import { Impossible } from "./impossible.ts";
import type { JsonObject, Message, ThreadSummary } from "./message.ts";

export interface Team {
  readonly id: string;
  readonly name: string;
  readonly domain: string;
  readonly botUserId: string;
  readonly botId: string;
  readonly appId: string;
  readonly botName: string;
}

export interface Member {
  readonly id: string;
  readonly name: string;
  /** Another team's id for somebody who comes through Slack Connect. */
  readonly team: string;
  /** Set on another app's bot. */
  readonly botId?: string;
  /** Their account is deactivated. */
  readonly deleted?: boolean;
}

/** A user group, which people mention as `@handle`. */
export interface Usergroup {
  readonly id: string;
  readonly handle: string;
  /** User ids. */
  readonly users: readonly string[];
  readonly disabled: boolean;
}

export type UsergroupChange = Partial<Pick<Usergroup, "users" | "disabled">>;

export interface Channel {
  readonly id: string;
  readonly name: string;
  /** `channel` is public, `group` private, `im` a direct message: Slack's `channel_type`. */
  readonly type: "channel" | "group" | "im";
  /** Whose direct messages these are. */
  readonly user?: string;
}

/** A post before it has a place in its channel. */
export type Draft = Omit<Message, "ts" | "edited" | "reactions"> & { readonly ts?: string };

export type Edit = Partial<Pick<Message, "text" | "blocks" | "metadata">> & { readonly by: string };

/** Who is in a workspace and what was said there, for a start that goes on from it. */
export interface WorkspaceContent {
  readonly members: readonly Member[];
  readonly channels: readonly Channel[];
  /** A channel's in the order posted. */
  readonly messages: readonly Message[];
  readonly usergroups?: readonly Usergroup[];
}

export interface Workspace {
  readonly team: Team;
  members(): readonly Member[];
  member(id: string): Member | undefined;
  addMember(member: Member): Channel;
  /** Replaces what is known of somebody who is here. */
  changeMember(member: Member): void;
  usergroups(): readonly Usergroup[];
  usergroup(id: string): Usergroup | undefined;
  /** Adds it, or replaces the one of this id. */
  putUsergroup(group: Usergroup): void;
  channels(): readonly Channel[];
  channel(id: string): Channel | undefined;
  addChannel(channel: Channel): Channel;
  directChannel(user: string): Channel | undefined;

  /** Throws when `ts` is given and taken in that channel. */
  post(draft: Draft): Message;
  message(channel: string, ts: string): Message | undefined;
  /** The message must be there. */
  edit(message: Message, edit: Edit): Message;
  /** Removes it; a root with replies stays as a tombstone, which is returned. */
  remove(message: Message): Message | undefined;
  /** False when that user had reacted so before. */
  react(message: Message, name: string, user: string): boolean;
  /** The root and its replies, oldest first; a post without replies alone; empty when there is no such root. */
  thread(channel: string, rootTs: string): readonly Message[];
  threadSummary(message: Message): ThreadSummary | undefined;
  /** Every message of the channel, replies included, in the order posted. */
  messages(channel: string): readonly Message[];
  content(): WorkspaceContent;
}

interface Room {
  readonly channel: Channel;
  readonly byTs: Map<string, Message>;
  /** Root ts → ts of its replies. */
  readonly replies: Map<string, string[]>;
}

/** The one team of the simulator: who is in it, and what was said. */
export function createWorkspace(
  team: Team,
  ids: Ids,
  changes: Pick<Changes, "notify">,
  before: WorkspaceContent = { members: [], channels: [], messages: [] },
): Workspace {
  const members = new Map(before.members.map((member) => [member.id, member]));
  const usergroups = new Map((before.usergroups ?? []).map((group) => [group.id, group]));
  const rooms = new Map(before.channels.map((channel) => [channel.id, emptyRoom(channel)]));

  const room = (channel: string): Room => {
    const found = rooms.get(channel);
    if (!found) throw new Impossible(`there is no channel ${channel}`);
    return found;
  };
  const put = (message: Message): Message => {
    room(message.channel).byTs.set(message.ts, message);
    changes.notify();
    return message;
  };
  const place = (message: Message): void => {
    const { byTs, replies } = room(message.channel);
    byTs.set(message.ts, message);
    if (message.threadTs === undefined) return;
    replies.set(message.threadTs, [...(replies.get(message.threadTs) ?? []), message.ts]);
  };
  const addChannel = (channel: Channel): Channel => {
    rooms.set(channel.id, emptyRoom(channel));
    changes.notify();
    return channel;
  };
  const thread = (channel: string, rootTs: string): Message[] => {
    const { byTs, replies } = room(channel);
    return [rootTs, ...(replies.get(rootTs) ?? [])].flatMap((ts) => byTs.get(ts) ?? []);
  };

  before.messages.forEach(place);

  return {
    team,
    members: () => [...members.values()],
    member: (id) => members.get(id),
    addMember(member) {
      members.set(member.id, member);
      return addChannel({ id: `D${member.id.slice(1)}`, name: `dm-${member.name}`, type: "im", user: member.id });
    },
    changeMember(member) {
      members.set(member.id, member);
      changes.notify();
    },
    usergroups: () => [...usergroups.values()],
    usergroup: (id) => usergroups.get(id),
    putUsergroup(group) {
      usergroups.set(group.id, group);
      changes.notify();
    },
    channels: () => [...rooms.values()].map(({ channel }) => channel),
    channel: (id) => rooms.get(id)?.channel,
    addChannel,
    directChannel: (user) => rooms.get(`D${user.slice(1)}`)?.channel,

    post({ ts = ids.ts(), ...draft }) {
      if (room(draft.channel).byTs.has(ts)) throw new Impossible(`${draft.channel} already has a message ${ts}`);
      const message = { ...draft, ts, reactions: [] };
      place(message);
      changes.notify();
      return message;
    },
    message: (channel, ts) => rooms.get(channel)?.byTs.get(ts),
    edit: (message, { by, ...changed }) => put({ ...message, ...changed, edited: { user: by, ts: ids.ts() } }),
    remove(message) {
      const { byTs, replies } = room(message.channel);
      if (replies.get(message.ts)?.some((ts) => byTs.has(ts))) return put(tombstone(message));
      byTs.delete(message.ts);
      const siblings = message.threadTs === undefined ? undefined : replies.get(message.threadTs);
      if (siblings && message.threadTs !== undefined) {
        replies.set(
          message.threadTs,
          siblings.filter((ts) => ts !== message.ts),
        );
      }
      changes.notify();
      return undefined;
    },
    react(message, name, user) {
      const before = message.reactions.find((reaction) => reaction.name === name)?.users ?? [];
      if (before.includes(user)) return false;
      const others = message.reactions.filter((reaction) => reaction.name !== name);
      put({ ...message, reactions: [...others, { name, users: [...before, user] }] });
      return true;
    },
    thread,
    threadSummary(message) {
      const [root, ...replies] = thread(message.channel, message.threadTs ?? message.ts);
      const latest = replies.at(-1);
      if (!root || !latest) return undefined;
      return {
        replyCount: replies.length,
        replyUsers: [...new Set(replies.map(({ user }) => user))],
        latestReply: latest.ts,
        rootUser: root.user,
      };
    },
    messages: (channel) => [...(rooms.get(channel)?.byTs.values() ?? [])],
    content: () => ({
      members: [...members.values()],
      channels: [...rooms.values()].map(({ channel }) => channel),
      messages: [...rooms.values()].flatMap(({ byTs }) => [...byTs.values()]),
      usergroups: [...usergroups.values()],
    }),
  };
}

const emptyRoom = (channel: Channel): Room => ({ channel, byTs: new Map(), replies: new Map() });

const NO_BLOCKS: readonly JsonObject[] = [];

const tombstone = ({ channel, ts, team }: Message): Message => ({
  channel,
  ts,
  team,
  user: "USLACKBOT",
  subtype: "tombstone",
  text: "This message was deleted.",
  blocks: NO_BLOCKS,
  reactions: [],
});
