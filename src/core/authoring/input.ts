import type { DataValue } from "./data.ts";

/** What one turn was started with; `source` tells which of the other fields can be there. */
export type AgentInput = ChannelInput | EventInput | ScheduleInput | WebhookInput | PlainInput;

interface AnyInput {
  readonly text?: string;
  readonly payload?: DataValue;
  readonly answer?: InputAnswer;
  /** What was written before a question was posted, oldest first: at most 20 messages of 4,000 characters. */
  readonly steering?: readonly InputSteering[];
  readonly channel?: InputChannel;
  readonly schedule?: Readonly<Record<string, DataValue>>;
  readonly webhook?: Readonly<Record<string, DataValue>>;
  readonly event?: Readonly<Record<string, DataValue>>;
}

/** From the API, the command line, another agent, or the gateway itself reporting a decision's outcome. */
export interface PlainInput extends AnyInput {
  readonly source: "user" | "subagent" | "system";
}

export interface ChannelInput extends AnyInput {
  readonly source: "channel";
  readonly channel: InputChannel;
}

export interface EventInput extends AnyInput {
  readonly source: "event";
  readonly event: Readonly<Record<string, DataValue>>;
}

export interface ScheduleInput extends AnyInput {
  readonly source: "schedule";
  readonly schedule: Readonly<Record<string, DataValue>>;
}

export interface WebhookInput extends AnyInput {
  readonly source: "webhook";
  readonly webhook: Readonly<Record<string, DataValue>>;
}

/** The reply to the question this session had open. */
export interface InputAnswer {
  readonly questionId: string;
  readonly text: string;
  /** The chosen option's full value; absent when the answer was typed. */
  readonly value?: string;
}

export interface InputSteering {
  readonly text: string;
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
}

/** Where the person wrote; `conversationId` is the thread. */
export interface InputChannel {
  readonly provider: "slack" | "linear";
  readonly connectionId: string;
  readonly workspaceId: string;
  readonly conversationId: string;
  readonly userId: string;
}
