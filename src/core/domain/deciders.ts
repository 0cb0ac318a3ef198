import type { Decision } from "./decision.ts";
import type { Deciders } from "./manifest.ts";
import { type ChatProvider, type Conversation, type Person, personKey } from "./message.ts";

/** What a decision says about who may decide it. */
export type Rule = Pick<Decision, "person" | "rule">;

/** By which right somebody decided; part of the record. `group`: the one of the named groups they were a member of. */
export type Right =
  | { readonly via: "requester" | "user" | "api" }
  | { readonly via: "usergroup"; readonly group: string };

/**
 * By which right this person may decide (A7), or null: team and user together, and anything not named is no. By
 * default the person whose message the agent was answering; nobody where there is no such person, nor anybody of
 * another workspace than the card's. Where `requesterMayDecide` is false the requester has no right at all, neither
 * by name nor as a member of a group. Over the API the key's holder vouches for the person.
 *
 * The right counts at the click. Who loses it afterwards, before the write starts, has decided all the same, as with a
 * signature: the record says who decided, when, and by which right.
 *
 * A decider is written `U123`, which means that user of the team the card stands in (`where`), or `T1/U123` for
 * somebody of another team. `memberOf`: the groups the platform said they are in; a group holds people of the card's
 * own team only, and one that nobody asked the platform about lets nobody in.
 */
export function mayDecide(
  { person, rule }: Rule,
  who: Person,
  where: Conversation | null,
  memberOf: readonly string[] = [],
): Right | null {
  if (who.provider === "api") return { via: "api" };
  if (isBarred({ person, rule }, who)) return null;
  if (rule.deciders === "requester") {
    const asked = person !== null && personKey(person) === personKey(who);
    return asked && isHome(who, where) ? { via: "requester" } : null;
  }
  const { users, usergroups } = namedOn(rule.deciders, who.provider);
  if (users.some((name) => names(name, who, where))) return { via: "user" };
  const group = isHome(who, where) ? usergroups.find((id) => memberOf.includes(id)) : undefined;
  return group === undefined ? null : { via: "usergroup", group };
}

/** The groups whose members the platform has to be asked for: only where being one of them would give the right. */
export function groupsToAsk({ person, rule }: Rule, who: Person, where: Conversation | null): readonly string[] {
  if (rule.deciders === "requester" || who.provider === "api" || mayDecide({ person, rule }, who, where)) return [];
  const { usergroups } = namedOn(rule.deciders, who.provider);
  return usergroups.filter((id) => mayDecide({ person, rule }, who, where, [id]));
}

/**
 * Whether anybody at all could decide on a card in `where`: a proposal nobody can decide is not made (A7, A10). A group
 * counts as somebody: who is in it is asked at the click.
 */
export function somebodyMayDecide(decision: Rule, where: Conversation): boolean {
  const { users, usergroups } = whoMayDecide(decision, where);
  return users.length + usergroups.length > 0;
}

/** Everybody who may decide on a card in `where`, as the rule names them; the requester by their id. */
export function whoMayDecide({ person, rule }: Rule, where: Conversation): Named {
  if (rule.deciders === "requester") {
    const requester = person !== null && rule.requesterMayDecide && isHome(person, where) ? [person.userId] : [];
    return { users: requester, usergroups: [] };
  }
  const { users, usergroups } = namedOn(rule.deciders, where.provider);
  const may = (name: string) => rule.requesterMayDecide || person === null || !names(name, person, where);
  return { users: users.filter(may), usergroups };
}

export interface Named {
  readonly users: readonly string[];
  readonly usergroups: readonly string[];
}

/** What `deciders` says about one platform's people. */
export const namedOn = (deciders: Deciders, provider: ChatProvider): Named => ({
  users: [],
  usergroups: [],
  ...deciders[provider],
});

/**
 * Whether they are the requester where the requester must not decide. The user's id is enough to bar somebody: where a
 * platform names another team of theirs on a click than on a message (Enterprise Grid), two eyes would pass for four.
 */
export const isBarred = ({ person, rule }: Rule, who: Person): boolean =>
  !rule.requesterMayDecide && person?.provider === who.provider && person.userId === who.userId;

const isHome = (who: Person, where: Conversation | null): boolean =>
  where !== null && where.provider === who.provider && where.workspaceId === who.workspaceId;

const names = (name: string, who: Person, where: Conversation | null): boolean =>
  name === `${who.workspaceId}/${who.userId}` || (name === who.userId && isHome(who, where));
