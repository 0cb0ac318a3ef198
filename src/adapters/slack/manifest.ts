import type { AppsManifestCreateArguments } from "@slack/web-api";

/** Where Slack sends events and clicks alike, below our public address. */
export const EVENTS_PATH = "/slack/events";

/**
 * What each thing this adapter does needs from Slack, and nothing else. Buttons and the status line need no scope of
 * their own (`assistant.threads.setStatus` takes `chat:write`). No `agent_view`: an app cannot give it up again, and
 * nothing here answers its events.
 */
const NEEDS = {
  mentions: { scopes: ["app_mentions:read"], events: ["app_mention"] },
  /** Follow-ups in a thread, and finding a message again after an answer was lost. */
  threads: {
    scopes: ["channels:history", "groups:history", "mpim:history"],
    events: ["message.channels", "message.groups", "message.mpim"],
  },
  directMessages: { scopes: ["im:history"], events: ["message.im"] },
  answers: { scopes: ["chat:write"], events: [] },
  /** Who may decide: members of user groups, and the names of those to turn to instead. */
  deciders: { scopes: ["users:read", "usergroups:read"], events: [] },
} as const;

/** The app as Slack's manifest format has it. `url`: ours as Slack reaches it, `https://…` without a slash at the end. */
export function slackManifest(url: string): AppsManifestCreateArguments["manifest"] {
  const needs = Object.values(NEEDS);
  const requestUrl = `${url}${EVENTS_PATH}`;
  return {
    _metadata: { major_version: 2 },
    display_information: {
      name: "Countersign",
      description: "Agents that answer in your threads, and write only what somebody approved.",
    },
    features: {
      bot_user: { display_name: "countersign", always_online: true },
      app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
    },
    oauth_config: { scopes: { bot: needs.flatMap(({ scopes }) => [...scopes]) } },
    settings: {
      event_subscriptions: { request_url: requestUrl, bot_events: needs.flatMap(({ events }) => [...events]) },
      interactivity: { is_enabled: true, request_url: requestUrl },
      org_deploy_enabled: false,
      socket_mode_enabled: false,
      token_rotation_enabled: false,
    },
  };
}
