import type { Db } from "../db/pool.ts";
import type { Decision, DecisionStatus } from "../domain/decision.ts";
import type { Json } from "../domain/json.ts";
import type { ApprovalRule } from "../domain/manifest.ts";
import type { Conversation, Person, Preview } from "../domain/message.ts";

const COLUMNS = `id, session_id, turn_id, call_id, message_id, agent_id, deployment_id, tool, tool_digest,
  input::text as input, input_digest, preview, card_digest, person, rule, delivery_id, status, expires_at, decided_at,
  decided_by, reason, attempt, fence, again_by, error_code, result, verify_note, created_at, updated_at`;

interface DecisionRow {
  id: string;
  session_id: string;
  turn_id: string;
  call_id: string;
  message_id: string;
  agent_id: string;
  deployment_id: string;
  tool: string;
  tool_digest: string;
  input: string;
  input_digest: string;
  preview: Preview;
  card_digest: string;
  person: Person | null;
  rule: ApprovalRule;
  delivery_id: string | null;
  status: DecisionStatus;
  expires_at: Date | null;
  decided_at: Date | null;
  decided_by: Person | null;
  reason: string | null;
  attempt: number;
  fence: number | null;
  again_by: Person | null;
  error_code: string | null;
  result: Json;
  verify_note: string | null;
  created_at: Date;
  updated_at: Date;
}

