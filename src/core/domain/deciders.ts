import type { Decision } from "./decision.ts";
import { type Conversation, type Person, personKey } from "./message.ts";

/** What a decision says about who may decide it. */
type Rule = Pick<Decision, "person" | "rule">;

/**
 * Who may decide (A7): team and user together, and anything not named is no. By default the person whose message the
 * agent was answering; nobody where there is no such person, nor anybody of another workspace than the card's.
 *
 * A decider is written `U123`, which means that user of the team the card stands in (`where`), or `T1/U123` for
 * somebody of another team. A user group lets nobody in that cannot be looked up here.
 */
export function mayDecide({ person, rule }: Rule, who: Person, where: Conversation | null): boolean {
  const isRequester = person !== null && personKey(person) === personKey(who);
  if (isRequester && !rule.requesterMayDecide) return false;
  if (rule.deciders === "requester") return isRequester && isHome(who, where);
  if (who.provider === "api") return false;
  return (rule.deciders[who.provider]?.users ?? []).some((name) => names(name, who, where));
}

/** Whether anybody at all could decide on a card in `where`: a proposal nobody can decide is not made (A7, A10). */
export function somebodyMayDecide({ person, rule }: Rule, where: Conversation): boolean {
  if (rule.deciders === "requester") return person !== null && rule.requesterMayDecide && isHome(person, where);
  const named = rule.deciders[where.provider]?.users ?? [];
  return named.some((name) => rule.requesterMayDecide || person === null || !names(name, person, where));
}

const isHome = (who: Person, where: Conversation | null): boolean =>
  where !== null && where.provider === who.provider && where.workspaceId === who.workspaceId;

const names = (name: string, who: Person, where: Conversation | null): boolean =>
  name === `${who.workspaceId}/${who.userId}` || (name === who.userId && isHome(who, where));
