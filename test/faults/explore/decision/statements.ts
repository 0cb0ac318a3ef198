import { type DecisionInput, type DecisionStatus, stepDecision } from "../../../../src/core/domain/decision.ts";

/** A time as the database sees it now; null: none is set. */
export type When = "ahead" | "past" | null;

/** A row of `decisions`, as far as its statements look at it. */
export interface Row {
  readonly status: DecisionStatus;
  /** How often it was started. The fence of a start is told by its number: both only rise, together. */
  readonly attempt: number;
  /** Somebody authorised one more start. */
  readonly again: boolean;
  readonly expires: When;
  readonly lease: When;
}

export type Outcome = "applied" | "failed" | "unconfirmed";

const INPUT = { applied: "reportApplied", failed: "reportFailed", unconfirmed: "reportUnconfirmed" } as const;

/** The row after `input`, where the domain has an arrow for it. */
function move(row: Row, input: DecisionInput, change: Partial<Row> = {}): Row | null {
  const status = stepDecision(row.status, input);
  return status && { ...row, ...change, status };
}

const decide =
  (input: "approve" | "reject") =>
  (row: Row): Row | null =>
    row.expires === "past" ? null : move(row, input);

/**
 * The store's statements, said again over a small row: null where the statement changes no row. `statements.test.ts`
 * holds every one of them, on every row there can be, against the SQL.
 */
export const STATEMENTS = {
  approve: decide("approve"),
  reject: decide("reject"),
  expire: (row: Row): Row | null => (row.expires === "past" ? move(row, "expire") : null),
  authoriseAgain: (row: Row): Row | null =>
    row.status === "unconfirmed" && !row.again ? { ...row, again: true } : null,
  start: (row: Row): Row | null =>
    move(row, row.again ? "runAgain" : "start", { attempt: row.attempt + 1, again: false, lease: "ahead" }),
  refuseStart: (row: Row): Row | null => move(row, "refuse"),
  refuseAgain: (row: Row): Row | null => (row.status === "unconfirmed" && row.again ? { ...row, again: false } : null),
  finish: (row: Row, attempt: number, outcome: Outcome): Row | null =>
    row.status === "applying" && row.attempt === attempt ? move(row, INPUT[outcome], { lease: null }) : null,
  reportLate: (row: Row, attempt: number, outcome: Outcome): Row | null =>
    row.status === "unconfirmed" && row.attempt === attempt && outcome === "applied"
      ? move(row, "reportApplied", { again: false })
      : null,
  renew: (row: Row, attempt: number): Row | null =>
    row.status === "applying" && row.attempt === attempt ? { ...row, lease: "ahead" } : null,
  lose: (row: Row): Row | null => (row.lease === "past" ? move(row, "lose", { lease: null }) : null),
  settleVerified: (row: Row): Row | null => move(row, "verified", { again: false }),
};

export type Statements = typeof STATEMENTS;

/** Waits for a worker, as the sweeper's list has it. */
export const isWaiting = ({ status, again }: Row): boolean =>
  status === "approved" || (status === "unconfirmed" && again);
