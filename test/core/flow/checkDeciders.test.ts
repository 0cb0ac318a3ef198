import { beforeEach, describe, expect, it } from "vitest";
import { type ApprovalRule, DEFAULT_APPROVALS } from "../../../src/core/domain/manifest.ts";
import { checkDeciders } from "../../../src/core/flow/checkDeciders.ts";
import { createFakeDirectory } from "../../helpers/core/directory.ts";

const directory = createFakeDirectory();
beforeEach(() => {
  directory.reset();
  directory.users.set("U1", { name: "Ada" });
  directory.users.set("U2", { name: "Bo" });
  directory.users.set("U_GONE", { name: "Cy", active: false });
  directory.users.set("U_GUEST", { name: "Dan", workspaceId: "T2" });
  directory.groups.set("S1", { name: "@finance", members: ["U1"] });
  directory.groups.set("S_OFF", { name: "@old", members: ["U1"], active: false });
  directory.groups.set("S_NONE", { name: "@new", members: [] });
});

const slack = (users: string[], usergroups: string[] = []): ApprovalRule["deciders"] => ({
  slack: { users, usergroups },
});
const check = (deciders: ApprovalRule["deciders"], tools: Record<string, Partial<ApprovalRule>> = {}) => {
  const rule = { ...DEFAULT_APPROVALS, deciders };
  const own = Object.entries(tools).map(([name, over]) => [name, { ...rule, ...over }]);
  return checkDeciders({ directories: { slack: directory } }, { ...rule, tools: Object.fromEntries(own) });
};

describe("deciders at the start", () => {
  it("A7 the requester, who is somebody else every time, is looked up nowhere", async () => {
    expect(await check("requester")).toEqual([]);
    expect(directory.asked).toEqual([]);
  });

  it("A7 people and groups that exist pass, with or without their team; other workspaces' people are not ours to ask about", async () => {
    expect(await check(slack(["U1", "T1/U2", "T2/U_DAN"], ["S1"]))).toEqual([]);
    expect(directory.asked).not.toContain("user U_DAN");
  });

  it.each([
    [
      "a person nobody is",
      slack(["U1", "U_X"]),
      "users names U_X, who is nobody in workspace T1; write the id of a member.",
    ],
    [
      "a person of another workspace",
      slack(["U_GUEST"]),
      'users names U_GUEST, who belongs to workspace T2; write "T2/U_GUEST".',
    ],
    [
      "deactivated people alone",
      slack(["U_GONE"]),
      "names deactivated people only, so that nobody could decide; name somebody else.",
    ],
    [
      "a group that is none",
      slack(["U1"], ["S_X"]),
      "usergroups names S_X, which is no user group of workspace T1; write the id of one.",
    ],
    [
      "a disabled group",
      slack([], ["S_OFF"]),
      "usergroups names S_OFF (@old), which is disabled; enable it, or name another one.",
    ],
    [
      "an empty group",
      slack(["U1"], ["S1", "S_NONE"]),
      "usergroups names S_NONE (@new), which has no members; add some, or name another one.",
    ],
  ])("A7 %s refuses the start, by the field and what to do", async (_, deciders, sentence) => {
    const refused = { code: "project_invalid", message: expect.stringMatching(/^approvals\.deciders\.slack[^\n]+\.$/) };
    await expect(check(deciders)).rejects.toMatchObject(refused);
    await expect(check(deciders)).rejects.toThrow(sentence);
  });

  it("A7 a tool's own deciders are named by their own field, inherited ones once", async () => {
    const failure = check(slack(["U_X"]), { attach: {}, charge: { deciders: slack(["U_Y"]) } });
    await expect(failure).rejects.toThrow(
      [
        "approvals.deciders.slack.users names U_X, who is nobody in workspace T1; write the id of a member.",
        "approvals.tools.charge.deciders.slack.users names U_Y, who is nobody in workspace T1; write the id of a member.",
      ].join("\n"),
    );
  });

  it("A7 one of several who was deactivated is a warning: people leave, and a restart must not fail over it", async () => {
    expect(await check(slack(["U1", "U_GONE"]))).toEqual([
      "approvals.deciders.slack.users names U_GONE (Cy), who is deactivated and decides nothing; take them out.",
    ]);
  });

  it("A7 what the platform cannot say now is a warning that says what, and why", async () => {
    for (const what of ["user", "members"]) directory.silent.add(what);
    expect(await check(slack(["U1"], ["S1"]))).toEqual([
      "approvals.deciders.slack.users: U1 could not be checked: it does not answer.",
      "approvals.deciders.slack.usergroups: S1 could not be checked: it does not answer. Until that is mended, its members cannot decide.",
    ]);
  });
});
