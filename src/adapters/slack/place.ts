import type { Conversation } from "../../core/domain/message.ts";

/** Where something is posted: `C1:1700.01` is a thread, by its root; `D1` a direct message without one. */
export interface Place {
  readonly channel: string;
  readonly thread?: string;
}

export function placeOf({ conversationId }: Conversation): Place {
  const [channel = "", thread] = conversationId.split(":");
  return thread === undefined ? { channel } : { channel, thread };
}

/** A posted message's name among all of the installation's: its `ts` is unique in its channel only. */
export const refOf = (channel: string, ts: string): string => `${channel}:${ts}`;
