import type { Db } from "../db/pool.ts";
import { digest } from "../digest.ts";
import type { Decision } from "../domain/decision.ts";
import { ERRORS, type ErrorCode } from "../domain/errors.ts";
import { newDeliveryId } from "../domain/ids.ts";
import type { Card } from "../domain/message.ts";
import type { Wake } from "../ports.ts";
import { findCardConversation } from "../store/decisions.ts";
import { insertDeliveries } from "../store/deliveries.ts";
import type { Core } from "./core.ts";

type Bound = Pick<Decision, "id" | "deploymentId" | "agentId" | "tool" | "toolDigest" | "preview" | "inputDigest">;

/** Binds everything a person agrees to, and the code that does it; a button carries its beginning. */
export const cardDigest = (of: Bound): string =>
  digest(JSON.stringify([of.id, of.deploymentId, of.agentId, of.tool, of.toolDigest, of.preview, of.inputDigest]));

/** A decision as its card shows it now. */
export function toCard(decision: Decision): Card {
  const why = decision.reason ?? (decision.errorCode === null ? null : ERRORS[decision.errorCode as ErrorCode].message);
  const note = [why, decision.verifyNote].filter((part) => part !== null).join(" ") || null;
  return {
    decisionId: decision.id,
    tool: decision.tool,
    preview: decision.preview,
    input: decision.input,
    inputDigest: decision.inputDigest,
    cardDigest: decision.cardDigest,
    status: decision.status,
    ...(decision.decidedBy && { decidedBy: decision.decidedBy }),
    ...(decision.decidedAt && { decidedAt: decision.decidedAt }),
    ...(note !== null && { note }),
    ...(decision.record && decision.status !== "pending" && { record: decision.record }),
  };
}

/** Brings the posted card up to what the decision is now (A9). */
export async function redrawCard(core: Core, db: Db, decision: Decision): Promise<Wake[]> {
  if (!decision.deliveryId) return [];
  const conversation = await findCardConversation(db, decision.id);
  if (!conversation) return [];
  await insertDeliveries(db, [
    {
      id: newDeliveryId(core.ids),
      lane: decision.sessionId,
      sessionId: decision.sessionId,
      decisionId: decision.id,
      conversation,
      message: { kind: "card", card: toCard(decision) },
      edits: decision.deliveryId,
    },
  ]);
  return [{ kind: "deliver", id: decision.sessionId }];
}
