import type { Db } from "../db/pool.ts";
import type { Decision } from "../domain/decision.ts";
import { ERRORS, type ErrorCode } from "../domain/errors.ts";
import type { EventData, EventType } from "../domain/event.ts";
import { isOpen, type Session } from "../domain/session.ts";
import type { Wake } from "../ports.ts";
import { appendEvents } from "../store/events.ts";
import { redrawCard } from "./card.ts";
import type { Core } from "./core.ts";
import { queueTurn } from "./queueTurn.ts";

type Outcome = "applied" | "failed" | "rejected" | "expired" | "unconfirmed";

const EVENT: Record<Outcome, EventType> = {
  applied: "approval.applied",
  failed: "approval.failed",
  rejected: "approval.rejected",
  expired: "approval.expired",
  unconfirmed: "approval.unconfirmed",
};

/**
 * Logs what became of a decision, with `more` beside it, redraws its card, and tells a living session (A9). The session
 * must be locked.
 */
export async function reportOutcome(
  core: Core,
  db: Db,
  session: Session,
  decision: Decision,
  more: EventData = {},
): Promise<Wake[]> {
  const outcome = decision.status as Outcome;
  await appendEvents(db, {
    sessionId: session.id,
    events: [
      {
        type: EVENT[outcome],
        turnId: decision.turnId,
        data: {
          decisionId: decision.id,
          callId: decision.callId,
          tool: decision.tool,
          ...(decision.attempt > 0 && { attempt: decision.attempt }),
          ...(decision.decidedBy && { by: { ...decision.decidedBy } }),
          ...(decision.reason !== null && { reason: decision.reason }),
          ...(decision.errorCode !== null && { code: decision.errorCode }),
          ...(outcome === "applied" && { result: decision.result }),
          ...more,
        },
      },
    ],
  });
  const drawn = await redrawCard(core, db, decision);
  // The tool itself may know what became of it (A5).
  if (outcome === "unconfirmed") drawn.push({ kind: "verify", id: decision.id });
  if (!isOpen(session.status)) return drawn;
  const told = await queueTurn(core, db, {
    sessionId: session.id,
    // It inherits the requester of the decision it reports.
    person: decision.person,
    input: { source: "system", text: sentence(outcome, decision), payload: { decisionId: decision.id, outcome } },
  });
  return [...drawn, ...told.wakes];
}

/** For the model; what people read is the card. */
function sentence(outcome: Outcome, { preview, reason, errorCode, result }: Decision): string {
  const change = `The proposed change "${preview.title}"`;
  const why = errorCode === null ? "" : ` ${ERRORS[errorCode as ErrorCode].message}`;
  switch (outcome) {
    case "applied":
      return `${change} was approved and applied. Result: ${JSON.stringify(result)}`;
    case "failed":
      return `${change} was approved, but it was not applied.${why}`;
    case "rejected":
      return `${change} was rejected.${reason === null ? "" : ` Reason: ${reason}`}`;
    case "expired":
      return `${change} was not decided in time and expired. Nothing was changed.`;
    case "unconfirmed":
      return `${change} was approved and started, but never reported back. It may or may not have happened.`;
  }
}
