import type { Decision, DecisionStatus } from "../domain/decision.ts";
import type { Json } from "../domain/json.ts";
import type { ApprovalRule } from "../domain/manifest.ts";
import type { Person, Preview } from "../domain/message.ts";

/** Arguments and keys in their stored text: the approval binds bytes. */
export const COLUMNS = `id, session_id, turn_id, call_id, message_id, agent_id, deployment_id, tool, tool_digest,
  input::text as input, input_digest, preview, card_digest, person, rule, delivery_id, status, expires_at, decided_at,
  decided_by, reason, attempt, fence, again_by, error_code, result, verify_note, verify_looks,
  record_seq, record_hash, created_at, updated_at`;

export interface DecisionRow {
  id: string;
  session_id: string;
  turn_id: string;
  call_id: string;
  message_id: string;
  agent_id: string;
  deployment_id: string;
  tool: string;
  tool_digest: string;
  input: string;
  input_digest: string;
  preview: Preview;
  card_digest: string;
  person: Person | null;
  rule: ApprovalRule;
  delivery_id: string | null;
  status: DecisionStatus;
  expires_at: Date | null;
  decided_at: Date | null;
  decided_by: Person | null;
  reason: string | null;
  attempt: number;
  fence: number | null;
  again_by: Person | null;
  error_code: string | null;
  result: Json;
  verify_note: string | null;
  verify_looks: number;
  record_seq: number | null;
  record_hash: string | null;
  created_at: Date;
  updated_at: Date;
}

export const toDecision = (row: DecisionRow): Decision => ({
  id: row.id,
  sessionId: row.session_id,
  turnId: row.turn_id,
  callId: row.call_id,
  messageId: row.message_id,
  agentId: row.agent_id,
  deploymentId: row.deployment_id,
  tool: row.tool,
  toolDigest: row.tool_digest,
  input: row.input,
  inputDigest: row.input_digest,
  preview: row.preview,
  cardDigest: row.card_digest,
  person: row.person,
  rule: row.rule,
  deliveryId: row.delivery_id,
  status: row.status,
  expiresAt: row.expires_at?.toISOString() ?? null,
  decidedAt: row.decided_at?.toISOString() ?? null,
  decidedBy: row.decided_by,
  reason: row.reason,
  attempt: row.attempt,
  errorCode: row.error_code,
  result: row.result,
  verifyNote: row.verify_note,
  verifyLooks: row.verify_looks,
  record: row.record_seq === null || row.record_hash === null ? null : { seq: row.record_seq, hash: row.record_hash },
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** What an update that names its from-states answers: the row it changed, or null. */
export const first = (rows: readonly DecisionRow[]): Decision | null => (rows[0] ? toDecision(rows[0]) : null);
