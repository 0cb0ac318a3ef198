import { LRUCache } from "lru-cache";
import type { Clock, Directory, LookUp } from "../../core/ports.ts";
import { createSlackCall, type SlackAnswer, type SlackCall, type SlackCallOptions } from "./call.ts";
import { cut } from "./cut.ts";
import { asArray, asRecord, idOf, textOf } from "./read.ts";
import { visibleLine } from "./text.ts";

/**
 * Whoever is taken out of a group, or deactivated, keeps the right to decide for this long at most. Shorter would spend
 * Slack's 20 calls a minute (`usergroups.*` is tier 2) on one card that a busy channel clicks on.
 */
export const FRESH_MS = 30_000;

/** A click waits for two of them at most, one after the other, and a transaction: under Slack's three seconds. */
const TIMEOUT_MS = 1_250;

const MOST_KEPT = 1_000;
const LONGEST_NAME = 80;

const SCOPES = {
  "users.info": "users:read",
  "usergroups.list": "usergroups:read",
  "usergroups.users.list": "usergroups:read",
} as const;
type Method = keyof typeof SCOPES;

/** Slack's words for: there is none. `plan_upgrade_required`: this workspace's plan has no user groups at all. */
const ABSENT = new Set(["user_not_found", "user_not_visible", "no_such_subteam", "plan_upgrade_required"]);

type Options = Omit<SlackCallOptions, "timeoutMs"> & { readonly workspaceId: string; readonly clock?: Clock };

/** Slack's people and user groups, as old as `FRESH_MS` at most. */
export function createSlackDirectory({ workspaceId, clock = { now: Date.now }, ...api }: Options): Directory {
  const ask = remembering(createSlackCall({ ...api, timeoutMs: TIMEOUT_MS }), clock);
  return {
    provider: "slack",
    workspaceId,
    user: async (id) =>
      read("users.info", await ask("users.info", { user: id }), ({ user }) => {
        const fields = asRecord(user);
        const profile = asRecord(fields?.["profile"]);
        const team = idOf(fields, "team_id");
        if (!fields || team === undefined) return undefined;
        const name = textOf(profile, "display_name") || textOf(fields, "real_name") || textOf(fields, "name") || id;
        return { name: shown(name), workspaceId: team, active: fields["deleted"] === false };
      }),
    group: async (id) =>
      read("usergroups.list", await ask("usergroups.list", { include_disabled: true }), ({ usergroups }) => {
        const group = asArray(usergroups)
          .map(asRecord)
          .find((candidate) => candidate?.["id"] === id);
        // A group that was disabled carries the time of it.
        return group && { name: shown(`@${textOf(group, "handle") ?? id}`), active: group["date_delete"] === 0 };
      }),
    members: async (groupId) =>
      read("usergroups.users.list", await ask("usergroups.users.list", { usergroup: groupId }), ({ users }) =>
        asArray(users).filter((user) => typeof user === "string"),
      ),
  };
}

const shown = (name: string): string => visibleLine(cut(name, LONGEST_NAME));

/** What an answer holds; undefined in it is: not there. */
function read<T>(
  method: Method,
  answer: SlackAnswer,
  take: (body: Record<string, unknown>) => T | undefined,
): LookUp<T> {
  switch (answer.kind) {
    case "ok": {
      const value = take(answer.body);
      return value === undefined ? { found: false } : { found: true, value };
    }
    case "refused":
      if (ABSENT.has(answer.code)) return { found: false };
      return {
        found: "unknown",
        why:
          answer.code === "missing_scope"
            ? `the Slack app lacks the scope ${SCOPES[method]}; add it to the app and install it again`
            : `Slack refused ${method} (${answer.code})`,
      };
    case "limited":
      return { found: "unknown", why: `Slack limits ${method} at the moment` };
    case "unsent":
    case "lost":
      return { found: "unknown", why: `Slack did not answer ${method} (${answer.code})` };
  }
}

/**
 * One call for all who ask the same at the same time, and its answer for those who come soon after. A failure is not
 * kept, except a limit: asking again before its time is over would only be refused again (G5).
 */
function remembering(call: SlackCall, clock: Clock) {
  const kept = new LRUCache<string, Promise<SlackAnswer>>({
    max: MOST_KEPT,
    ttl: FRESH_MS,
    ttlResolution: 0,
    perf: clock,
  });
  return (method: Method, args: Record<string, unknown>): Promise<SlackAnswer> => {
    const key = JSON.stringify([method, args]);
    const before = kept.get(key);
    if (before) return before;
    const asked = call(method, args);
    kept.set(key, asked);
    void asked.then((answer) => {
      if (answer.kind === "limited") kept.set(key, asked, { ttl: Math.max(1, answer.afterMs) });
      else if (answer.kind !== "ok") kept.delete(key);
    });
    return asked;
  };
}
