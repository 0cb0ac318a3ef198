import type { Db } from "../db/pool.ts";
import type { DeliveryStatus } from "../domain/delivery.ts";

/** What somebody should look at. Times are ISO 8601, UTC. */
export interface Stuck {
  readonly decisions: readonly StuckDecision[];
  readonly deliveries: readonly StuckDelivery[];
  readonly turns: readonly StuckTurn[];
}

export interface StuckDecision {
  readonly id: string;
  readonly sessionId: string;
  readonly tool: string;
  /** Approved and not started; started and never reported; or pending, and its card never reached anybody (A11). */
  readonly why: "approved" | "unconfirmed" | "undelivered";
  readonly since: string;
  /** Of the write, or of the card's delivery. */
  readonly code: string | null;
}

export interface StuckDelivery {
  readonly id: string;
  readonly sessionId: string | null;
  readonly decisionId: string | null;
  readonly status: Extract<DeliveryStatus, "unknown" | "dead">;
  readonly attempt: number;
  readonly since: string;
  readonly code: string | null;
}

/** It runs, and its worker stopped renewing. */
export interface StuckTurn {
  readonly id: string;
  readonly sessionId: string;
  readonly attempt: number;
  readonly leaseUntil: string;
}

/**
 * The oldest `limit` of each kind. What the next sweep or a worker that is merely busy will take is left out: approved
 * and undelivered count after `olderThanMs`.
 */
export async function listStuck(db: Db, olderThanMs: number, limit: number): Promise<Stuck> {
  return {
    decisions: await listStuckDecisions(db, olderThanMs, limit),
    deliveries: await listStuckDeliveries(db, limit),
    turns: await listStuckTurns(db, limit),
  };
}

async function listStuckDecisions(db: Db, olderThanMs: number, limit: number): Promise<StuckDecision[]> {
  const { rows } = await db.query<{
    id: string;
    session_id: string;
    tool: string;
    why: StuckDecision["why"];
    since: Date;
    code: string | null;
  }>(
    `select x.id, x.session_id, x.tool, x.updated_at as since,
       case x.status when 'pending' then 'undelivered' else x.status end as why,
       case x.status when 'pending' then card.error_code else x.error_code end as code
     from decisions x left join deliveries card on card.id = x.delivery_id
     where x.status = 'unconfirmed'
       or ((x.status = 'approved' or (x.status = 'pending' and x.expires_at is null))
         and x.updated_at < countersign_now() - make_interval(secs => $1::double precision / 1000))
     order by x.updated_at, x.id limit $2`,
    [olderThanMs, limit],
  );
  return rows.map((r) => ({
    id: r.id,
    sessionId: r.session_id,
    tool: r.tool,
    why: r.why,
    since: r.since.toISOString(),
    code: r.code,
  }));
}

async function listStuckDeliveries(db: Db, limit: number): Promise<StuckDelivery[]> {
  const { rows } = await db.query<{
    id: string;
    session_id: string | null;
    decision_id: string | null;
    status: StuckDelivery["status"];
    attempt: number;
    created_at: Date;
    error_code: string | null;
  }>(
    `select id, session_id, decision_id, status, attempt, created_at, error_code from deliveries
     where status in ('unknown', 'dead') order by created_at, id limit $1`,
    [limit],
  );
  return rows.map((r) => ({
    id: r.id,
    sessionId: r.session_id,
    decisionId: r.decision_id,
    status: r.status,
    attempt: r.attempt,
    since: r.created_at.toISOString(),
    code: r.error_code,
  }));
}

async function listStuckTurns(db: Db, limit: number): Promise<StuckTurn[]> {
  const { rows } = await db.query<{ id: string; session_id: string; attempt: number; lease_until: Date }>(
    `select id, session_id, attempt, lease_until from turns
     where status = 'running' and lease_until < countersign_now() order by lease_until, id limit $1`,
    [limit],
  );
  return rows.map((r) => ({
    id: r.id,
    sessionId: r.session_id,
    attempt: r.attempt,
    leaseUntil: r.lease_until.toISOString(),
  }));
}
