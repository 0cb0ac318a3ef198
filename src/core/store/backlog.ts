import type { Db } from "../db/pool.ts";
import type { DecisionStatus } from "../domain/decision.ts";
import type { DeliveryStatus } from "../domain/delivery.ts";
import type { TurnStatus } from "../domain/turn.ts";

/** What is under way or stuck, counted. A lag is how long the oldest has been due, in seconds; 0: nothing is. */
export interface Backlog {
  readonly decisions: Readonly<Record<WaitingDecision, number>>;
  /** Approved, or asked to run again, and not started. */
  readonly startLag: number;
  /** Pending, and the card has reached nobody yet (A11). */
  readonly undeliveredCards: number;
  readonly deliveries: Readonly<Record<OpenDelivery, number>>;
  readonly deliveryLag: number;
  readonly turns: Readonly<Record<OpenTurn, number>>;
  /** Of turns that wait for nothing: neither for a question nor for another turn. */
  readonly turnLag: number;
}

type WaitingDecision = Extract<DecisionStatus, "pending" | "approved" | "applying" | "unconfirmed">;
type OpenDelivery = Exclude<DeliveryStatus, "sent">;
type OpenTurn = Extract<TurnStatus, "queued" | "running">;

/** One statement, one snapshot. */
export async function readBacklog(db: Db): Promise<Backlog> {
  const { rows } = await db.query<{ backlog: Backlog }>(
    `select json_build_object(
       'decisions', (
         select json_build_object(
           'pending', count(*) filter (where status = 'pending'),
           'approved', count(*) filter (where status = 'approved'),
           'applying', count(*) filter (where status = 'applying'),
           'unconfirmed', count(*) filter (where status = 'unconfirmed'))
         from decisions where status in ('pending', 'approved', 'applying', 'unconfirmed')),
       'startLag', ${lag("updated_at")} from decisions
         where status = 'approved' or (status = 'unconfirmed' and again_by is not null)),
       'undeliveredCards', (select count(*) from decisions where status = 'pending' and expires_at is null),
       'deliveries', (
         select json_build_object(
           'queued', count(*) filter (where status = 'queued'),
           'sending', count(*) filter (where status = 'sending'),
           'unknown', count(*) filter (where status = 'unknown'),
           'dead', count(*) filter (where status = 'dead'))
         from deliveries where status in ('queued', 'sending', 'unknown', 'dead')),
       'deliveryLag', ${lag("due_at")} from deliveries where status in ('queued', 'unknown')),
       'turns', (
         select json_build_object(
           'queued', count(*) filter (where status = 'queued'),
           'running', count(*) filter (where status = 'running'))
         from turns where status in ('queued', 'running')),
       'turnLag', ${lag("t.created_at")} from turns t
         join sessions s on s.id = t.session_id and s.status in ('idle', 'running', 'stopping')
         where t.status = 'queued'
           and not exists (select 1 from turns r where r.session_id = t.session_id and r.status = 'running')
           and not exists (select 1 from questions q where q.session_id = t.session_id and q.status = 'open'))
     ) as backlog`,
  );
  const [row] = rows;
  if (!row) throw new Error("a statement that returns one row returned none");
  return row.backlog;
}

/** The beginning of a sub-select: seconds since the oldest `time` that has passed. */
const lag = (time: string): string =>
  `(select greatest(0, coalesce(extract(epoch from countersign_now() - min(${time})), 0))::double precision`;
