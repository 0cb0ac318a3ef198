import { withIds } from "../blocks/buttons.ts";
import { findProblems } from "../blocks/check.ts";
import { LIMITS } from "../blocks/limits.ts";
import { checkOptionalString, checkText, createProblems } from "../blocks/problems.ts";
import { isObject, type JsonObject } from "../message.ts";
import type { MethodDeps, Methods } from "./method.ts";
import { refusal, violation } from "./refusal.ts";

/** What an app shows beside messages: a status line, a modal, a reaction. */
export function surfaceMethods({ workspace, notices, triggers, ids, now }: MethodDeps): Methods {
  return {
    "assistant.threads.setStatus"(args) {
      const channel = args.required("channel_id");
      const threadTs = args.requiredTs("thread_ts");
      if (!workspace.channel(channel)) throw refusal("channel_not_found");
      if (!workspace.message(channel, threadTs)) throw refusal("thread_not_found");
      const loading = args.json("loading_messages", "invalid_arguments");
      if (loading !== undefined && (!Array.isArray(loading) || loading.length > 10)) {
        throw violation("invalid_arguments", "loading_messages must be an array of at most 10");
      }
      notices.addStatus({ channel, threadTs, status: args.text("status") ?? "", at: now() });
      return {};
    },

    "views.open"(args) {
      const view = args.object("view", "invalid_arguments");
      if (!view) throw violation("invalid_arguments", "missing required field: view");
      const problems = viewProblems(view);
      if (problems.length > 0) throw violation("invalid_arguments", ...problems);
      const user = triggers.exchange(args.required("trigger_id"));
      const id = ids.next("V");
      const opened: JsonObject = {
        ...view,
        id,
        team_id: workspace.team.id,
        app_id: workspace.team.appId,
        bot_id: workspace.team.botId,
        root_view_id: id,
        hash: ids.ts(),
        private_metadata: view["private_metadata"] ?? "",
        callback_id: view["callback_id"] ?? "",
        state: { values: {} },
        blocks: withIds(blocksOf(view), () => ids.next("").slice(-5)),
      };
      notices.addView({ id, user, hash: String(opened["hash"]), view: opened });
      return { view: opened };
    },

    "reactions.add"(args) {
      const message = workspace.message(args.required("channel"), args.requiredTs("timestamp"));
      if (!message) throw refusal("message_not_found");
      const name = args.required("name");
      if (!/^[a-z0-9_'+-]+(::skin-tone-[2-6])?$/.test(name)) throw violation("invalid_name", "an emoji without colons");
      if (!workspace.react(message, name, workspace.team.botUserId)) throw refusal("already_reacted");
      return {};
    },
  };
}

const blocksOf = (view: JsonObject): JsonObject[] =>
  Array.isArray(view["blocks"]) ? view["blocks"].filter(isObject) : [];

function viewProblems(view: JsonObject): readonly string[] {
  const problems = createProblems();
  if (view["type"] !== "modal") problems.add("/view/type", "must be modal");
  checkText(problems, "/view/title", view["title"], { max: LIMITS.viewTitle, plain: true });
  for (const button of ["submit", "close"]) {
    if (view[button] !== undefined) {
      checkText(problems, `/view/${button}`, view[button], { max: LIMITS.viewButton, plain: true });
    }
  }
  if (view["private_metadata"] !== undefined && view["private_metadata"] !== "") {
    checkOptionalString(problems, "/view/private_metadata", view["private_metadata"], LIMITS.privateMetadata);
  }
  if (!Array.isArray(view["blocks"])) problems.add("/view/blocks", "must be an array");
  if (view["submit"] === undefined && blocksOf(view).some(({ type }) => type === "input")) {
    problems.add("/view/submit", "is required beside an input block");
  }
  return [...problems.list(), ...(Array.isArray(view["blocks"]) ? findProblems(view["blocks"], "view") : [])];
}