const toDecision = (row: DecisionRow): Decision => ({
  id: row.id,
  sessionId: row.session_id,
  turnId: row.turn_id,
  callId: row.call_id,
  messageId: row.message_id,
  agentId: row.agent_id,
  deploymentId: row.deployment_id,
  tool: row.tool,
  toolDigest: row.tool_digest,
  input: row.input,
  inputDigest: row.input_digest,
  preview: row.preview,
  cardDigest: row.card_digest,
  person: row.person,
  rule: row.rule,
  deliveryId: row.delivery_id,
  status: row.status,
  expiresAt: row.expires_at?.toISOString() ?? null,
  decidedAt: row.decided_at?.toISOString() ?? null,
  decidedBy: row.decided_by,
  reason: row.reason,
  attempt: row.attempt,
  errorCode: row.error_code,
  result: row.result,
  verifyNote: row.verify_note,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

const first = (rows: readonly DecisionRow[]): Decision | null => (rows[0] ? toDecision(rows[0]) : null);

export type NewDecision = Omit<
  Decision,
  | "status"
  | "expiresAt"
  | "decidedAt"
  | "decidedBy"
  | "reason"
  | "attempt"
  | "errorCode"
  | "result"
  | "verifyNote"
  | "createdAt"
  | "updatedAt"
>;

/** A proposal, pending. The same call proposed twice (a replay after a crash) is one row: false, the first one stands. */
export async function insertDecision(db: Db, d: NewDecision): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into decisions (id, session_id, turn_id, call_id, message_id, agent_id, deployment_id, tool, tool_digest,
       input, input_digest, preview, card_digest, person, rule, delivery_id, status)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::json, $11, $12::json, $13, $14::json, $15::json, $16::uuid, 'pending')
     on conflict (session_id, call_id) do nothing`,
    [
      d.id,
      d.sessionId,
      d.turnId,
      d.callId,
      d.messageId,
      d.agentId,
      d.deploymentId,
      d.tool,
      d.toolDigest,
      d.input,
      d.inputDigest,
      JSON.stringify(d.preview),
      d.cardDigest,
      d.person && JSON.stringify(d.person),
      JSON.stringify(d.rule),
      d.deliveryId,
    ],
  );
  return rowCount === 1;
}

export async function findDecision(db: Db, id: string): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(`select ${COLUMNS} from decisions where id = $1`, [id]);
  return first(rows);
}

export interface DecisionFilter {
  readonly status?: DecisionStatus;
  readonly sessionId?: string;
  readonly before?: { readonly createdAt: string; readonly id: string };
  readonly limit: number;
}

/** Newest first. */
export async function listDecisions(db: Db, filter: DecisionFilter): Promise<Decision[]> {
  const { rows } = await db.query<DecisionRow>(
    `select ${COLUMNS} from decisions
     where ($1::text is null or status = $1) and ($2::text is null or session_id = $2)
       and ($3::timestamptz is null or (created_at, id) < ($3::timestamptz, $4::text))
     order by created_at desc, id desc limit $5`,
    [
      filter.status ?? null,
      filter.sessionId ?? null,
      filter.before?.createdAt ?? null,
      filter.before?.id ?? null,
      filter.limit,
    ],
  );
  return rows.map(toDecision);
}

/** pending → approved. Null: it is not pending any more, its time is over, or the card is another one. */
export async function approveDecision(db: Db, id: string, by: Person, cardPrefix: string): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `update decisions
     set status = 'approved', decided_at = countersign_now(), decided_by = $2::json, updated_at = countersign_now()
     where id = $1 and status = 'pending' and (expires_at is null or expires_at > countersign_now())
       and starts_with(card_digest, $3)
     returning ${COLUMNS}`,
    [id, JSON.stringify(by), cardPrefix],
  );
  return first(rows);
}

/** pending → rejected; the same conditions. */
export async function rejectDecision(
  db: Db,
  id: string,
  by: Person,
  cardPrefix: string,
  reason: string | null,
): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `update decisions
     set status = 'rejected', decided_at = countersign_now(), decided_by = $2::json, reason = $4::json, updated_at = countersign_now()
     where id = $1 and status = 'pending' and (expires_at is null or expires_at > countersign_now())
       and starts_with(card_digest, $3)
     returning ${COLUMNS}`,
    [id, JSON.stringify(by), cardPrefix, reason === null ? null : JSON.stringify(reason)],
  );
  return first(rows);
}

/** pending → expired, on the database's clock. Null: it was decided, or has time left. */
export async function expireDecision(db: Db, id: string): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `update decisions set status = 'expired', updated_at = countersign_now()
     where id = $1 and status = 'pending' and expires_at <= countersign_now() returning ${COLUMNS}`,
    [id],
  );
  return first(rows);
}

/** unconfirmed stays unconfirmed, and one named person asked for one more attempt. Null: somebody was first. */
export async function authoriseAgain(db: Db, id: string, by: Person, cardPrefix: string): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `update decisions set again_by = $2::json, updated_at = countersign_now()
     where id = $1 and status = 'unconfirmed' and again_by is null and starts_with(card_digest, $3)
     returning ${COLUMNS}`,
    [id, JSON.stringify(by), cardPrefix],
  );
  return first(rows);
}

/** Who had it run again, while that waits or runs. Null: nobody. */
export async function findAgainBy(db: Db, id: string): Promise<Person | null> {
  const { rows } = await db.query<{ by: Person | null }>(
    `select coalesce(d.again_by, a.authorised_by) as by
     from decisions d
     left join decision_attempts a on a.decision_id = d.id and a.attempt = d.attempt and a.attempt > 1 and d.status = 'applying'
     where d.id = $1`,
    [id],
  );
  return rows[0]?.by ?? null;
}

export interface Attempt {
  readonly decision: Decision;
  readonly fence: number;
  /** The approver, or who had it run again. */
  readonly authorisedBy: Person | null;
  /** An earlier attempt may have written. */
  readonly earlierInDoubt: boolean;
}

/**
 * approved → applying, or unconfirmed → applying where a person asked again; writes the attempt's row. This commits
 * before `apply` is called (A5). Null: somebody else started it, or nothing may start.
 */
export async function startAttempt(db: Db, id: string, leaseMs: number): Promise<Attempt | null> {
  const { rows } = await db.query<DecisionRow & { authorised_by: Person | null; was: DecisionStatus }>(
    `with was as (
       select id as was_id, status as was, coalesce(again_by, decided_by) as authorised_by from decisions where id = $1 for update
     ), started as (
       update decisions d
       set status = 'applying', attempt = attempt + 1, fence = nextval('fences'), again_by = null, error_code = null,
         verified_at = null, verify_note = null,
         lease_until = countersign_now() + make_interval(secs => $2::double precision / 1000), updated_at = countersign_now()
       from was
       where d.id = was.was_id and (d.status = 'approved' or (d.status = 'unconfirmed' and d.again_by is not null))
       returning d.*, was.was, was.authorised_by
     ), noted as (
       insert into decision_attempts (decision_id, attempt, fence, authorised_by)
       select id, attempt, fence, authorised_by from started
     )
     select ${COLUMNS}, was, authorised_by from started`,
    [id, leaseMs],
  );
  const row = rows[0];
  return row
    ? {
        decision: toDecision(row),
        fence: Number(row.fence),
        authorisedBy: row.authorised_by,
        earlierInDoubt: row.was === "unconfirmed",
      }
    : null;
}

/** approved → failed: what would run is not what was approved. Nothing started. */
export async function refuseStart(db: Db, id: string): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `update decisions set status = 'failed', error_code = 'needs_reapproval', updated_at = countersign_now()
     where id = $1 and status = 'approved' returning ${COLUMNS}`,
    [id],
  );
  return first(rows);
}

/** A person asked for another attempt of what no longer matches: it stays unconfirmed and nothing starts. */
export async function refuseAgain(db: Db, id: string): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `update decisions set again_by = null, error_code = 'needs_reapproval', updated_at = countersign_now()
     where id = $1 and status = 'unconfirmed' and again_by is not null returning ${COLUMNS}`,
    [id],
  );
  return first(rows);
}

export interface AttemptEnd {
  readonly outcome: "applied" | "failed" | "unconfirmed";
  readonly errorCode: string | null;
  readonly result: Json;
}

/** applying → the outcome, under the attempt's fence. Null: the attempt is not the one that runs. */
export async function finishAttempt(db: Db, id: string, fence: number, end: AttemptEnd): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `with ended as (
       update decisions
       set status = $3, error_code = $4, result = $5::json, lease_until = null, updated_at = countersign_now()
       where id = $1 and fence = $2 and status = 'applying'
       returning *
     ), noted as (
       update decision_attempts a set ended_at = countersign_now(), outcome = $3
       from ended where a.decision_id = ended.id and a.fence = $2
     )
     select ${COLUMNS} from ended`,
    [id, fence, end.outcome, end.errorCode, JSON.stringify(end.result)],
  );
  return first(rows);
}

/**
 * A report that came after its attempt was given up. Of the latest attempt it settles unconfirmed → applied; of any
 * other, or a report of failure, it is kept as evidence alone. Null: evidence alone.
 */
export async function reportLate(db: Db, id: string, fence: number, end: AttemptEnd): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `with noted as (
       update decision_attempts set evidence = json_build_object('reported', $3::text, 'at', countersign_now())
       where decision_id = $1 and fence = $2
     ), settled as (
       update decisions set status = 'applied', again_by = null, error_code = null, result = $4::json, updated_at = countersign_now()
       where id = $1 and fence = $2 and status = 'unconfirmed' and $3::text = 'applied'
       returning *
     )
     select ${COLUMNS} from settled`,
    [id, fence, end.outcome, JSON.stringify(end.result)],
  );
  return first(rows);
}

/** unconfirmed → applied: the tool's `verify` found the effect (A5). Null: it is not unconfirmed any more. */
export async function settleVerified(db: Db, id: string, found: Json): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `with settled as (
       update decisions set status = 'applied', again_by = null, error_code = null, updated_at = countersign_now()
       where id = $1 and status = 'unconfirmed'
       returning *
     ), noted as (
       update decision_attempts a
       set evidence = json_build_object('verified', $2::json, 'at', countersign_now())
       from settled where a.decision_id = settled.id and a.attempt = settled.attempt
     )
     select ${COLUMNS} from settled`,
    [id, JSON.stringify(found)],
  );
  return first(rows);
}

/** applying → unconfirmed, once its worker stopped renewing. */
export async function loseAttempt(db: Db, id: string): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `with lost as (
       update decisions
       set status = 'unconfirmed', error_code = 'apply_unconfirmed', lease_until = null, updated_at = countersign_now()
       where id = $1 and status = 'applying' and lease_until < countersign_now()
       returning *
     ), noted as (
       update decision_attempts a set ended_at = countersign_now(), outcome = 'unconfirmed'
       from lost where a.decision_id = lost.id and a.fence = lost.fence
     )
     select ${COLUMNS} from lost`,
    [id],
  );
  return first(rows);
}

/** Renews the leases of the attempts a worker runs; those missing from the answer are lost to it. */
export async function renewAttempts(
  db: Db,
  held: readonly { readonly id: string; readonly fence: number }[],
  leaseMs: number,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `update decisions d set lease_until = countersign_now() + make_interval(secs => $3::double precision / 1000)
     from unnest($1::text[], $2::bigint[]) as h (id, fence)
     where d.id = h.id and d.fence = h.fence and d.status = 'applying' returning d.id`,
    [held.map((h) => h.id), held.map((h) => h.fence), leaseMs],
  );
  return rows.map((r) => r.id);
}

export interface AttemptRecord {
  readonly attempt: number;
  readonly authorisedBy: Person | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly outcome: "applied" | "failed" | "unconfirmed" | null;
  readonly evidence: Json;
}

export async function listAttempts(db: Db, decisionId: string): Promise<AttemptRecord[]> {
  const { rows } = await db.query<{
    attempt: number;
    authorised_by: Person | null;
    started_at: Date;
    ended_at: Date | null;
    outcome: AttemptRecord["outcome"];
    evidence: Json;
  }>(
    `select attempt, authorised_by, started_at, ended_at, outcome, evidence
     from decision_attempts where decision_id = $1 order by attempt`,
    [decisionId],
  );
  return rows.map((r) => ({
    attempt: r.attempt,
    authorisedBy: r.authorised_by,
    startedAt: r.started_at.toISOString(),
    endedAt: r.ended_at?.toISOString() ?? null,
    outcome: r.outcome,
    evidence: r.evidence,
  }));
}

/** Decisions that need the sweeper: expired, lost, or approved and not started. */
export async function listDue(
  db: Db,
  startedLateMs: number,
  limit: number,
): Promise<{ id: string; sessionId: string; why: "expired" | "lost" | "waiting" }[]> {
  const { rows } = await db.query<{ id: string; session_id: string; why: "expired" | "lost" | "waiting" }>(
    `(select id, session_id, 'expired' as why from decisions
      where status = 'pending' and expires_at <= countersign_now() limit $2)
     union all
     (select id, session_id, 'lost' from decisions
      where status = 'applying' and lease_until < countersign_now() limit $2)
     union all
     (select id, session_id, 'waiting' from decisions
      where (status = 'approved' or (status = 'unconfirmed' and again_by is not null))
        and updated_at < countersign_now() - make_interval(secs => $1::double precision / 1000) limit $2)`,
    [startedLateMs, limit],
  );
  return rows.map((r) => ({ id: r.id, sessionId: r.session_id, why: r.why }));
}

/** Where a decision's card stands: the conversation of its session. */
export async function findCardConversation(db: Db, decisionId: string): Promise<Conversation | null> {
  const { rows } = await db.query<{ conversation: Conversation | null }>(
    "select d.conversation from decisions x join deliveries d on d.id = x.delivery_id where x.id = $1",
    [decisionId],
  );
  return rows[0]?.conversation ?? null;
}

/**
 * An unconfirmed write that `verify` looked at after `attempt` and did not find done; it stays as it is. Null: it is
 * not unconfirmed any more, or was started again since, and what was seen before says nothing about that.
 */
export async function noteVerified(db: Db, id: string, attempt: number, note: string | null): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `update decisions set verified_at = countersign_now(), verify_note = $3::json
     where id = $1 and attempt = $2 and status = 'unconfirmed' returning ${COLUMNS}`,
    [id, attempt, note === null ? null : JSON.stringify(note)],
  );
  return first(rows);
}

/** Unconfirmed writes that nobody has verified since they became so. */
export async function listUnverified(db: Db, olderThanMs: number, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from decisions
     where status = 'unconfirmed' and verified_at is null
       and updated_at < countersign_now() - make_interval(secs => $1::double precision / 1000)
     limit $2`,
    [olderThanMs, limit],
  );
  return rows.map((r) => r.id);
}
