import { namedOn } from "../domain/deciders.ts";
import { CountersignError } from "../domain/errors.ts";
import type { ApprovalRule, ApprovalSettings } from "../domain/manifest.ts";
import type { Directory } from "../ports.ts";
import type { Core } from "./core.ts";

interface Findings {
  /** Each names a field and what to write instead. */
  readonly problems: string[];
  readonly warnings: string[];
}

/**
 * Holds every decider that `approvals` names against the platforms, before the project is served: whoever does not
 * exist could never decide, and a card would only wait until it expires (A7). Throws `project_invalid` with one
 * sentence a line; returns warnings about what a platform cannot say now, which is then found out at the click.
 */
export async function checkDeciders(
  { directories = {} }: Pick<Core, "directories">,
  approvals: ApprovalSettings,
): Promise<string[]> {
  const findings: Findings = { problems: [], warnings: [] };
  const own = Object.entries(approvals.tools)
    // What was inherited is told of once, under the field where it is written.
    .filter(([, { deciders }]) => JSON.stringify(deciders) !== JSON.stringify(approvals.deciders))
    .map(([tool, rule]) => [`approvals.tools.${tool}.deciders`, rule] as const);
  for (const [field, rule] of [["approvals.deciders", approvals] as const, ...own]) {
    for (const directory of Object.values(directories)) await checkRule(directory, field, rule, findings);
  }
  if (findings.problems.length > 0) throw new CountersignError("project_invalid", findings.problems.join("\n"));
  return findings.warnings;
}

async function checkRule(directory: Directory, field: string, { deciders }: ApprovalRule, findings: Findings) {
  if (deciders === "requester") return;
  const at = `${field}.${directory.provider}`;
  const { users, usergroups } = namedOn(deciders, directory.provider);
  const [people] = await Promise.all([
    Promise.all(users.map((name) => checkUser(directory, `${at}.users`, name, findings))),
    Promise.all(usergroups.map((id) => checkGroup(directory, `${at}.usergroups`, id, findings))),
  ]);
  if (people.length > 0 && usergroups.length === 0 && people.every((deactivated) => deactivated))
    findings.problems.push(
      `${at}.users names deactivated people only, so that nobody could decide; name somebody else.`,
    );
}

/**
 * True for somebody deactivated: a warning as long as others are named, since people leave, and a gateway must not stay
 * down over it.
 */
async function checkUser(
  directory: Directory,
  field: string,
  name: string,
  { problems, warnings }: Findings,
): Promise<boolean> {
  const { workspaceId } = directory;
  const [team, id] = name.includes("/") ? name.split("/") : [workspaceId, name];
  // People of another workspace are not ours to look up.
  if (team !== workspaceId || id === undefined) return false;
  const user = await directory.user(id);
  if (user.found === "unknown") {
    warnings.push(`${field}: ${name} could not be checked: ${user.why}.`);
  } else if (!user.found) {
    problems.push(`${field} names ${name}, who is nobody in workspace ${workspaceId}; write the id of a member.`);
  } else if (user.value.workspaceId !== workspaceId) {
    const theirs = user.value.workspaceId;
    problems.push(`${field} names ${name}, who belongs to workspace ${theirs}; write "${theirs}/${id}".`);
  } else if (!user.value.active) {
    warnings.push(
      `${field} names ${name} (${user.value.name}), who is deactivated and decides nothing; take them out.`,
    );
    return true;
  }
  return false;
}

async function checkGroup(directory: Directory, field: string, id: string, { problems, warnings }: Findings) {
  const [group, members] = await Promise.all([directory.group(id), directory.members(id)]);
  if (group.found === false) {
    problems.push(
      `${field} names ${id}, which is no user group of workspace ${directory.workspaceId}; write the id of one.`,
    );
  } else if (group.found === true && !group.value.active) {
    problems.push(`${field} names ${id} (${group.value.name}), which is disabled; enable it, or name another one.`);
  } else if (group.found === true && members.found === true && members.value.length === 0) {
    problems.push(`${field} names ${id} (${group.value.name}), which has no members; add some, or name another one.`);
  } else {
    const unsure = [group, members].find((answer) => answer.found === "unknown");
    if (unsure?.found === "unknown")
      warnings.push(
        `${field}: ${id} could not be checked: ${unsure.why}. Until that is mended, its members cannot decide.`,
      );
  }
}
