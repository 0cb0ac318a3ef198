import { type Static, type TSchema, type TString, Type } from "@sinclair/typebox";
import { DECISION_STATUSES } from "../../core/domain/decision.ts";

/** The shapes of the API, once for validation, for the compiler and for the OpenAPI document. */

/** A choice of words; one `enum`, so that a wrong one is answered with the right ones. */
export const oneOf = <const T extends readonly string[]>(values: T) =>
  Type.Unsafe<T[number]>({ type: "string", enum: [...values] });

/** PostgreSQL's `text` holds no NUL; what people and models write is kept as JSON, which does. */
export const text = (minLength: number, maxLength: number): TString =>
  Type.String({ minLength, maxLength, pattern: "^[^\\u0000]*$" });

/** Somebody must have written something that shows. */
export const SOME_WORD = "\\S";
export const words = (options: { maxLength?: number; description?: string } = {}): TString =>
  Type.String({ ...options, minLength: 1, pattern: SOME_WORD });

const list = <T extends TSchema>(items: T) => Type.Unsafe<readonly Static<T>[]>(Type.Array(items));
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const time = () => Type.String({ format: "date-time" });

export const InputSource = oneOf(["user", "channel", "schedule", "webhook", "subagent", "system", "event"]);
export const SessionStatus = oneOf(["idle", "running", "stopping", "ended", "failed"]);
export const TurnMode = oneOf(["queue", "steer", "interrupt"]);
const TurnStatus = oneOf(["queued", "running", "completed", "failed", "cancelled"]);
export const DecisionStatus = oneOf(DECISION_STATUSES);

export const Labels = Type.Unsafe<Record<string, string>>({
  type: "object",
  maxProperties: 50,
  propertyNames: text(1, 100),
  additionalProperties: text(0, 500),
});

export const IdParams = Type.Object({ id: Type.String({ pattern: "^\\w+$" }) });

export const Paging = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  cursor: Type.Optional(Type.String({ description: "`nextCursor` of the page before." })),
};

export const IdempotencyHeader = Type.Object({ "idempotency-key": Type.Optional(text(1, 255)) });

// ---------------------------------------------------------------------------------------------------------- answers

export const ErrorBody = Type.Object(
  { error: Type.Object({ code: Type.String(), message: Type.String() }) },
  { description: "A stable code, and one sentence that says what to do." },
);

/** The failures of a route, by status. 401 and 503 may meet any. */
export const failures = <const S extends 400 | 404 | 409 | 413>(...statuses: readonly S[]) =>
  Object.fromEntries([...statuses, 401, 503].map((status) => [status, ErrorBody])) as Record<
    S | 401 | 503,
    typeof ErrorBody
  >;

const ErrorView = Type.Object({ code: Type.String(), message: Type.String() });

const Person = Type.Object({
  provider: oneOf(["slack", "linear", "api"]),
  workspaceId: Type.String(),
  userId: Type.String(),
  name: Type.Optional(Type.String()),
});

const Turn = Type.Object({
  id: Type.String(),
  status: TurnStatus,
  outcome: nullable(oneOf(["text", "question"])),
  mode: TurnMode,
  createdAt: time(),
  settledAt: nullable(time()),
  error: Type.Optional(ErrorView),
});

export const TurnBody = Type.Object({ turn: Turn }, { description: "The turn, as it is now." });

const PAGE = "A page, newest first; `nextCursor` is null on the last one.";

const summary = {
  id: Type.String(),
  agentId: Type.String(),
  agent: Type.String({ description: "The same as agentId." }),
  status: SessionStatus,
  source: InputSource,
  deploymentId: Type.String({ description: "The deployment the session was created on and stays on." }),
  channel: Type.Optional(
    Type.Object({
      provider: oneOf(["slack", "linear"]),
      connectionId: Type.String(),
      workspaceId: Type.String(),
      conversationId: Type.String(),
    }),
  ),
  labels: Type.Unsafe<Readonly<Record<string, string>>>(Labels),
  result: Type.Unknown({ description: "What the agent's result tool last reported; null before that." }),
  revision: Type.Integer({ description: "The seq of the session's last event." }),
  createdAt: time(),
  updatedAt: time(),
};

const SessionSummary = Type.Object(summary);
export const SessionList = Type.Object(
  { sessions: list(SessionSummary), nextCursor: nullable(Type.String()) },
  { description: PAGE },
);

const session = {
  ...summary,
  question: nullable(
    Type.Object({
      id: Type.String(),
      text: Type.String(),
      options: list(Type.Object({ label: Type.String(), value: Type.String() })),
    }),
  ),
  activity: Type.Object({
    activeTurnId: nullable(Type.String()),
    queued: Type.Integer(),
    lastSettledTurn: nullable(Type.Object({ id: Type.String(), status: TurnStatus })),
  }),
  turns: list(Turn),
};
export const Session = Type.Object(session, { description: "The session, with its newest 20 turns." });

const Event = Type.Object({
  seq: Type.Integer({ minimum: 1 }),
  id: Type.String(),
  timestamp: time(),
  sessionId: Type.String(),
  turnId: Type.Optional(Type.String()),
  type: Type.String({ description: "Ignore the types you do not know." }),
  data: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object", additionalProperties: true }),
});
export const EventList = Type.Object({ events: list(Event) });

const decision = {
  id: Type.String(),
  status: DecisionStatus,
  tool: Type.String(),
  sessionId: Type.String(),
  callId: Type.String(),
  input: Type.Unknown({ description: "The stored arguments, the ones that apply gets." }),
  inputDigest: Type.String({ description: "SHA-256 of the arguments' JSON text." }),
  preview: Type.Object({
    title: Type.String(),
    summary: Type.Optional(Type.String()),
    facts: list(Type.Object({ label: Type.String(), value: Type.String() })),
  }),
  decidedBy: nullable(Person),
  decidedAt: nullable(time()),
  reason: nullable(Type.String()),
  record: nullable(
    Type.Object(
      { seq: Type.Integer(), hash: Type.String() },
      { description: "Its newest entry in the decision record: place and SHA-256." },
    ),
  ),
  expiresAt: nullable(time()),
  error: Type.Optional(ErrorView),
  result: Type.Unknown(),
  createdAt: time(),
};

export const DecisionList = Type.Object(
  { decisions: list(Type.Object(decision)), nextCursor: nullable(Type.String()) },
  { description: PAGE },
);

const detail = {
  ...decision,
  attempts: list(
    Type.Object({
      attempt: Type.Integer({ minimum: 1 }),
      authorisedBy: nullable(Person),
      startedAt: time(),
      endedAt: nullable(time()),
      outcome: nullable(oneOf(["applied", "failed", "unconfirmed"])),
      evidence: Type.Unknown({ description: "A report that came after the attempt was given up." }),
    }),
  ),
  card: Type.Object(
    { status: oneOf(["waiting", "delivered", "undelivered"]), code: nullable(Type.String()) },
    { description: "Whether people have seen it; an undelivered card is offered again every hour while it asks." },
  ),
};
export const Decision = Type.Object(detail, { description: "The decision, with every attempt to carry it out." });

export const ResultRecord = Type.Object(
  {
    id: Type.String(),
    sessionId: Type.String(),
    turnId: Type.String(),
    callId: Type.String(),
    reportedAt: time(),
    data: Type.Unknown({ description: "What the result tool returned." }),
  },
  { description: "One report of the agent's result tool; it never changes." },
);

export const ResultList = Type.Object(
  { results: list(ResultRecord), nextCursor: nullable(Type.String()) },
  { description: PAGE },
);
