import { describe, expect, it } from "vitest";
import { explore, tell } from "./explore.ts";
import { STATEMENTS } from "./turn/statements.ts";
import { createSessionWorld, MACHINE, type Machine } from "./turn/world.ts";

describe("the turns and questions of a session, whatever happens in whatever order", () => {
  it("S2 S3 Q1-Q3 hold", { timeout: 60_000 }, () => {
    const explored = explore(createSessionWorld());
    console.info(tell("a session", explored));
    expect(explored.broken).toBeNull();
    expect(explored.states).toBeGreaterThan(5_000);
  });
});

describe("a session that is broken", () => {
  const BROKEN: readonly [string, Partial<Machine>, string][] = [
    [
      "that starts a turn while another one runs",
      {
        claim: (session, by) => {
          const turns = session.turns.map((row) =>
            row.status === "running" ? { ...row, status: "failed" as const } : row,
          );
          const claimed = STATEMENTS.claim({ ...session, turns }, by);
          return (
            claimed && {
              ...claimed,
              turns: claimed.turns.map((row, i) => (row.status === "failed" ? (session.turns[i] ?? row) : row)),
            }
          );
        },
      },
      "S2",
    ],
    [
      "that starts a turn while a question is open",
      {
        claim: (session, by) => {
          const claimed = STATEMENTS.claim({ ...session, question: null }, by);
          return claimed && { ...claimed, question: session.question };
        },
      },
      "Q1",
    ],
    [
      "that takes turns in the order they came",
      {
        claim: (session, by) => {
          const blind = session.turns.map((row) => ({ ...row, answers: false }));
          const claimed = STATEMENTS.claim({ ...session, turns: blind }, by);
          return (
            claimed && {
              ...claimed,
              turns: claimed.turns.map((row, i) => ({ ...row, answers: session.turns[i]?.answers ?? false })),
            }
          );
        },
      },
      "Q3",
    ],
    [
      "whose turns end without a fence",
      {
        settle: (session, at, _, end) => STATEMENTS.settle(session, at, session.turns[at]?.holder ?? 0, end),
      },
      "S2",
    ],
    [
      "whose worker hands back what was asked to stop",
      {
        handBack: (session, at) => {
          const row = session.turns[at];
          return row?.status === "running"
            ? {
                ...session,
                turns: session.turns.map((one) => (one === row ? { ...row, status: "queued", lease: null } : one)),
              }
            : null;
        },
      },
      "S3",
    ],
    ["that leaves what is queued when it ends", { cancelAll: (session) => session }, "S3"],
    ["whose sweeper is asleep", { sweeps: false }, "I8"],
  ];

  it.each(BROKEN)("%s is found out by its shortest story", (name, over, rule) => {
    const explored = explore(createSessionWorld({ ...MACHINE, ...over }));
    console.info(tell(`a session ${name}`, explored));
    expect(explored.broken?.rule).toContain(rule);
    expect(explored.broken?.story).toMatchSnapshot();
  });
});
