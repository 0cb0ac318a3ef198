import type { Db } from "../db/pool.ts";
import type { Decision, DecisionStatus } from "../domain/decision.ts";
import type { Json } from "../domain/json.ts";
import type { Person } from "../domain/message.ts";
import { COLUMNS, type DecisionRow, first, toDecision } from "./decisionRow.ts";
import type { Word } from "./decisions.ts";

/** unconfirmed stays unconfirmed, and one named person asked for one more attempt. Null: somebody was first. */
export async function authoriseAgain(db: Db, id: string, word: Word): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `update decisions set again_by = $2::json, word_right = $4::json, updated_at = countersign_now()
     where id = $1 and status = 'unconfirmed' and again_by is null and starts_with(card_digest, $3)
     returning ${COLUMNS}`,
    [id, JSON.stringify(word.by), word.cardPrefix, JSON.stringify(word.right)],
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
         verified_at = null, verify_note = null, verify_due_at = null, verify_looks = 0,
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
 * other, or a report of failure, it is kept as evidence alone; one that repeats what the attempt ended with, because
 * nobody answered the first time, changes nothing. Null: nothing was settled.
 */
export async function reportLate(db: Db, id: string, fence: number, end: AttemptEnd): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `with noted as (
       update decision_attempts set evidence = json_build_object('reported', $3::text, 'at', countersign_now())
       where decision_id = $1 and fence = $2 and outcome is distinct from $3::text
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
