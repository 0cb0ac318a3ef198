import type { Db } from "../db/pool.ts";
import type { ErrorCode } from "../domain/errors.ts";
import type { EventData } from "../domain/event.ts";
import type { AgentInput } from "../domain/input.ts";
import type { Person } from "../domain/message.ts";
import type { ClaimedTurn, Turn, TurnMode, TurnStatus } from "../domain/turn.ts";

const COLUMNS = `id, session_id, position, status, outcome, mode, input, person, idempotency_key, error_code,
  attempt, fence, created_at, settled_at`;

interface TurnRow {
  id: string;
  session_id: string;
  position: number;
  status: TurnStatus;
  outcome: "text" | "question" | null;
  mode: TurnMode;
  input: AgentInput;
  person: Person | null;
  idempotency_key: string | null;
  error_code: ErrorCode | null;
  attempt: number;
  fence: number | null;
  created_at: Date;
  settled_at: Date | null;
}

const toTurn = (row: TurnRow): Turn => ({
  id: row.id,
  sessionId: row.session_id,
  position: Number(row.position),
  status: row.status,
  outcome: row.outcome,
  mode: row.mode,
  input: row.input,
  person: row.person,
  idempotencyKey: row.idempotency_key,
  errorCode: row.error_code,
  createdAt: row.created_at.toISOString(),
  settledAt: row.settled_at?.toISOString() ?? null,
});

export interface NewTurn {
  readonly id: string;
  readonly sessionId: string;
  readonly mode: TurnMode;
  /** It carries the answer to the question that was open. */
  readonly answers: boolean;
  readonly input: AgentInput;
  readonly inputDigest: string;
  readonly person: Person | null;
  readonly idempotencyKey: string | null;
  /** What its `message.received` says. */
  readonly received: EventData;
}

