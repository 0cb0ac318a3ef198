import type { Db } from "../db/pool.ts";
import { digest } from "../digest.ts";
import { somebodyMayDecide } from "../domain/deciders.ts";
import type { ErrorCode } from "../domain/errors.ts";
import type { NewEvent } from "../domain/event.ts";
import type { OpenCall } from "../domain/history.ts";
import { newDeliveryId, newId } from "../domain/ids.ts";
import type { Json } from "../domain/json.ts";
import { ruleOf } from "../domain/manifest.ts";
import type { Preview } from "../domain/message.ts";
import type { Wake } from "../ports.ts";
import { insertDecision } from "../store/decisions.ts";
import { insertDeliveries } from "../store/deliveries.ts";
import { findDeployment } from "../store/deployments.ts";
import { cardDigest, toCard } from "./card.ts";
import type { WorkerCore } from "./core.ts";
import type { TurnAtWork } from "./turnAtWork.ts";

export interface Proposal {
  readonly call: OpenCall;
  /** Why it was not made. */
  readonly refused: ErrorCode | null;
  readonly events: readonly NewEvent[];
  readonly insert: (db: Db) => Promise<void>;
}

/** Everything an approval binds, frozen now: arguments, card, tool, deployment. */
export async function propose(
  core: WorkerCore,
  { session, turn }: TurnAtWork,
  call: OpenCall,
  preview: Preview,
): Promise<Proposal> {
  const deployment = await findDeployment(core.pool, session.deploymentId);
  const declared = deployment?.manifest.agents
    .find((a) => a.id === session.agentId)
    ?.tools.find((t) => t.name === call.tool);
  const none = { call, events: [], insert: async () => {} };
  if (!deployment || !declared) return { ...none, refused: "tool_unknown" };
  const { deciders, requesterMayDecide, expiresAfterMs, applyTimeoutMs } = ruleOf(
    deployment.manifest.approvals,
    call.tool,
  );
  const rule = { deciders, requesterMayDecide, expiresAfterMs, applyTimeoutMs };
  const { conversation } = session;
  if (!conversation || !somebodyMayDecide({ person: turn.person, rule }, conversation))
    return { ...none, refused: "nobody_to_ask" };

  const id = newId(core.ids, "dec");
  const input = JSON.stringify(call.input);
  const inputDigest = digest(input);
  const deliveryId = newDeliveryId(core.ids);
  const bound = {
    id,
    sessionId: session.id,
    turnId: turn.id,
    callId: call.callId,
    messageId: call.messageId,
    agentId: session.agentId,
    deploymentId: session.deploymentId,
    tool: call.tool,
    toolDigest: declared.digest,
    input,
    inputDigest,
    preview,
    person: turn.person,
    rule,
    deliveryId,
  };
  const decision = { ...bound, cardDigest: cardDigest(bound) };
  const card = toCard({
    ...decision,
    status: "pending",
    expiresAt: null,
    decidedAt: null,
    decidedBy: null,
    reason: null,
    attempt: 0,
    errorCode: null,
    result: null,
    verifyNote: null,
    verifyLooks: 0,
    record: null,
    createdAt: "",
    updatedAt: "",
  });
  return {
    call,
    refused: null,
    events: [
      {
        type: "approval.proposed",
        turnId: turn.id,
        data: {
          decisionId: id,
          callId: call.callId,
          tool: call.tool,
          preview: preview as unknown as Json,
          inputDigest,
        },
      },
    ],
    insert: async (db) => {
      if (!(await insertDecision(db, decision))) return;
      await insertDeliveries(db, [
        {
          id: deliveryId,
          lane: session.id,
          sessionId: session.id,
          decisionId: id,
          conversation,
          message: { kind: "card", card },
          edits: null,
        },
      ]);
    },
  };
}

export async function insertProposals(
  db: Db,
  { session }: TurnAtWork,
  proposals: readonly Proposal[],
): Promise<Wake[]> {
  for (const proposal of proposals) await proposal.insert(db);
  return proposals.some((p) => p.refused === null) ? [{ kind: "deliver", id: session.id }] : [];
}
