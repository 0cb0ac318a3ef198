import { describe, expect, it } from "vitest";
import { mayDecide, somebodyMayDecide } from "../../../src/core/domain/deciders.ts";
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
const ANA = someone("ANA");
const BEN = someone("BEN");
const rule = (over: Partial<ApprovalRule>): ApprovalRule => ({ ...DEFAULT_APPROVALS, ...over });
const slack = (...users: string[]): ApprovalRule["deciders"] => ({ slack: { users, usergroups: [] } });

describe("who may decide", () => {
  it.each<[string, { person: Person | null; rule: ApprovalRule }, Person, boolean]>([
    ["the requester, by default", { person: ANA, rule: rule({}) }, ANA, true],
    ["nobody else, by default", { person: ANA, rule: rule({}) }, BEN, false],
    ["nobody, where nobody asked", { person: null, rule: rule({}) }, ANA, false],
    ["not the same user id of another team", { person: ANA, rule: rule({}) }, someone("ANA", "T2"), false],
    [
      "never by default somebody of another workspace, who asked",
      { person: someone("X", "T2"), rule: rule({}) },
      someone("X", "T2"),
      false,
    ],
    ["a named user of the card's team", { person: ANA, rule: rule({ deciders: slack("BEN") }) }, BEN, true],
    ["a named user where nobody asked", { person: null, rule: rule({ deciders: slack("BEN") }) }, BEN, true],
    [
      "not the named user id in another team",
      { person: ANA, rule: rule({ deciders: slack("BEN") }) },
      someone("BEN", "T2"),
      false,
    ],
    [
      "a user named with the other team",
      { person: ANA, rule: rule({ deciders: slack("T2/BEN") }) },
      someone("BEN", "T2"),
      true,
    ],
    ["not the requester, who is not named", { person: ANA, rule: rule({ deciders: slack("BEN") }) }, ANA, false],
    [
      "not the requester, though named, where the project forbids it",
      { person: ANA, rule: rule({ deciders: slack("ANA", "BEN"), requesterMayDecide: false }) },
      ANA,
      false,
    ],
    [
      "not a user of a group nobody can look up",
      { person: ANA, rule: rule({ deciders: { slack: { users: [], usergroups: ["S1"] } } }) },
      BEN,
      false,
    ],
    [
      "not the API, whose people nobody checked",
      { person: ANA, rule: rule({ deciders: slack("BEN") }) },
      someone("BEN", "T1", "api"),
      false,
    ],
  ])("A7 %s", (_, decision, who, may) => {
    expect(mayDecide(decision, who, where)).toBe(may);
  });

  it.each<[string, { person: Person | null; rule: ApprovalRule }, boolean]>([
    ["a requester", { person: ANA, rule: rule({}) }, true],
    ["no requester", { person: null, rule: rule({}) }, false],
    ["a requester of another workspace", { person: someone("X", "T2"), rule: rule({}) }, false],
    ["a requester who may not", { person: ANA, rule: rule({ requesterMayDecide: false }) }, false],
    ["somebody named", { person: null, rule: rule({ deciders: slack("BEN") }) }, true],
    [
      "only the requester named, who may not",
      { person: ANA, rule: rule({ deciders: slack("ANA"), requesterMayDecide: false }) },
      false,
    ],
    [
      "only people of a platform the card is not on",
      { person: ANA, rule: rule({ deciders: { linear: { users: ["u"] } } }) },
      false,
    ],
  ])("A10 a proposal with %s: somebody can decide is %#", (_, decision, somebody) => {
    expect(somebodyMayDecide(decision, where)).toBe(somebody);
  });
});
