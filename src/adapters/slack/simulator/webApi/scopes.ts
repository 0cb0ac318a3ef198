import { refusal } from "./refusal.ts";

/** What an app of this simulator is granted unless told otherwise. */
export const ALL_SCOPES = [
  "app_mentions:read",
  "channels:history",
  "groups:history",
  "mpim:history",
  "im:history",
  "im:write",
  "chat:write",
  "users:read",
  "usergroups:read",
  "reactions:write",
] as const;

/** The scope a method needs, for those that depend on nothing but the method. */
const NEEDED: Readonly<Record<string, string>> = {
  "users.info": "users:read",
  "usergroups.list": "usergroups:read",
  "usergroups.users.list": "usergroups:read",
};

/** Throws Slack's `missing_scope`: no violation, since whoever installs an app may leave a scope out. */
export function checkScope(method: string, granted: readonly string[]): void {
  const needed = NEEDED[method];
  if (needed !== undefined && !granted.includes(needed))
    throw refusal("missing_scope", { needed, provided: granted.join(",") });
}
