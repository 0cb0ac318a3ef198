import { type Message, toSlack } from "../message.ts";
import type { Channel } from "../workspace.ts";
import type { Arguments } from "./arguments.ts";
import { readContent } from "./content.ts";
import type { MethodDeps, Methods } from "./method.ts";
import { refusal, violation } from "./refusal.ts";

/** `chat.*`: what an app writes. */
export function chatMethods(deps: MethodDeps): Methods {
  const { workspace, notices, echo, ids } = deps;
  const { team } = workspace;

  /** An id, and for posting also a user's id (their direct messages) or `#name`. */
  const target = (args: Arguments): Channel => {
    const wanted = args.required("channel");
    const found =
      workspace.channel(wanted) ??
      workspace.directChannel(wanted) ??
      workspace.channels().find(({ name }) => `#${name}` === wanted);
    if (!found) throw refusal("channel_not_found");
    return found;
  };
  const channel = (args: Arguments): Channel => {
    const found = workspace.channel(args.required("channel"));
    if (!found) throw refusal("channel_not_found");
    return found;
  };
  const own = (args: Arguments, denied: string): Message => {
    const message = workspace.message(channel(args).id, args.requiredTs("ts"));
    if (!message) throw refusal("message_not_found");
    if (message.botId !== team.botId) throw violation(denied);
    return message;
  };
  const threadOf = (args: Arguments, { id }: Channel): string | undefined => {
    const threadTs = args.ts("thread_ts");
    if (threadTs === undefined) return undefined;
    const root = workspace.message(id, threadTs);
    if (!root) throw refusal("thread_not_found");
    // Slack takes it and opens an odd thread that nobody sees; here it is an error, so that it is noticed.
    if (root.threadTs !== undefined) throw violation("cannot_reply_to_message", "thread_ts is a reply, not a root");
    return threadTs;
  };

  return {
    "chat.postMessage"(args) {
      const to = target(args);
      const threadTs = threadOf(args, to);
      const { text, blocks, metadata } = readContent("chat.postMessage", args, deps);
      if (text === undefined && !blocks?.length && args.text("attachments") === undefined) throw violation("no_text");
      const message = workspace.post({
        channel: to.id,
        ...(threadTs !== undefined && { threadTs }),
        ...(threadTs !== undefined && args.flag("reply_broadcast") && { subtype: "thread_broadcast" as const }),
        user: team.botUserId,
        team: team.id,
        botId: team.botId,
        appId: team.appId,
        text: text ?? "",
        blocks: blocks ?? [],
        ...(metadata && { metadata }),
      });
      if (threadTs !== undefined) notices.clearStatus(to.id, threadTs);
      echo.posted(message);
      return { channel: to.id, ts: message.ts, message: toSlack(message, workspace.threadSummary(message)) };
    },

    "chat.update"(args) {
      const before = own(args, "cant_update_message");
      const { text, blocks, metadata } = readContent("chat.update", args, deps);
      if (text === undefined && blocks === undefined) throw violation("no_text");
      const after = workspace.edit(before, {
        by: team.botUserId,
        ...(text !== undefined && { text }),
        // Text without blocks replaces the whole message: its buttons are gone.
        blocks: blocks ?? [],
        ...(metadata && { metadata }),
      });
      echo.changed(before, after);
      return {
        channel: after.channel,
        ts: after.ts,
        text: after.text,
        message: toSlack(after, workspace.threadSummary(after)),
      };
    },

    "chat.delete"(args) {
      const message = own(args, "cant_delete_message");
      echo.removed(message, workspace.remove(message));
      return { channel: message.channel, ts: message.ts };
    },

    "chat.postEphemeral"(args) {
      const to = channel(args);
      const user = args.required("user");
      if (!workspace.member(user) || (to.type === "im" && to.user !== user)) throw refusal("user_not_in_channel");
      const threadTs = args.ts("thread_ts");
      const { text, blocks } = readContent("chat.postEphemeral", args, deps);
      if (text === undefined && !blocks?.length) throw violation("no_text");
      const ts = ids.ts();
      notices.addEphemeral({
        channel: to.id,
        user,
        ts,
        ...(threadTs !== undefined && { threadTs }),
        text: text ?? "",
        blocks: blocks ?? [],
      });
      return { message_ts: ts };
    },
  };
}
