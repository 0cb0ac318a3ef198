import { type JsonObject, type Message, toSlack } from "../message.ts";
import type { Channel } from "../workspace.ts";
import type { Arguments } from "./arguments.ts";
import type { MethodDeps, Methods } from "./method.ts";
import { refusal, violation } from "./refusal.ts";

/** `conversations.*`: what an app reads. */
export function conversationMethods({ workspace }: MethodDeps): Methods {
  const channel = (args: Arguments): Channel => {
    const found = workspace.channel(args.required("channel"));
    if (!found) throw refusal("channel_not_found");
    return found;
  };
  const answer = (args: Arguments, messages: readonly Message[], fallback: number): JsonObject => {
    const limit = args.count("limit", fallback, 1_000);
    const cursor = args.text("cursor");
    const from = cursor === undefined ? 0 : messages.findIndex(({ ts }) => toCursor(ts) === cursor);
    if (from < 0) throw violation("invalid_cursor");
    const page = messages.slice(from, from + limit);
    const next = messages[from + limit];
    return {
      messages: page.map((message) =>
        toSlack(message, workspace.threadSummary(message), args.flag("include_all_metadata")),
      ),
      has_more: next !== undefined,
      ...(next && { response_metadata: { next_cursor: toCursor(next.ts) } }),
    };
  };

  return {
    "conversations.replies"(args) {
      const { id } = channel(args);
      const ts = args.requiredTs("ts");
      const message = workspace.message(id, ts);
      if (!message) throw refusal("thread_not_found");
      // Slack answers the ts of a reply with that reply alone.
      const [root, ...replies] = message.threadTs === undefined ? workspace.thread(id, ts) : [message];
      return answer(args, [...(root ? [root] : []), ...replies.filter(inRange(args))], 1_000);
    },
    "conversations.history"(args) {
      const messages = workspace
        .messages(channel(args).id)
        .filter(({ threadTs, subtype }) => threadTs === undefined || subtype === "thread_broadcast")
        .filter(inRange(args));
      return answer(args, messages.reverse(), 100);
    },
    "conversations.open"(args) {
      const wanted = args.text("channel") ?? args.text("users");
      if (wanted === undefined) throw violation("users_list_not_supplied");
      const direct = workspace.channel(wanted) ?? workspace.directChannel(wanted);
      if (!direct) throw refusal("user_not_found");
      return {
        no_op: true,
        already_open: true,
        channel: args.flag("return_im") ? describe(direct) : { id: direct.id },
      };
    },
    "conversations.info": (args) => ({ channel: describe(channel(args)) }),
  };
}

function describe({ id, name, type, user }: Channel): JsonObject {
  return {
    id,
    is_channel: type === "channel",
    is_group: type === "group",
    is_im: type === "im",
    is_mpim: false,
    is_private: type !== "channel",
    is_archived: false,
    is_ext_shared: false,
    ...(type === "im" ? { user: user ?? null } : { name, name_normalized: name, is_member: true }),
  };
}

/** Timestamps have one width, so that they compare as text; as numbers they would lose digits. */
function inRange(args: Arguments): (message: Message) => boolean {
  const [oldest, latest, inclusive] = [args.text("oldest"), args.text("latest"), args.flag("inclusive")];
  const within = (earlier: string, later: string): boolean => earlier < later || (inclusive && earlier === later);
  return ({ ts }) => (oldest === undefined || within(oldest, ts)) && (latest === undefined || within(ts, latest));
}

const toCursor = (ts: string): string => Buffer.from(`next_ts:${ts}`).toString("base64");
