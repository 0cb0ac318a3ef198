import { DECISION_INPUTS, type DecisionStatus, stepDecision } from "../domain/decision.ts";
import type { RecordEntry, RecordEvent } from "./entry.ts";

/** What the entries so far say of one decision. */
interface Known {
  status: DecisionStatus;
  attempt: number;
  /** Attempts that people authorised: the approval's one, and one for each `run_again`. */
  authorised: number;
  readonly inputDigest: unknown;
  readonly cardDigest: unknown;
}

const STATUS_OF: Partial<Record<RecordEvent, DecisionStatus>> = {
  approved: "approved",
  rejected: "rejected",
  expired: "expired",
  applying: "applying",
  applied: "applied",
  failed: "failed",
  unconfirmed: "unconfirmed",
};

/**
 * Holds a record's entries to the rules they were made under (A4, A5): arrows that exist, one approval before a start,
 * as many starts as were authorised, digests as they were proposed. A chain that holds may still tell a story that
 * cannot be.
 */
export function createArrowCheck(): (entry: RecordEntry) => string | null {
  const decisions = new Map<string, Known>();

  return ({ decision, event, details }) => {
    const known = decisions.get(decision);
    if (event === "proposed" || event === "imported") {
      if (known) return `${decision} is ${event} a second time`;
      const attempt = typeof details["attempt"] === "number" ? details["attempt"] : 0;
      const status = event === "proposed" ? "pending" : (details["status"] as DecisionStatus);
      const { inputDigest, cardDigest } = details;
      decisions.set(decision, { status, attempt, authorised: Math.max(attempt, 1), inputDigest, cardDigest });
      return null;
    }
    if (!known) return `${decision} is ${event} and was never proposed`;
    for (const name of ["inputDigest", "cardDigest"] as const) {
      if (details[name] !== undefined && details[name] !== known[name])
        return `${decision} is ${event} with another ${name} than it was proposed with`;
    }
    if (event === "run_again") known.authorised++;
    if (event === "refused") known.authorised--;
    const to = STATUS_OF[event];
    if (!to) return null;
    const from = known.status;
    known.status = to;
    if (to === "applying" && ++known.attempt > known.authorised)
      return `${decision} is started ${known.attempt} times and was authorised ${known.authorised} times`;
    const leads = DECISION_INPUTS.some((input) => stepDecision(from, input) === to);
    return leads ? null : `${decision} goes from ${from} to ${to}, which no rule allows`;
  };
}
