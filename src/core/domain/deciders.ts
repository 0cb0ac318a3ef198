import type { Decision } from "./decision.ts";
import { type Person, personKey } from "./message.ts";

/**
 * Who may decide (A7): team and user together, and anything not named is no. By default the person whose message the
 * agent was answering, and nobody where there is no such person.
 *
 * A decider is written `U123`, which means that user of the team the proposal was made in, or `T1/U123` for somebody of
 * another team. A user group lets nobody in that cannot be looked up here.
 */
export function mayDecide(decision: Pick<Decision, "person" | "rule">, who: Person): boolean {
  const { rule, person } = decision;
  const isRequester = person !== null && personKey(person) === personKey(who);
  if (rule.deciders === "requester") return isRequester && rule.requesterMayDecide;
  if (isRequester && !rule.requesterMayDecide) return false;
  if (who.provider === "api") return false;
  const named = rule.deciders[who.provider]?.users ?? [];
  const home = person !== null && person.provider === who.provider && person.workspaceId === who.workspaceId;
  return named.some((name) => name === `${who.workspaceId}/${who.userId}` || (home && name === who.userId));
}

/** Whether anybody at all could decide: a proposal nobody can decide is not made (A7, A10). */
export const somebodyMayDecide = ({ person, rule }: Pick<Decision, "person" | "rule">): boolean =>
  rule.deciders === "requester"
    ? person !== null && rule.requesterMayDecide
    : Object.values(rule.deciders).some((of) => of !== undefined && of.users.length > 0);