/** Queued, and said so in the log. The session must be locked: positions are counted under its lock. */
export async function insertTurn(db: Db, turn: NewTurn): Promise<Turn> {
  const { rows } = await db.query<TurnRow>({
    name: "queue-turn",
    text: `select ${COLUMNS} from queue_turn($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      turn.sessionId,
      turn.id,
      turn.mode,
      turn.answers,
      turn.input.source,
      JSON.stringify(turn.input),
      turn.inputDigest,
      turn.person && JSON.stringify(turn.person),
      turn.idempotencyKey,
      JSON.stringify(turn.received),
    ],
  });
  return toTurn(only(rows));
}

export async function findTurn(db: Db, id: string): Promise<Turn | null> {
  const { rows } = await db.query<TurnRow>(`select ${COLUMNS} from turns where id = $1`, [id]);
  return rows[0] ? toTurn(rows[0]) : null;
}

export async function findTurnByKey(
  db: Db,
  sessionId: string,
  idempotencyKey: string,
): Promise<{ turn: Turn; inputDigest: string } | null> {
  const { rows } = await db.query<TurnRow & { input_digest: string }>(
    `select ${COLUMNS}, input_digest from turns where session_id = $1 and idempotency_key = $2`,
    [sessionId, idempotencyKey],
  );
  return rows[0] ? { turn: toTurn(rows[0]), inputDigest: rows[0].input_digest } : null;
}

/** The newest turns first. */
export async function listTurns(db: Db, sessionId: string, limit: number): Promise<Turn[]> {
  const { rows } = await db.query<TurnRow>(
    `select ${COLUMNS} from turns where session_id = $1 order by position desc limit $2`,
    [sessionId, limit],
  );
  return rows.map(toTurn);
}

export interface Activity {
  readonly activeTurnId: string | null;
  readonly queued: number;
  readonly lastSettledTurn: { readonly id: string; readonly status: TurnStatus } | null;
}

export async function readActivity(db: Db, sessionId: string): Promise<Activity> {
  const { rows } = await db.query<{ active: string | null; queued: number; settled: Activity["lastSettledTurn"] }>(
    `select
       (select id from turns where session_id = $1 and status = 'running') as active,
       (select count(*)::integer from turns where session_id = $1 and status = 'queued') as queued,
       (select json_build_object('id', id, 'status', status) from turns
        where session_id = $1 and settled_at is not null order by settled_at desc, position desc limit 1) as settled`,
    [sessionId],
  );
  const row = only(rows);
  return { activeTurnId: row.active, queued: row.queued, lastSettledTurn: row.settled };
}

/**
 * Starts the session's next turn: an answer first, else the oldest, and none while a question is open or another turn
 * runs. Null: there is nothing to start. One round trip, which is a transaction of its own.
 */
export async function claimNextTurn(db: Db, sessionId: string, leaseMs: number): Promise<ClaimedTurn | null> {
  const { rows } = await db.query<TurnRow>({
    name: "claim-turn",
    text: `select ${COLUMNS} from claim_turn($1, make_interval(secs => $2::double precision / 1000))`,
    values: [sessionId, leaseMs],
  });
  const row = rows[0];
  return row ? { ...toTurn(row), fence: Number(row.fence), attempt: row.attempt } : null;
}

export interface Held {
  readonly id: string;
  readonly fence: number;
}

/**
 * Renews the leases of everything a worker runs, in one round trip. A claim whose fence is missing from the answer is
 * lost to this worker; `cancelRequested` asks it to stop.
 */
export async function renewTurns(
  db: Db,
  held: readonly Held[],
  leaseMs: number,
): Promise<{ fence: number; cancelRequested: boolean }[]> {
  const { rows } = await db.query<{ fence: number; cancel_requested: boolean }>({
    name: "renew-turns",
    text: `update turns t set lease_until = countersign_now() + make_interval(secs => $3::double precision / 1000)
           from unnest($1::text[], $2::bigint[]) as h (id, fence)
           where t.id = h.id and t.fence = h.fence and t.status = 'running'
           returning t.fence, t.cancel_requested`,
    values: [held.map((h) => h.id), held.map((h) => h.fence), leaseMs],
  });
  return rows.map((r) => ({ fence: Number(r.fence), cancelRequested: r.cancel_requested }));
}

export interface Settlement {
  readonly status: "completed" | "failed" | "cancelled";
  readonly outcome?: "text" | "question";
  readonly errorCode?: ErrorCode;
}

/**
 * running → completed | failed | cancelled, under its fence. Whatever its worker made of it, a turn that was asked to
 * stop ends as cancelled (S3, S4). Returns how it ended; null: the turn is somebody else's now.
 */
export async function settleTurn(db: Db, held: Held, settlement: Settlement): Promise<Settlement | null> {
  const { rows } = await db.query<{ status: Settlement["status"] }>({
    name: "settle-turn",
    text: `update turns
           set status = case when cancel_requested then 'cancelled' else $3 end,
               outcome = case when cancel_requested then null else $4 end,
               error_code = case when cancel_requested then null else $5 end,
               lease_until = null, settled_at = countersign_now()
           where id = $1 and fence = $2 and status = 'running'
           returning status`,
    values: [held.id, held.fence, settlement.status, settlement.outcome ?? null, settlement.errorCode ?? null],
  });
  const row = rows[0];
  if (!row) return null;
  return row.status === settlement.status ? settlement : { status: row.status };
}

/** running → queued, once its lease ran out. Null: it has not. The session must be locked. */
export async function requeueLostTurn(db: Db, id: string): Promise<{ cancelRequested: boolean } | null> {
  const { rows } = await db.query<{ cancel_requested: boolean }>(
    `update turns set status = 'queued', lease_until = null
     where id = $1 and status = 'running' and lease_until < countersign_now()
     returning cancel_requested`,
    [id],
  );
  return rows[0] ? { cancelRequested: rows[0].cancel_requested } : null;
}

/** running → queued by the worker that holds it, when it shuts down. False: not its own any more, or asked to stop. */
export async function handBackTurn(db: Db, held: Held): Promise<boolean> {
  const { rowCount } = await db.query(
    `update turns set status = 'queued', lease_until = null, attempt = attempt - 1
     where id = $1 and fence = $2 and status = 'running' and not cancel_requested`,
    [held.id, held.fence],
  );
  return rowCount === 1;
}

/** queued → failed | cancelled, for a turn that will not be resumed. */
export async function settleQueuedTurn(db: Db, id: string, settlement: Settlement): Promise<boolean> {
  const { rowCount } = await db.query(
    `update turns set status = $2, error_code = $3, settled_at = countersign_now()
     where id = $1 and status = 'queued'`,
    [id, settlement.status, settlement.errorCode ?? null],
  );
  return rowCount === 1;
}

/** Asks the worker of the running turn to stop. Null: nothing runs. */
export async function requestCancel(db: Db, sessionId: string): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    "update turns set cancel_requested = true where session_id = $1 and status = 'running' returning id",
    [sessionId],
  );
  return rows[0]?.id ?? null;
}

/** Whether anything waits to steer the running turn. */
export async function hasSteers(db: Db, sessionId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "has-steers",
    text: "select from turns where session_id = $1 and status = 'queued' and mode = 'steer' limit 1",
    values: [sessionId],
  });
  return rowCount === 1;
}

/** queued → cancelled for every turn of the session that `which` selects; returns them in their order. */
export async function cancelQueued(db: Db, sessionId: string, which: "all" | "steers" | "chat"): Promise<Turn[]> {
  const { rows } = await db.query<TurnRow>(
    `update turns set status = 'cancelled', settled_at = countersign_now()
     where session_id = $1 and status = 'queued'
       and ($2 = 'all' or (not answers and (($2 = 'steers' and mode = 'steer') or ($2 = 'chat' and source = 'channel'))))
     returning ${COLUMNS}`,
    [sessionId, which],
  );
  return rows.map(toTurn).sort((a, b) => a.position - b.position);
}

/** Turns whose worker stopped renewing. */
export async function listLostTurns(
  db: Db,
  limit: number,
): Promise<{ id: string; sessionId: string; attempt: number }[]> {
  const { rows } = await db.query<{ id: string; session_id: string; attempt: number }>(
    `select id, session_id, attempt from turns
     where status = 'running' and lease_until < countersign_now() order by lease_until limit $1`,
    [limit],
  );
  return rows.map((r) => ({ id: r.id, sessionId: r.session_id, attempt: r.attempt }));
}

/** Sessions with a turn that waits for nothing and was not started since `olderThanMs`: their wake was lost. */
export async function listSleepingSessions(db: Db, olderThanMs: number, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ session_id: string }>(
    `select distinct t.session_id from turns t
     join sessions s on s.id = t.session_id and s.status in ('idle', 'running', 'stopping')
     where t.status = 'queued' and t.created_at < countersign_now() - make_interval(secs => $1::double precision / 1000)
       and not exists (select 1 from turns r where r.session_id = t.session_id and r.status = 'running')
       and not exists (select 1 from questions q where q.session_id = t.session_id and q.status = 'open')
     limit $2`,
    [olderThanMs, limit],
  );
  return rows.map((r) => r.session_id);
}

function only<T>(rows: readonly T[]): T {
  const row = rows[0];
  if (!row) throw new Error("a statement that returns one row returned none");
  return row;
}
