import type { Db } from "../db/pool.ts";
import type { Decision } from "../domain/decision.ts";
import type { Json } from "../domain/json.ts";
import { COLUMNS, type DecisionRow, first } from "./decisionRow.ts";

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

/**
 * Takes the look that is due at an unconfirmed write, until `leaseMs` are over: a target that lets everybody wait is not
 * asked by everybody. Null: none is due, or somebody looks.
 */
export async function claimLook(db: Db, id: string, leaseMs: number): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `update decisions set verify_due_at = countersign_now() + make_interval(secs => $2::double precision / 1000)
     where id = $1 and status = 'unconfirmed'
       and (verify_due_at <= countersign_now() or (verify_due_at is null and verified_at is null))
     returning ${COLUMNS}`,
    [id, leaseMs],
  );
  return first(rows);
}

export interface Look {
  /** The attempt that had been made when it looked. */
  readonly attempt: number;
  /** How often it had looked since. */
  readonly looks: number;
  readonly note: string | null;
  /** Look again after so many milliseconds; null: it has said all it can. */
  readonly againMs: number | null;
}

/**
 * An unconfirmed write that `verify` looked at and did not find done; it stays as it is. Null: it is not unconfirmed
 * any more, or was started again or looked at since, and what was seen before says nothing about that.
 */
export async function noteVerified(
  db: Db,
  id: string,
  { attempt, looks, note, againMs }: Look,
): Promise<Decision | null> {
  const { rows } = await db.query<DecisionRow>(
    `update decisions
     set verified_at = countersign_now(), verify_note = $4::json, verify_looks = verify_looks + 1,
       verify_due_at = countersign_now() + make_interval(secs => $5::double precision / 1000)
     where id = $1 and attempt = $2 and verify_looks = $3 and status = 'unconfirmed' returning ${COLUMNS}`,
    [id, attempt, looks, note === null ? null : JSON.stringify(note), againMs],
  );
  return first(rows);
}

/** Unconfirmed writes that nobody has verified since they became so, or that are due for another look. */
export async function listUnverified(db: Db, olderThanMs: number, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from decisions
     where status = 'unconfirmed' and (verify_due_at <= countersign_now() or (verify_due_at is null
       and verified_at is null and updated_at < countersign_now() - make_interval(secs => $1::double precision / 1000)))
     order by verify_due_at nulls first, updated_at limit $2`,
    [olderThanMs, limit],
  );
  return rows.map((r) => r.id);
}
