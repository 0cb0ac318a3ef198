import { withSnapshot } from "../db/withTx.ts";
import type { Decision, DecisionStatus, RecordPlace } from "../domain/decision.ts";
import type { DeliveryStatus } from "../domain/delivery.ts";
import { CountersignError, ERRORS, type ErrorCode } from "../domain/errors.ts";
import type { SessionEvent } from "../domain/event.ts";
import type { InputSource } from "../domain/input.ts";
import type { Json } from "../domain/json.ts";
import type { AskedQuestion, Conversation, Person, Preview } from "../domain/message.ts";
import type { Session, SessionStatus } from "../domain/session.ts";
import type { Turn, TurnMode, TurnStatus } from "../domain/turn.ts";
import { type AttemptRecord, listAttempts } from "../store/attempts.ts";
import { findDecision as readDecision, listDecisions as readDecisions } from "../store/decisions.ts";
import { findDeliveryState } from "../store/deliveries.ts";
import { readEvents } from "../store/events.ts";
import { findOpenQuestion } from "../store/questions.ts";
import { findSession, readLabels, readLabelsOf, listSessions as readSessions } from "../store/sessions.ts";
import { type Activity, listTurns, readActivity } from "../store/turns.ts";
import type { Core } from "./core.ts";
import { decodeCursor, type Page, toPage } from "./pageCursor.ts";

/** The read models: what a program outside is shown of a session and of a decision. Times are ISO 8601, UTC. */

/** A failure as it may be shown (S7). */
export interface ErrorView {
  readonly code: string;
  readonly message: string;
}

