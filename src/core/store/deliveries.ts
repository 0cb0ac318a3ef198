import type { Db } from "../db/pool.ts";
import { type ClaimedDelivery, type DeliveryStatus, type NewDelivery, OUTCOME_UNKNOWN } from "../domain/delivery.ts";
import type { Conversation, OutboundMessage } from "../domain/message.ts";

/** Queues messages, in the order given, in one round trip. */
export async function insertDeliveries(db: Db, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  await db.query({
    name: "insert-deliveries",
    text: `insert into deliveries (id, lane, session_id, decision_id, conversation, message, edits, status)
           select d.id, d.lane, d.session_id, d.decision_id, d.conversation::json, d.message::json, d.edits, 'queued'
           from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[])
             with ordinality as d (id, lane, session_id, decision_id, conversation, message, edits, n)
           order by d.n`,
    values: [
      deliveries.map((d) => d.id),
      deliveries.map((d) => d.lane),
      deliveries.map((d) => d.sessionId),
      deliveries.map((d) => d.decisionId),
      deliveries.map((d) => JSON.stringify(d.conversation)),
      deliveries.map((d) => JSON.stringify(d.message)),
      deliveries.map((d) => d.edits),
    ],
  });
}

interface ClaimedRow {
  id: string;
  lane: string;
  session_id: string | null;
  decision_id: string | null;
  conversation: Conversation;
  message: OutboundMessage;
  edits: string | null;
  was: "queued" | "unknown";
  attempt: number;
  age_ms: number;
  fence: number;
  edit_ref: string | null;
}

/**
 * Takes the lane's next delivery if it is due. Null: nothing waits, the first one is not due yet, or another worker
 * has it; the lane never overtakes its first. An unknown one stays unknown and is taken for a look, for as long as the
 * lease lasts.
 */
export async function claimNextDelivery(db: Db, lane: string, leaseMs: number): Promise<ClaimedDelivery | null> {
  const { rows } = await db.query<ClaimedRow>({
    name: "claim-next-delivery",
    text: `with head as (
             select id, status from deliveries
             where lane = $1 and status in ('queued', 'sending', 'unknown')
             order by position limit 1
             for update
           )
           update deliveries d set
             status = case head.status when 'queued' then 'sending' else 'unknown' end,
             lease_until = case head.status when 'queued' then t.until end,
             due_at = case head.status when 'queued' then d.due_at else t.until end,
             fence = nextval('fences'), attempt = d.attempt + 1
           from head, (select countersign_now() + make_interval(secs => $2::double precision / 1000) as until) t
           where d.id = head.id and d.status in ('queued', 'unknown') and d.due_at <= countersign_now()
           returning d.id, d.lane, d.session_id, d.decision_id, d.conversation, d.message, d.edits, d.attempt, d.fence,
             (extract(epoch from countersign_now() - d.created_at) * 1000)::double precision as age_ms,
             head.status as was, (select o.ref from deliveries o where o.id = d.edits) as edit_ref`,
    values: [lane, leaseMs],
  });
  const row = rows[0];
  return row
    ? {
        id: row.id,
        lane: row.lane,
        sessionId: row.session_id,
        decisionId: row.decision_id,
        conversation: row.conversation,
        message: row.message,
        edits: row.edits,
        was: row.was,
        attempt: row.attempt,
        ageMs: row.age_ms,
        fence: Number(row.fence),
        editRef: row.edit_ref,
      }
    : null;
}

type Held = Pick<ClaimedDelivery, "id" | "fence">;

/**
 * sending | unknown → sent. In the same statement the clock of a pending card starts: its time to decide counts from
 * when people could see it (A4).
 */
