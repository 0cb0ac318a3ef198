import { DECISION_INPUTS, DECISION_STATUSES, type DecisionStatus, stepDecision } from "../domain/decision.ts";
import type { RecordEntry, RecordEvent } from "./entry.ts";

/** What the entries so far say of one decision. */
interface Known {
  status: DecisionStatus;
  attempt: number;
  /** Attempts that people authorised: the approval's one, and one for each `run_again`. */
  authorised: number;
  shown: boolean;
  /** By their names, as it was proposed with them. */
  readonly bound: RecordEntry["details"];
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

const BOUND = ["deploymentId", "toolDigest", "inputDigest", "cardDigest"] as const;

/** What an entry has to say again, as the decision was proposed with it. */
const BINDS: Partial<Record<RecordEvent, readonly (typeof BOUND)[number][]>> = {
  approved: ["inputDigest", "cardDigest"],
  rejected: ["inputDigest", "cardDigest"],
  applying: ["deploymentId", "toolDigest", "inputDigest"],
};

/** A named person's doing. */
const NAMES_SOMEBODY: readonly RecordEvent[] = ["approved", "rejected", "run_again", "applying"];
/** They tell which attempt they are about. */
const OF_AN_ATTEMPT: readonly RecordEvent[] = ["applying", "applied", "failed", "unconfirmed", "run_again", "refused"];

/**
 * Holds a record's entries to the rules they were made under (A4, A5): arrows that exist, one approval before a start,
 * as many starts as were authorised, by somebody, digests as they were proposed. A chain that holds may still tell a
 * story that cannot be.
 */
export function createArrowCheck(): (entry: RecordEntry) => string | null {
  const decisions = new Map<string, Known>();
  /** What was there before the record stands at its beginning, and nowhere else. */
  let importing = true;

  return (entry) => {
    const { decision, event } = entry;
    importing &&= event === "imported";
    if (event === "proposed" || event === "imported") {
      if (decisions.has(decision)) return `${decision} is ${event} a second time`;
      const known = event === "proposed" ? asProposed(entry) : asImported(entry);
      if (!known) return `${decision} is imported in no status there is`;
      decisions.set(decision, known);
      return event === "imported" && !importing ? `${decision} is imported into a record that had begun` : null;
    }
    const known = decisions.get(decision);
    return known ? (goesOn(known, entry) ?? says(known, entry)) : `${decision} is ${event} and was never proposed`;
  };
}

const asProposed = ({ details }: RecordEntry): Known => ({
  status: "pending",
  attempt: 0,
  authorised: 1,
  shown: false,
  bound: details,
});

function asImported(entry: RecordEntry): Known | null {
  const { attempt: number, againBy } = entry.details;
  const status = DECISION_STATUSES.find((one) => one === entry.details["status"]);
  const attempt = typeof number === "number" ? number : 0;
  // Somebody had it run again, and it was not started yet.
  const authorised = Math.max(attempt, 1) + (isSomebody(againBy) ? 1 : 0);
  return status ? { ...asProposed(entry), status, attempt, authorised } : null;
}

/** Moves what is known on. A sentence where no rule allows that. */
function goesOn(known: Known, { decision, event }: RecordEntry): string | null {
  const from = known.status;
  const to = STATUS_OF[event];
  switch (event) {
    case "shown": {
      const again = known.shown || from !== "pending";
      known.shown = true;
      return again ? `${decision} is shown again, or when it was decided: its time to decide was changed` : null;
    }
    case "run_again":
      known.authorised++;
      return from === "unconfirmed" && known.authorised === known.attempt + 1
        ? null
        : `${decision} is authorised to run again while it is ${from}, or a second time`;
    case "refused":
      known.authorised--;
      return from === "unconfirmed" && known.authorised === known.attempt
        ? null
        : `${decision} is refused and nobody had it run again`;
  }
  if (!to) return null;
  known.status = to;
  if (to === "applying" && ++known.attempt > known.authorised)
    return `${decision} is started ${known.attempt} times and was authorised ${known.authorised} times`;
  const leads = DECISION_INPUTS.some((input) => stepDecision(from, input) === to);
  return leads ? null : `${decision} goes from ${from} to ${to}, which no rule allows`;
}

/** Holds what an entry says against what is known. */
function says(known: Known, { decision, event, details }: RecordEntry): string | null {
  for (const name of BOUND) {
    if ((BINDS[event]?.includes(name) || name in details) && details[name] !== known.bound[name])
      return `${decision} is ${event} with another ${name} than it was proposed with`;
  }
  if (NAMES_SOMEBODY.includes(event) && !isSomebody(details["by"])) return `${decision} is ${event} by nobody`;
  if (OF_AN_ATTEMPT.includes(event) && details["attempt"] !== known.attempt)
    return `${decision} is ${event} in attempt ${String(details["attempt"])}, and had ${known.attempt}`;
  return null;
}

const isSomebody = (by: unknown): boolean => typeof by === "object" && by !== null && !Array.isArray(by);