export interface SessionSummary {
  readonly id: string;
  readonly agentId: string;
  /** The same as `agentId`. */
  readonly agent: string;
  readonly status: SessionStatus;
  readonly source: InputSource;
  readonly deploymentId: string;
  /** Absent where the session lives in no chat. */
  readonly channel?: Conversation;
  readonly labels: Readonly<Record<string, string>>;
  readonly result: Json;
  /** The seq of the session's last event. */
  readonly revision: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface SessionView extends SessionSummary {
  readonly question: AskedQuestion | null;
  readonly activity: Activity;
  /** The newest 20, newest first. */
  readonly turns: readonly TurnView[];
}

export interface TurnView {
  readonly id: string;
  readonly status: TurnStatus;
  readonly outcome: Turn["outcome"];
  readonly mode: TurnMode;
  readonly createdAt: string;
  readonly settledAt: string | null;
  readonly error?: ErrorView;
}

export interface DecisionSummary {
  readonly id: string;
  readonly status: DecisionStatus;
  readonly tool: string;
  readonly sessionId: string;
  readonly callId: string;
  /** The stored arguments; `inputDigest` is the SHA-256 of their JSON text. */
  readonly input: Json;
  readonly inputDigest: string;
  readonly preview: Preview;
  readonly decidedBy: Person | null;
  readonly decidedAt: string | null;
  readonly reason: string | null;
  /** Its newest entry in the decision record; null until the card was delivered. */
  readonly record: RecordPlace | null;
  /** Null until people could see the card. */
  readonly expiresAt: string | null;
  readonly error?: ErrorView;
  readonly result: Json;
  readonly createdAt: string;
}

export interface DecisionView extends DecisionSummary {
  readonly attempts: readonly AttemptRecord[];
  readonly card: CardView;
}

/** Whether people have seen the card (A11). */
export interface CardView {
  /** `undelivered`: given up for now and offered again later; the decision itself still stands. */
  readonly status: "waiting" | "delivered" | "undelivered";
  /** Why it was not delivered at the last try. */
  readonly code: string | null;
}

const CARD_STATUS: Record<DeliveryStatus, CardView["status"]> = {
  queued: "waiting",
  sending: "waiting",
  unknown: "waiting",
  sent: "delivered",
  dead: "undelivered",
};

const TURNS_SHOWN = 20;

/** One session as it was at one moment: a result read together with the turn that settled. Throws `not_found`. */
export function getSession({ pool }: Core, id: string): Promise<SessionView> {
  return withSnapshot(pool, async (db) => {
    const session = await findSession(db, id);
    if (!session) throw new CountersignError("not_found");
    const question = await findOpenQuestion(db, id);
    return {
      ...toSessionSummary(session, await readLabels(db, id)),
      question: question && { id: question.id, text: question.text, options: question.options },
      activity: await readActivity(db, id),
      turns: (await listTurns(db, id, TURNS_SHOWN)).map(toTurnView),
    };
  });
}

export interface ListSessions {
  readonly agentId?: string;
  readonly status?: SessionStatus;
  readonly labels?: Readonly<Record<string, string>>;
  readonly cursor?: string;
  readonly limit: number;
}

/** Newest first. Throws `bad_request` for a cursor that is not ours. */
export async function listSessions({ pool }: Core, { cursor, ...filter }: ListSessions): Promise<Page<SessionSummary>> {
  const before = cursor === undefined ? {} : { before: decodeCursor(cursor) };
  const rows = await readSessions(pool, { ...filter, ...before, limit: filter.limit + 1 });
  const { items, nextCursor } = toPage(rows, filter.limit);
  const labels = await readLabelsOf(
    pool,
    items.map((session) => session.id),
  );
  return { items: items.map((session) => toSessionSummary(session, labels.get(session.id) ?? {})), nextCursor };
}

/** At most `limit` events after the one numbered `after`, ascending. Throws `not_found`. */
export async function listEvents({ pool }: Core, id: string, after: number, limit: number): Promise<SessionEvent[]> {
  const events = await readEvents(pool, id, after, limit);
  if (events.length === 0 && !(await findSession(pool, id))) throw new CountersignError("not_found");
  return events;
}

export interface ListDecisions {
  readonly status?: DecisionStatus;
  readonly sessionId?: string;
  readonly cursor?: string;
  readonly limit: number;
}

/** Newest first. Throws `bad_request` for a cursor that is not ours. */
export async function listDecisions(
  { pool }: Core,
  { cursor, ...filter }: ListDecisions,
): Promise<Page<DecisionSummary>> {
  const before = cursor === undefined ? {} : { before: decodeCursor(cursor) };
  const rows = await readDecisions(pool, { ...filter, ...before, limit: filter.limit + 1 });
  const { items, nextCursor } = toPage(rows, filter.limit);
  return { items: items.map(toDecisionSummary), nextCursor };
}

/** Throws `not_found`. */
export function getDecision({ pool }: Core, id: string): Promise<DecisionView> {
  return withSnapshot(pool, async (db) => {
    const decision = await readDecision(db, id);
    if (!decision) throw new CountersignError("not_found");
    const delivery = decision.deliveryId === null ? null : await findDeliveryState(db, decision.deliveryId);
    return {
      ...toDecisionSummary(decision),
      attempts: await listAttempts(db, id),
      card: delivery
        ? { status: CARD_STATUS[delivery.status], code: delivery.code }
        : { status: "waiting", code: null },
    };
  });
}

function toSessionSummary(session: Session, labels: Readonly<Record<string, string>>): SessionSummary {
  return {
    id: session.id,
    agentId: session.agentId,
    agent: session.agentId,
    status: session.status,
    source: session.source,
    deploymentId: session.deploymentId,
    ...(session.conversation && { channel: session.conversation }),
    labels,
    result: session.result,
    revision: session.revision,
    createdAt: session.createdAt,
    updatedAt: session.updatedAt,
  };
}

export function toTurnView(turn: Turn): TurnView {
  return {
    id: turn.id,
    status: turn.status,
    outcome: turn.outcome,
    mode: turn.mode,
    createdAt: turn.createdAt,
    settledAt: turn.settledAt,
    ...(turn.errorCode !== null && { error: toErrorView(turn.errorCode) }),
  };
}

function toDecisionSummary(decision: Decision): DecisionSummary {
  return {
    id: decision.id,
    status: decision.status,
    tool: decision.tool,
    sessionId: decision.sessionId,
    callId: decision.callId,
    input: JSON.parse(decision.input) as Json,
    inputDigest: decision.inputDigest,
    preview: decision.preview,
    decidedBy: decision.decidedBy,
    decidedAt: decision.decidedAt,
    reason: decision.reason,
    record: decision.record,
    expiresAt: decision.expiresAt,
    ...(decision.errorCode !== null && { error: toErrorView(decision.errorCode) }),
    result: decision.result,
    createdAt: decision.createdAt,
  };
}

/** A code that an older or newer version stored is shown as it is, with the sentence for what is unknown. */
const toErrorView = (code: string): ErrorView => ({
  code,
  message: Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode].message : ERRORS.internal.message,
});
