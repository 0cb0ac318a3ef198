import { DECISION_INVARIANTS } from "./decisionInvariants.ts";
import type { History } from "./history.ts";
import { SESSION_INVARIANTS } from "./sessionInvariants.ts";

/**
 * I1-I10 are the invariants of the promise. The others are contract rules that a crash could break as well: G3, one
 * post is one turn; G5, one delivery is one message; A9, the card says what became of the decision and the session is
 * told once; S6, what started has ended.
 */
const CHECKS = [...DECISION_INVARIANTS, ...SESSION_INVARIANTS];

export type Invariant = (typeof CHECKS)[number][0];
export const INVARIANTS: readonly Invariant[] = [...new Set(CHECKS.map(([name]) => name))];

export interface Violation {
  readonly invariant: Invariant;
  /** Ids and counts; no message text. */
  readonly detail: string;
}

/** Checks one history that is at rest: faults have healed and everything due was done. Empty: nothing is wrong. */
export function check(history: History): Violation[] {
  return CHECKS.flatMap(([invariant, find]) => find(history).map((detail) => ({ invariant, detail })));
}

/** How often each invariant was violated; all of them, so that a zero can be read. */
export function countViolations(violations: readonly Violation[]): Record<Invariant, number> {
  const counts = Object.fromEntries(INVARIANTS.map((name) => [name, 0])) as Record<Invariant, number>;
  for (const { invariant } of violations) counts[invariant]++;
  return counts;
}
