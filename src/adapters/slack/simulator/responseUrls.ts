import type { Echo } from "./events/announce.ts";
import type { Ids } from "./ids.ts";
import type { Message } from "./message.ts";
import type { Notices } from "./notices.ts";
import type { RequestLog } from "./requestLog.ts";
import { readArguments } from "./webApi/arguments.ts";
import { readContent } from "./webApi/content.ts";
import { refusal, violation } from "./webApi/refusal.ts";
import type { Workspace } from "./workspace.ts";

/** The `response_url` of a click: five answers within half an hour, without a token. */
export interface ResponseUrls {
  /** The path of a new one, below the simulator's URL. */
  issue(message: Message, user: string): string;
  /** Handles one POST; throws a `Refusal`. */
  use(path: string, contentType: string, body: string): void;
}

const USES = 5;
const LASTS_MS = 30 * 60_000;
const KEPT = 1_000;

interface Deps {
  readonly workspace: Workspace;
  readonly notices: Notices;
  readonly echo: Echo;
  readonly log: RequestLog;
  readonly ids: Ids;
  readonly now: () => number;
}

export function createResponseUrls(deps: Deps): ResponseUrls {
  const { workspace, notices, echo, ids, now } = deps;
  const issued = new Map<
    string,
    { readonly message: Message; readonly user: string; readonly at: number; left: number }
  >();
  return {
    issue(message, user) {
      const path = `/actions/${workspace.team.id}/${ids.next("").toLowerCase()}`;
      issued.set(path, { message, user, at: now(), left: USES });
      const [oldest] = issued.keys();
      if (issued.size > KEPT && oldest !== undefined) issued.delete(oldest);
      return path;
    },
    use(path, contentType, body) {
      const grant = issued.get(path);
      if (!grant || grant.at + LASTS_MS < now()) throw refusal("expired_url");
      if (grant.left === 0) throw violation("used_url");
      grant.left -= 1;
      const args = readArguments(contentType, body, {});
      const { channel, ts, threadTs } = grant.message;
      const original = workspace.message(channel, ts);
      if (args.flag("delete_original")) {
        if (original) echo.removed(original, workspace.remove(original));
        return;
      }
      const { text, blocks } = readContent("response_url", args, deps);
      // markdown_text is not taken here.
      if ((text === undefined && !blocks?.length) || args.text("markdown_text") !== undefined)
        throw violation("no_text");
      const content = { text: text ?? "", blocks: blocks ?? [] };
      if (args.flag("replace_original")) {
        if (original) echo.changed(original, workspace.edit(original, { by: workspace.team.botUserId, ...content }));
        return;
      }
      const root = args.ts("thread_ts") ?? threadTs;
      const place = { channel, ...(root !== undefined && { threadTs: root }) };
      if (args.text("response_type") !== "in_channel") {
        notices.addEphemeral({ ...place, ...content, user: grant.user, ts: ids.ts() });
        return;
      }
      const { botUserId, botId, appId, id: team } = workspace.team;
      echo.posted(workspace.post({ ...place, ...content, user: botUserId, team, botId, appId }));
    },
  };
}