export async function markSent(db: Db, held: Held, ref: string): Promise<boolean> {
  const { rows } = await db.query<{ moved: boolean }>({
    name: "mark-sent",
    text: `with sent as (
             update deliveries set status = 'sent', ref = $3, sent_at = countersign_now(), lease_until = null, error_code = null
             where id = $1 and fence = $2 and status in ('sending', 'unknown')
             returning id
           ), shown as (
             update decisions d
             set expires_at = countersign_now() + make_interval(secs => (d.rule->>'expiresAfterMs')::double precision / 1000)
             from sent where d.delivery_id = sent.id and d.status = 'pending' and d.expires_at is null
           )
           select exists (select 1 from sent) as moved`,
    values: [held.id, held.fence, ref],
  });
  return rows[0]?.moved ?? false;
}

/** sending | unknown → queued, to be sent again after `delayMs`. */
export async function requeueDelivery(db: Db, held: Held, code: string, delayMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update deliveries set status = 'queued', lease_until = null, error_code = $3,
       due_at = countersign_now() + make_interval(secs => $4::double precision / 1000)
     where id = $1 and fence = $2 and status in ('sending', 'unknown')`,
    [held.id, held.fence, code, delayMs],
  );
  return rowCount === 1;
}

/** sending | unknown → unknown, to be looked up after `delayMs`. */
export async function markUnknown(db: Db, held: Held, code: string, delayMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update deliveries set status = 'unknown', lease_until = null, error_code = $3,
       due_at = countersign_now() + make_interval(secs => $4::double precision / 1000)
     where id = $1 and fence = $2 and status in ('sending', 'unknown')`,
    [held.id, held.fence, code, delayMs],
  );
  return rowCount === 1;
}

/** sending | unknown → dead; operators see it. */
export async function markDead(db: Db, held: Held, code: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update deliveries set status = 'dead', lease_until = null, error_code = $3, due_at = countersign_now()
     where id = $1 and fence = $2 and status in ('sending', 'unknown')`,
    [held.id, held.fence, code],
  );
  return rowCount === 1;
}

/** sending → unknown for every delivery whose worker stopped. Returns their lanes. */
export async function loseDeliveries(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ lane: string }>(
    `update deliveries set status = 'unknown', lease_until = null, error_code = 'worker_lost', due_at = countersign_now()
     where status = 'sending' and lease_until < countersign_now() returning lane`,
  );
  return rows.map((r) => r.lane);
}

/**
 * dead → queued for the cards of pending decisions that were given up `afterMs` ago (A11), or → unknown where nobody
 * could say whether they were posted. Returns their lanes.
 */
export async function offerCardsAgain(db: Db, afterMs: number): Promise<string[]> {
  const { rows } = await db.query<{ lane: string }>(
    `update deliveries d
     set status = case d.error_code when $2 then 'unknown' else 'queued' end, due_at = countersign_now()
     from decisions x
     where x.delivery_id = d.id and x.status = 'pending' and d.status = 'dead'
       and d.due_at <= countersign_now() - make_interval(secs => $1::double precision / 1000)
     returning d.lane`,
    [afterMs, OUTCOME_UNKNOWN],
  );
  return rows.map((r) => r.lane);
}

/** Where a delivery's message is; null while it was not sent. */
export async function findRef(db: Db, id: string): Promise<string | null> {
  const { rows } = await db.query<{ ref: string | null }>("select ref from deliveries where id = $1::uuid", [id]);
  return rows[0]?.ref ?? null;
}

/** How a delivery stands, and the last reason it was not sent. Null: there is no such delivery. */
export async function findDeliveryState(
  db: Db,
  id: string,
): Promise<{ status: DeliveryStatus; code: string | null } | null> {
  const { rows } = await db.query<{ status: DeliveryStatus; code: string | null }>(
    "select status, error_code as code from deliveries where id = $1::uuid",
    [id],
  );
  return rows[0] ?? null;
}

/** Lanes with something due since `olderThanMs`, longest first: their wake was lost, or its delay is over. */
export async function listSleepingLanes(db: Db, olderThanMs: number, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ lane: string }>(
    `select lane from deliveries
     where status in ('queued', 'unknown')
       and due_at < countersign_now() - make_interval(secs => $1::double precision / 1000)
     group by lane order by min(due_at) limit $2`,
    [olderThanMs, limit],
  );
  return rows.map((r) => r.lane);
}
