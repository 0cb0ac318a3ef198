import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ApplyReport,
  DECISION_INPUTS,
  DECISION_STATUSES,
  type DecisionInput,
  type DecisionStatus,
  isFinal,
  judgeApply,
  stepDecision,
} from "../../../src/core/domain/decision.ts";

const never = Object.fromEntries(DECISION_INPUTS.map((input) => [input, null])) as Record<DecisionInput, null>;

/** Every pair; `never` says no to all, so that what a state allows stands out. */
const TABLE: Record<DecisionStatus, Record<DecisionInput, DecisionStatus | null>> = {
  pending: { ...never, approve: "approved", reject: "rejected", expire: "expired" },
  approved: { ...never, start: "applying", refuse: "failed" },
  rejected: never,
  expired: never,
  applying: {
    ...never,
    reportApplied: "applied",
    reportFailed: "failed",
    reportUnconfirmed: "unconfirmed",
    lose: "unconfirmed",
  },
  applied: never,
  failed: never,
  unconfirmed: { ...never, runAgain: "applying", reportApplied: "applied", verified: "applied" },
};

describe("a decision", () => {
  for (const status of DECISION_STATUSES) {
    for (const input of DECISION_INPUTS) {
      const to = TABLE[status][input];
      it(`A4 ${status} ${to === null ? `refuses ${input}` : `goes by ${input} to ${to}`}`, () => {
        expect(stepDecision(status, input)).toBe(to);
      });
    }
  }

  it("A4 is over once rejected, expired, applied or failed", () => {
    expect(DECISION_STATUSES.filter(isFinal)).toEqual(["rejected", "expired", "applied", "failed"]);
  });

  it("A5 never fails once it was unconfirmed, whatever comes", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...DECISION_INPUTS)), (inputs) => {
        let status: DecisionStatus = "unconfirmed";
        for (const input of inputs) {
          // What a report of failure means here is judged with the earlier doubt in mind.
          const judged =
            input === "reportFailed" ? judgeApply({ kind: "threw", notApplied: true, traffic: NOTHING }, true) : input;
          status = stepDecision(status, judged) ?? status;
        }
        expect(status).not.toBe("failed");
      }),
    );
  });
});

const NOTHING = { writes: [], opaque: 0 };
const answered = (...statuses: (number | null)[]) => ({ writes: statuses.map((status) => ({ status })), opaque: 0 });
const threw = (traffic: Extract<ApplyReport, { kind: "threw" }>["traffic"], notApplied = false): ApplyReport => ({
  kind: "threw",
  notApplied,
  traffic,
});

describe("what an apply's report proves", () => {
  it.each<[string, ApplyReport, ReturnType<typeof judgeApply>]>([
    ["a return", { kind: "returned" }, "reportApplied"],
    ["no report", { kind: "lost" }, "reportUnconfirmed"],
    ["NotApplied", threw(answered(500), true), "reportFailed"],
    ["a throw before any write", threw(NOTHING), "reportFailed"],
    ["a throw after writes that were all refused", threw(answered(400, 422, 499)), "reportFailed"],
    ["a throw after one of two writes was refused", threw(answered(422, 200)), "reportUnconfirmed"],
    ["a throw after a 5xx", threw(answered(500)), "reportUnconfirmed"],
    ["a throw after a write without an answer", threw(answered(null)), "reportUnconfirmed"],
    ["a throw after a redirect", threw(answered(302)), "reportUnconfirmed"],
    ["a throw after traffic nobody saw into", threw({ writes: [], opaque: 1 }), "reportUnconfirmed"],
  ])("A5 %s", (_, report, outcome) => {
    expect(judgeApply(report, false)).toBe(outcome);
  });

  it("A5 is never failed when anything may have been written, or an earlier attempt is in doubt", () => {
    fc.assert(
      fc.property(REPORTS, fc.boolean(), (report, earlierInDoubt) => {
        const outcome = judgeApply(report, earlierInDoubt);
        const vouched = report.kind === "threw" && report.notApplied;
        const mayHaveWritten =
          report.kind === "lost" ||
          (report.kind === "threw" &&
            (report.traffic.opaque > 0 ||
              report.traffic.writes.some(({ status }) => status === null || status < 400 || status > 499)));
        if (earlierInDoubt || (mayHaveWritten && !vouched)) expect(outcome).not.toBe("reportFailed");
        if (report.kind !== "returned") expect(outcome).not.toBe("reportApplied");
      }),
    );
  });
});

const REPORTS: fc.Arbitrary<ApplyReport> = fc.oneof(
  fc.constant<ApplyReport>({ kind: "returned" }),
  fc.constant<ApplyReport>({ kind: "lost" }),
  fc.record({
    kind: fc.constant("threw" as const),
    notApplied: fc.boolean(),
    traffic: fc.record({
      writes: fc.array(fc.record({ status: fc.option(fc.integer({ min: 100, max: 599 })) }), { maxLength: 4 }),
      opaque: fc.nat({ max: 2 }),
    }),
  }),
);
