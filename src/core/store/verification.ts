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
