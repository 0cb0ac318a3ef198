import { CountersignError } from "../../core/domain/errors.ts";
import type { Clock, Log } from "../../core/ports.ts";
import type { ChatAdapter, OnInbound } from "../adapter.ts";
import { createSlackCall, type SlackAnswer } from "./call.ts";
import { createSlackDirectory } from "./directory.ts";
import type { SlackSelf } from "./inbound.ts";
import { parseSlack } from "./parse.ts";
import { idOf } from "./read.ts";
import { createSlackReceiver } from "./receiver.ts";
import { createSlackSender } from "./send.ts";

export interface SlackConfig {
  readonly botToken: string;
  readonly signingSecrets: readonly string[];
  /** Slack's own when absent; the simulator's in development. */
  readonly apiUrl?: string;
}

export interface SlackDeps {
  readonly onInbound: OnInbound;
  readonly log: Log;
  readonly clock?: Clock;
}

/**
 * One Slack installation, joined together. Asks `auth.test` who the token is; throws `config_invalid` with a sentence
 * for the operator when Slack does not say.
 */
export async function createSlackAdapter(
  config: SlackConfig,
  deps: SlackDeps,
): Promise<ChatAdapter & { readonly self: SlackSelf }> {
  const api = {
    botToken: config.botToken,
    ...(config.apiUrl !== undefined && { apiUrl: config.apiUrl }),
    log: deps.log,
  };
  const self = whoWeAre(await createSlackCall(api)("auth.test", {}), config.apiUrl);
  const clock = deps.clock ? { clock: deps.clock } : {};
  const { plugin } = createSlackReceiver({ ...deps, signingSecrets: config.signingSecrets, self });
  return {
    connectionId: self.connectionId,
    self,
    parse: (payload) => parseSlack(payload, self),
    sender: createSlackSender({ ...api, ...clock }),
    directory: createSlackDirectory({ ...api, ...clock, workspaceId: self.teamId }),
    plugin,
  };
}

function whoWeAre(answer: SlackAnswer, apiUrl: string | undefined): SlackSelf {
  if (answer.kind !== "ok") throw new CountersignError("config_invalid", sentence(answer, apiUrl));
  const teamId = idOf(answer.body, "team_id");
  const botUserId = idOf(answer.body, "user_id");
  const botId = idOf(answer.body, "bot_id");
  if (!teamId || !botUserId || !botId) {
    throw new CountersignError(
      "config_invalid",
      "SLACK_BOT_TOKEN is not a bot's token; use the one that begins with xoxb-.",
    );
  }
  return { connectionId: `slack:${teamId}`, teamId, botUserId, botId };
}

function sentence(answer: Exclude<SlackAnswer, { kind: "ok" }>, apiUrl: string | undefined): string {
  switch (answer.kind) {
    case "refused":
      return `Slack refused SLACK_BOT_TOKEN (${answer.code}); check that it is this app's bot token and is still installed.`;
    case "limited":
      return "Slack limits this app's calls at the moment; start again in a minute.";
    case "unsent":
    case "lost":
      return `Slack cannot be reached at ${apiUrl ?? "https://slack.com/api/"} (${answer.code}); check the network and SLACK_API_URL.`;
  }
}
