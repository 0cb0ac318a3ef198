import { describe, expect, it } from "vitest";
import { groupsToAsk, mayDecide, type Right, somebodyMayDecide } from "../../../src/core/domain/deciders.ts";
import { type ApprovalRule, DEFAULT_APPROVALS } from "../../../src/core/domain/manifest.ts";
import type { Conversation, Person } from "../../../src/core/domain/message.ts";

const where: Conversation = {
  provider: "slack",
  connectionId: "slack:T1",
  workspaceId: "T1",
  conversationId: "C1:1.0",
};
const someone = (userId: string, workspaceId = "T1", provider: Person["provider"] = "slack"): Person => ({
  provider,
  workspaceId,
  userId,
});
const rule = (deciders: ApprovalRule["deciders"], requesterMayDecide = true): ApprovalRule => ({
  ...DEFAULT_APPROVALS,
  deciders,
  requesterMayDecide,
});
const slack = (users: string[], usergroups: string[] = []) => ({ slack: { users, usergroups } });

/** Ana is whose message the agent answered, wherever there is such a person. */
const ANA = someone("ANA");

const RULES = {
  "the requester": rule("requester"),
  "the requester, who may not": rule("requester", false),
  "Ben by name": rule(slack(["BEN"])),
  "Ana and Ben by name": rule(slack(["ANA", "BEN"])),
  "Ana and Ben by name, four eyes": rule(slack(["ANA", "BEN"]), false),
  "Ben by name with team 2": rule(slack(["T2/BEN"])),
  "a group": rule(slack([], ["S0", "S1"])),
  "a group, four eyes": rule(slack([], ["S0", "S1"]), false),
  "Ben by name, and a group": rule(slack(["BEN"], ["S1"])),
  "somebody of Linear": rule({ linear: { users: ["BEN"] } }),
};

/** Who decides, and the groups the platform said they are in. */
const WHO = {
  Ana: [ANA, []],
  "Ana, a member": [ANA, ["S1"]],
  Ben: [someone("BEN"), []],
  "Ben, a member": [someone("BEN"), ["S1"]],
  "Ben, of another group": [someone("BEN"), ["S9"]],
  "Ana's id in team 2, a member": [someone("ANA", "T2"), ["S1"]],
  "Ben's id in team 2, a member": [someone("BEN", "T2"), ["S1"]],
  "Ben's id in Linear": [someone("BEN", "T1", "linear"), ["S1"]],
  "the API": [someone("BEN", "T1", "api"), []],
} as const satisfies Record<string, readonly [Person, readonly string[]]>;

const no = null;
const asked: Right = { via: "requester" };
const named: Right = { via: "user" };
const api: Right = { via: "api" };
const member: Right = { via: "usergroup", group: "S1" };

// biome-ignore format: a table is read by its columns
const TABLE: Record<keyof typeof RULES, Record<keyof typeof WHO, Right | null>> = {
  "the requester":
    { Ana: asked, "Ana, a member": asked, Ben: no, "Ben, a member": no, "Ben, of another group": no, "Ana's id in team 2, a member": no, "Ben's id in team 2, a member": no, "Ben's id in Linear": no, "the API": api },
  "the requester, who may not":
    { Ana: no, "Ana, a member": no, Ben: no, "Ben, a member": no, "Ben, of another group": no, "Ana's id in team 2, a member": no, "Ben's id in team 2, a member": no, "Ben's id in Linear": no, "the API": api },
  "Ben by name":
    { Ana: no, "Ana, a member": no, Ben: named, "Ben, a member": named, "Ben, of another group": named, "Ana's id in team 2, a member": no, "Ben's id in team 2, a member": no, "Ben's id in Linear": no, "the API": api },
  "Ana and Ben by name":
    { Ana: named, "Ana, a member": named, Ben: named, "Ben, a member": named, "Ben, of another group": named, "Ana's id in team 2, a member": no, "Ben's id in team 2, a member": no, "Ben's id in Linear": no, "the API": api },
  "Ana and Ben by name, four eyes":
    { Ana: no, "Ana, a member": no, Ben: named, "Ben, a member": named, "Ben, of another group": named, "Ana's id in team 2, a member": no, "Ben's id in team 2, a member": no, "Ben's id in Linear": no, "the API": api },
  "Ben by name with team 2":
    { Ana: no, "Ana, a member": no, Ben: no, "Ben, a member": no, "Ben, of another group": no, "Ana's id in team 2, a member": no, "Ben's id in team 2, a member": named, "Ben's id in Linear": no, "the API": api },
  "a group":
    { Ana: no, "Ana, a member": member, Ben: no, "Ben, a member": member, "Ben, of another group": no, "Ana's id in team 2, a member": no, "Ben's id in team 2, a member": no, "Ben's id in Linear": no, "the API": api },
  "a group, four eyes":
    { Ana: no, "Ana, a member": no, Ben: no, "Ben, a member": member, "Ben, of another group": no, "Ana's id in team 2, a member": no, "Ben's id in team 2, a member": no, "Ben's id in Linear": no, "the API": api },
  "Ben by name, and a group":
    { Ana: no, "Ana, a member": member, Ben: named, "Ben, a member": named, "Ben, of another group": named, "Ana's id in team 2, a member": no, "Ben's id in team 2, a member": no, "Ben's id in Linear": no, "the API": api },
  "somebody of Linear":
    { Ana: no, "Ana, a member": no, Ben: no, "Ben, a member": no, "Ben, of another group": no, "Ana's id in team 2, a member": no, "Ben's id in team 2, a member": no, "Ben's id in Linear": no, "the API": api },
};

