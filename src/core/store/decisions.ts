import type { Db } from "../db/pool.ts";
import type { Right } from "../domain/deciders.ts";
import type { Decision, DecisionStatus } from "../domain/decision.ts";
import type { Conversation, Person } from "../domain/message.ts";
import { COLUMNS, type DecisionRow, first, toDecision } from "./decisionRow.ts";

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
  | "verifyLooks"
  | "record"
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

/** What one person says on a card. */
export interface Word {
  readonly by: Person;
  readonly right: Right;
  /** The beginning of the digest of the card that they saw. */
  readonly cardPrefix: string;
}

/** pending → approved. Null: it is not pending any more, its time is over, or the card is another one. */
export async function approveDecision(db: Db, id: string, word: Word): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `update decisions
     set status = 'approved', decided_at = countersign_now(), decided_by = $2::json, word_right = $4::json,
       updated_at = countersign_now()
     where id = $1 and status = 'pending' and (expires_at is null or expires_at > countersign_now())
       and starts_with(card_digest, $3)
     returning ${COLUMNS}`,
    [id, JSON.stringify(word.by), word.cardPrefix, JSON.stringify(word.right)],
  );
  return first(rows);
}

/** pending → rejected; the same conditions. */
export async function rejectDecision(db: Db, id: string, word: Word, reason: string | null): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `update decisions
     set status = 'rejected', decided_at = countersign_now(), decided_by = $2::json, word_right = $4::json,
       reason = $5::json, updated_at = countersign_now()
     where id = $1 and status = 'pending' and (expires_at is null or expires_at > countersign_now())
       and starts_with(card_digest, $3)
     returning ${COLUMNS}`,
    [
      id,
      JSON.stringify(word.by),
      word.cardPrefix,
      JSON.stringify(word.right),
      reason === null ? null : JSON.stringify(reason),
    ],
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
