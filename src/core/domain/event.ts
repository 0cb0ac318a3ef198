import type { Json } from "./json.ts";

/** What a session's log may hold (S5). Readers ignore types they do not know. */
export type EventType =
  | "session.created"
  | "session.status_changed"
  | "session.ended"
  | "session.failed"
  | "message.received"
  | "turn.queued"
  | "turn.steered"
  | "turn.interrupted"
  | "turn.started"
  | "turn.completed"
  | "turn.failed"
  | "turn.cancelled"
  | "message.delta"
  | "message.completed"
  | "reasoning.delta"
  | "reasoning.completed"
  | "tool.started"
  | "tool.progress"
  | "tool.completed"
  | "tool.failed"
  | "agent.rendered"
  | "question.asked"
  | "question.answered"
  | "question.closed"
  | "approval.proposed"
  | "approval.approved"
  | "approval.rejected"
  | "approval.expired"
  | "approval.applying"
  | "approval.applied"
  | "approval.failed"
  | "approval.unconfirmed"
  | "usage.recorded"
  | "egress.request"
  | "egress.response"
  | "egress.failed"
  | "runtime.leased"
  | "runtime.lost"
  | "runtime.resumed";

export type EventData = Readonly<Record<string, Json>>;

/** An event about to be appended; the log gives it its place and its time. */
export interface NewEvent {
  readonly type: EventType;
  readonly turnId?: string;
  readonly data: EventData;
}

export interface SessionEvent {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly sessionId: string;
  readonly turnId?: string;
  readonly type: EventType;
  readonly data: EventData;
}

/** An event's id follows from its place, so it is not stored. */
export const eventId = (sessionId: string, seq: number): string => `evt_${sessionId.replace(/^ses_/, "")}_${seq}`;
