import { randomUUID } from "node:crypto";
import type { Pool } from "../../../src/core/db/pool.ts";
import type { DecisionStatus } from "../../../src/core/domain/decision.ts";
import type { DeliveryStatus } from "../../../src/core/domain/delivery.ts";
import type { TurnStatus } from "../../../src/core/domain/turn.ts";

/** Rows written past the store, in any status; the lease, where the status has one, is over. */

/** The fence of every row that was claimed. */
export const FENCE = 7;

const newId = (): string => randomUUID().replaceAll("-", "");

export async function insertSessionRow(pool: Pool, status = "idle"): Promise<string> {
  const id = `ses_${newId()}`;
  await pool.query("insert into deployments (id, manifest) values ('dpl_1', '{}') on conflict do nothing");
  await pool.query(
    "insert into sessions (id, agent_id, deployment_id, source, status) values ($1, 'support', 'dpl_1', 'user', $2)",
    [id, status],
  );
  return id;
}

/** A turn, alone in a session of its own unless one is given. */
export async function insertTurnRow(pool: Pool, status: TurnStatus, sessionId?: string): Promise<string> {
  const id = `trn_${newId()}`;
  const session = sessionId ?? (await insertSessionRow(pool));
  await pool.query(
    `insert into turns (id, session_id, position, status, source, input, input_digest, attempt, fence, lease_until)
     select $1, $2, coalesce(max(position), 0) + 1, $3, 'user', '{"source":"user"}', 'd', 1, $4,
       case when $3 = 'running' then countersign_now() - interval '1 second' end
     from turns where session_id = $2`,
    [id, session, status, FENCE],
  );
  return id;
}

/** A decision whose first attempt, if its status had one, runs under `FENCE`; decidable for a day. */
export async function insertDecisionRow(pool: Pool, status: DecisionStatus): Promise<string> {
  const id = `dec_${newId()}`;
  const turn = await insertTurnRow(pool, "completed");
  const started = ["applying", "applied", "failed", "unconfirmed"].includes(status);
  await pool.query(
    `insert into decisions (id, session_id, turn_id, call_id, message_id, agent_id, deployment_id, tool, tool_digest,
       input, input_digest, preview, card_digest, rule, status, expires_at, decided_at, attempt, fence, lease_until)
     select $1, t.session_id, t.id, $1, 'msg', 'support', 'dpl_1', 'attach', 'd', '{}', 'd', '{"title":"T","facts":[]}',
       'card', '{}', $3, countersign_now() + interval '1 day',
       case when $3 not in ('pending', 'expired') then countersign_now() end, $4::integer,
       case when $4 > 0 then $5::bigint end,
       case when $3 = 'applying' then countersign_now() - interval '1 second' end
     from turns t where t.id = $2`,
    [id, turn, status, started ? 1 : 0, FENCE],
  );
  if (started) {
    await pool.query("insert into decision_attempts (decision_id, attempt, fence) values ($1, 1, $2)", [id, FENCE]);
  }
  return id;
}

/** A delivery, alone in its lane, which is its id. */
export async function insertDeliveryRow(pool: Pool, status: DeliveryStatus): Promise<string> {
  const id = randomUUID();
  await pool.query(
    `insert into deliveries (id, lane, conversation, message, status, attempt, fence, lease_until, sent_at)
     values ($1::uuid, $1::uuid::text, '{}', '{}', $2, 1, $3,
       case when $2 = 'sending' then countersign_now() - interval '1 second' end,
       case when $2 = 'sent' then countersign_now() end)`,
    [id, status, FENCE],
  );
  return id;
}
