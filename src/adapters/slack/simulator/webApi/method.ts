import type { Echo } from "../events/announce.ts";
import type { Ids } from "../ids.ts";
import type { JsonObject } from "../message.ts";
import type { Notices } from "../notices.ts";
import type { RequestLog } from "../requestLog.ts";
import type { Triggers } from "../triggers.ts";
import type { Workspace } from "../workspace.ts";
import type { Arguments } from "./arguments.ts";

/** What the methods of the Web API work on. */
export interface MethodDeps {
  readonly workspace: Workspace;
  readonly notices: Notices;
  readonly triggers: Triggers;
  readonly echo: Echo;
  readonly log: RequestLog;
  readonly ids: Ids;
  readonly now: () => number;
  /** `http://127.0.0.1:PORT`. */
  readonly url: () => string;
}

/** Returns what Slack puts beside `ok: true`; throws a `Refusal`. */
export type Method = (args: Arguments) => JsonObject;

export type Methods = Readonly<Record<string, Method>>;
