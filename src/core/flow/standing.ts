import { groupsToAsk, isBarred, mayDecide, type Rule, whoMayDecide } from "../domain/deciders.ts";
import { ERRORS, type ErrorCode } from "../domain/errors.ts";
import type { Conversation, InboundClick, Person } from "../domain/message.ts";
import type { Directory, LookUp } from "../ports.ts";
import { findDecision } from "../store/decisions.ts";
import type { Core } from "./core.ts";

/** What their platform says of somebody who clicks on a card. */
export interface Standing {
  /** Of the groups the decision's rule names, those they are in. */
  readonly memberOf: readonly string[];
  /** What to tell them, should they have no right to decide. */
  readonly refusal: { readonly code: ErrorCode; readonly message: string };
}

/**
 * Asks the platform, before the transaction that takes the click in: no network call is made while one is open. Only
 * what decides the answer is asked, so that a click of somebody who is named, or who asked for the change, asks nothing;
 * a named person who was deactivated meanwhile is signed out, and clicks no more. Absent where there is nobody to ask,
 * or nothing to decide.
 */
export async function standingOf(core: Core, click: InboundClick): Promise<Standing | undefined> {
  const { button, person: who, conversation: where } = click;
  const directory = core.directories?.[where.provider];
  if (!directory || button.for !== "decision" || button.verb === "review") return undefined;
  const decision = await findDecision(core.pool, button.decisionId);
  if (!decision) return undefined;

  const groups = groupsToAsk(decision, who, where);
  const memberOf = groups.length === 0 ? [] : await membership(core, directory, who, groups);
  if (memberOf === null) return { memberOf: [], refusal: refusalOf("deciders_unavailable") };
  // Names cost further calls, and are for those alone who will be refused.
  const message = mayDecide(decision, who, where, memberOf)
    ? undefined
    : await sentence(directory, decision, who, where);
  return { memberOf, refusal: refusalOf("decision_not_yours", message) };
}

const refusalOf = (code: ErrorCode, message: string = ERRORS[code].message) => ({ code, message });

/** Null: the platform cannot say now whether they are in one of them. */
async function membership(
  { log }: Core,
  directory: Directory,
  who: Person,
  groups: readonly string[],
): Promise<readonly string[] | null> {
  const [user, ...lists] = await Promise.all([
    directory.user(who.userId),
    ...groups.map((group) => directory.members(group)),
  ]);
  const memberOf = groups.filter((_, i) => found(lists[i])?.includes(who.userId));
  const unsure = memberOf.length > 0 ? [user] : lists;
  for (const answer of unsure) {
    if (answer.found !== "unknown") continue;
    log.warn({ groups, why: answer.why }, "a click was refused: nobody could say whether its author may decide");
    return null;
  }
  const known = found(user);
  return known?.active && known.workspaceId === who.workspaceId ? memberOf : [];
}

const found = <T>(answer: LookUp<T> | undefined): T | undefined => (answer?.found === true ? answer.value : undefined);

/** More names than anybody asks one after the other. */
const MOST_NAMED = 5;

const LIST = new Intl.ListFormat("en", { type: "disjunction" });

/** "You may not decide this. Only Ada or a member of @finance may." What has no name now is told by its id. */
async function sentence(directory: Directory, decision: Rule, who: Person, where: Conversation): Promise<string> {
  const { users, usergroups } = whoMayDecide(decision, where);
  const [people, groups] = await Promise.all([
    Promise.all(users.slice(0, MOST_NAMED).map(async (id) => found(await directory.user(bare(id)))?.name ?? bare(id))),
    Promise.all(usergroups.map(async (id) => `a member of ${found(await directory.group(id))?.name ?? id}`)),
  ]);
  const others = users.length - people.length;
  const may = [...people, ...(others > 0 ? [`${others} more`] : []), ...groups];
  const not = isBarred(decision, who) ? "You asked for this, so you may not decide it." : "You may not decide this.";
  return may.length === 0 ? `${not} Nobody here may.` : `${not} Only ${LIST.format(may)} may.`;
}

/** `T1/U123` names a user of another team. */
const bare = (name: string): string => name.slice(name.indexOf("/") + 1);