const entries = <K extends string, V>(record: Record<K, V>) => Object.entries(record) as [K, V][];
const cells = entries(RULES).flatMap(([name, rule]) =>
  entries(WHO).map(([whoName, [who, memberOf]]) => ({ name, whoName, rule, who, memberOf })),
);

describe("who may decide on a card in Slack, team 1", () => {
  it.each(cells)("A7 of $name: $whoName", ({ name, whoName, rule, who, memberOf }) => {
    expect(mayDecide({ person: ANA, rule }, who, where, memberOf)).toEqual(TABLE[name][whoName]);
  });

  it.each(cells)("A7 of $name, where nobody asked: $whoName decides by name or as a member alone", (cell) => {
    const right = mayDecide({ person: null, rule: cell.rule }, cell.who, where, cell.memberOf);
    // Ana is barred for having asked, and for nothing else.
    const open = { ...cell.rule, requesterMayDecide: true };
    const same = mayDecide({ person: ANA, rule: open }, cell.who, where, cell.memberOf);
    expect(right).toEqual(same?.via === "requester" ? null : same);
  });

  it.each(cells)("A7 of $name, asking the platform about $whoName where that can change the answer alone", (cell) => {
    const decision = { person: ANA, rule: cell.rule };
    const groups = groupsToAsk(decision, cell.who, where);
    const without = mayDecide(decision, cell.who, where);
    if (without) expect(groups).toEqual([]);
    for (const group of ["S0", "S1", "S9"]) {
      const changes = without === null && mayDecide(decision, cell.who, where, [group]) !== null;
      expect(groups.includes(group)).toBe(changes);
    }
  });

  it("A7 is nobody of a card's team where there is no card's team", () => {
    expect(mayDecide({ person: ANA, rule: rule("requester") }, ANA, null)).toBeNull();
    expect(mayDecide({ person: null, rule: rule(slack(["ANA"], ["S1"])) }, ANA, null, ["S1"])).toBeNull();
  });

  it("A7 in Linear is who is named for Linear, in the card's workspace", () => {
    const there: Conversation = { ...where, provider: "linear", connectionId: "linear:W1", workspaceId: "W1" };
    const decision = { person: null, rule: rule({ ...slack(["BEN"]), linear: { users: ["LEA"] } }) };
    expect(mayDecide(decision, someone("LEA", "W1", "linear"), there)).toEqual(named);
    expect(mayDecide(decision, someone("LEA", "W2", "linear"), there)).toBeNull();
    expect(mayDecide(decision, someone("BEN", "W1", "linear"), there)).toBeNull();
  });

  it("A7 never by default is somebody of another workspace, though they asked", () => {
    const guest = someone("X", "T2");
    expect(mayDecide({ person: guest, rule: rule("requester") }, guest, where)).toBeNull();
  });

  it("A7 four eyes bar the requester's id, whatever team a click names with it", () => {
    const named = { person: ANA, rule: rule(slack(["ANA", "E1/ANA"], ["S1"]), false) };
    expect(mayDecide(named, someone("ANA", "E1"), where)).toBeNull();
  });
});

describe("a proposal", () => {
  it.each<[string, { person: Person | null; rule: ApprovalRule }, boolean]>([
    ["a requester", { person: ANA, rule: RULES["the requester"] }, true],
    ["no requester", { person: null, rule: RULES["the requester"] }, false],
    ["a requester of another workspace", { person: someone("X", "T2"), rule: RULES["the requester"] }, false],
    ["a requester who may not", { person: ANA, rule: RULES["the requester, who may not"] }, false],
    ["somebody named", { person: null, rule: RULES["Ben by name"] }, true],
    ["only the requester named, who may not", { person: ANA, rule: rule(slack(["ANA"]), false) }, false],
    ["a group", { person: ANA, rule: RULES["a group, four eyes"] }, true],
    ["only people of a platform the card is not on", { person: ANA, rule: RULES["somebody of Linear"] }, false],
  ])("A10 with %s: somebody can decide is %#", (_, decision, somebody) => {
    expect(somebodyMayDecide(decision, where)).toBe(somebody);
  });
});
