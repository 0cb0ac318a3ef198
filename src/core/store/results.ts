import type { Db } from "../db/pool.ts";
import type { Json } from "../domain/json.ts";
import type { ResultRecord } from "../domain/result.ts";

export interface NewResult {
  readonly id: string;
  readonly sessionId: string;
  readonly callId: string;
  readonly heldBy: { readonly turnId: string; readonly fence: number };
  /** JSON text, and its SHA-256. */
  readonly data: string;
  readonly digest: string;
}

/**
 * Keeps a report and makes it the session's result, in one statement. `refused`: its turn does not run under this fence
 * any more, or was interrupted (T8). The same call again is `kept` where it says the same, and else a `conflict` (T9).
 */
export async function insertResult(db: Db, r: NewResult): Promise<"kept" | "refused" | "conflict"> {
  const { rows } = await db.query<{ runs: boolean; kept: boolean; before: string | null }>(
    `with turn as (
       select id from turns where id = $3 and fence = $4::bigint and status = 'running' and not cancel_requested
     ), kept as (
       insert into session_results (id, session_id, turn_id, call_id, data, data_digest)
       select $1, $2, turn.id, $5, $6::json, $7 from turn
       on conflict (session_id, call_id) do nothing
       returning turn_id, call_id, reported_at, data
     ), newest as (
       update sessions set result = json_build_object(
         'turnId', kept.turn_id, 'callId', kept.call_id, 'reportedAt', iso8601(kept.reported_at), 'data', kept.data)
       from kept where sessions.id = $2
     )
     select exists (select from turn) as runs, exists (select from kept) as kept,
       (select data_digest from session_results where session_id = $2 and call_id = $5) as before`,
    [r.id, r.sessionId, r.heldBy.turnId, r.heldBy.fence, r.callId, r.data, r.digest],
  );
  const [row] = rows;
  if (!row?.runs) return "refused";
  return row.kept || row.before === r.digest ? "kept" : "conflict";
}

const COLUMNS = "id, session_id, turn_id, call_id, reported_at, data";

interface ResultRow {
  id: string;
  session_id: string;
  turn_id: string;
  call_id: string;
  reported_at: Date;
  data: Json;
}

const toResult = (row: ResultRow): ResultRecord => ({
  id: row.id,
  sessionId: row.session_id,
  turnId: row.turn_id,
  callId: row.call_id,
  reportedAt: row.reported_at.toISOString(),
  data: row.data,
});

export interface ResultFilter {
  readonly sessionId: string;
  readonly turnId?: string;
  readonly before?: { readonly createdAt: string; readonly id: string };
  readonly limit: number;
}

/** Newest first. */
export async function listResults(db: Db, filter: ResultFilter): Promise<ResultRecord[]> {
  const { rows } = await db.query<ResultRow>(
    `select ${COLUMNS} from session_results
     where session_id = $1 and ($2::text is null or turn_id = $2)
       and ($3::timestamptz is null or (reported_at, id) < ($3::timestamptz, $4::text))
     order by reported_at desc, id desc limit $5`,
    [
      filter.sessionId,
      filter.turnId ?? null,
      filter.before?.createdAt ?? null,
      filter.before?.id ?? null,
      filter.limit,
    ],
  );
  return rows.map(toResult);
}

export async function findResult(db: Db, sessionId: string, id: string): Promise<ResultRecord | null> {
  const { rows } = await db.query<ResultRow>(
    `select ${COLUMNS} from session_results where session_id = $1 and id = $2`,
    [sessionId, id],
  );
  return rows[0] ? toResult(rows[0]) : null;
}
