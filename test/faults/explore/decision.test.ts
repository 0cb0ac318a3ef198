import { describe, expect, it } from "vitest";
import { judgeApply } from "../../../src/core/domain/decision.ts";
import { STATEMENTS } from "./decision/statements.ts";
import { type Conditions, createDecisionWorld, HAPPENS_ONCE, MACHINE, type Machine } from "./decision/world.ts";
import { explore, SETTLES, tell } from "./explore.ts";

const USUAL: Conditions = { honoursKey: false, verifies: true, mayChange: false, crashes: 1 };

describe("an approved write, whatever happens in whatever order", () => {
  it.each<[string, Partial<Conditions>]>([
    ["a target without keys, two crashes", { crashes: 2 }],
    ["a target that honours the key", { honoursKey: true }],
    ["code that is replaced on the way", { mayChange: true, crashes: 0, verifies: false }],
  ])("I1-I8 hold with %s", { timeout: 60_000 }, (name, conditions) => {
    const explored = explore(createDecisionWorld({ ...USUAL, ...conditions }));
    console.info(tell(name, explored));
    expect(explored.broken).toBeNull();
    // A world that lost its steps would hold everything.
    expect(explored.states).toBeGreaterThan(5_000);
  });

  it("I2 may happen once a start where the target knows no keys: why the card says so beside `Run again`", () => {
    const { broken } = explore({ ...createDecisionWorld(USUAL), holds: HAPPENS_ONCE });
    expect(broken?.story).toContain("ana runs it again");
  });
});

describe("a machine that is broken", () => {
  const BROKEN: readonly [string, Partial<Machine>, string][] = [
    [
      "whose outcome is written without a fence",
      { finish: (row, _, outcome) => STATEMENTS.finish(row, row.attempt, outcome) },
      "I7",
    ],
    [
      "whose start is not conditional",
      { start: (row) => ({ ...row, status: "applying", attempt: row.attempt + 1, again: false, lease: "ahead" }) },
      "I3",
    ],
    [
      "that takes a lost attempt for one that never ran",
      { lose: (row) => (row.lease === "past" ? { ...row, status: "approved", lease: null } : null) },
      "I3",
    ],
    ["that lets a later attempt fail what was in doubt", { judge: (report) => judgeApply(report, false) }, "I7"],
    ["that decides what was decided", { reject: (row) => ({ ...row, status: "rejected", lease: null }) }, "I1"],
    ["that takes a click twice", { inbox: false }, "I3"],
    ["that asks nobody who may decide", { mayDecide: () => true }, "I3"],
    ["that rings once", { sweeps: false }, SETTLES],
  ];

  it.each(BROKEN)("%s is found out by its shortest story", (name, over, rule) => {
    const explored = explore(createDecisionWorld({ ...USUAL, verifies: false, crashes: 0 }, { ...MACHINE, ...over }));
    console.info(tell(`a machine ${name}`, explored));
    expect(explored.broken?.rule).toMatch(new RegExp(`^${rule}`));
    expect(explored.broken?.story).toMatchSnapshot();
  });
});
