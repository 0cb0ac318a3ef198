import type { InboundEvent } from "../../core/domain/message.ts";

/** Who we are in Slack: what `auth.test` said. `appId` is not in it; the envelope's `api_app_id` serves as well. */
export interface SlackSelf {
  readonly connectionId: string;
  readonly teamId: string;
  readonly botUserId: string;
  readonly botId: string;
  readonly appId?: string;
}

export const ignored = (reason: string): InboundEvent => ({ kind: "ignored", reason });
