import { stepTurn, type TurnInput, type TurnStatus } from "../../../../src/core/domain/turn.ts";

export type Holder = 0 | 1;

/** A row of `turns`, as far as its statements look at it. */
export interface Row {
  readonly status: TurnStatus;
  /** It carries the answer to the question that was open. */
  readonly answers: boolean;
  readonly source: "channel" | "user";
  /** Whose claim was the last: only that one holds the row's fence. */
  readonly holder: Holder | null;
  readonly lease: "ahead" | "past" | null;
  readonly cancel: boolean;
}

/** A session with its turns in the order of their positions. Null: no question was asked. */
export interface Session {
  readonly open: boolean;
  readonly question: "open" | "answered" | "closed" | null;
  readonly turns: readonly Row[];
}

export type End = "completed" | "failed" | "cancelled";
const INPUT = { completed: "complete", failed: "fail", cancelled: "cancel" } as const;

function move(row: Row, input: TurnInput, change: Partial<Row>): Row | null {
  const status = stepTurn(row.status, input);
  return status && { ...row, ...change, status };
}

const put = (session: Session, at: number, row: Row | null): Session | null =>
  row && { ...session, turns: session.turns.map((one, i) => (i === at ? row : one)) };

/** `which` of the queued turns `move`s; the others stay. */
const each = (session: Session, change: (row: Row) => Row | null): Session => ({
  ...session,
  turns: session.turns.map((row) => change(row) ?? row),
});

/** The store's statements, said again over a small session; `statements.test.ts` holds each of them against the SQL. */
export const STATEMENTS = {
  /** An answer first, else the oldest; none while a question is open, a turn runs, or the session has ended. */
  claim(session: Session, by: Holder): Session | null {
    const { open, question, turns } = session;
    if (!open || question === "open" || turns.some((row) => row.status === "running")) return null;
    const queued = turns.flatMap((row, at) => (row.status === "queued" ? [at] : []));
    const at = queued.find((n) => turns[n]?.answers) ?? queued[0];
    const row = at === undefined ? undefined : turns[at];
    return row && at !== undefined ? put(session, at, move(row, "claim", { holder: by, lease: "ahead" })) : null;
  },
  /** Whatever its worker made of it, a turn that was asked to stop ends as cancelled. */
  settle(session: Session, at: number, by: Holder, end: End): Session | null {
    const row = session.turns[at];
    if (row?.status !== "running" || row.holder !== by) return null;
    return put(session, at, move(row, INPUT[row.cancel ? "cancelled" : end], { lease: null }));
  },
  handBack(session: Session, at: number, by: Holder): Session | null {
    const row = session.turns[at];
    return row?.status === "running" && row.holder === by && !row.cancel
      ? put(session, at, move(row, "lose", { lease: null }))
      : null;
  },
  requeueLost(session: Session, at: number): Session | null {
    const row = session.turns[at];
    return row?.lease === "past" ? put(session, at, move(row, "lose", { lease: null })) : null;
  },
  settleQueued(session: Session, at: number, end: "failed" | "cancelled"): Session | null {
    const row = session.turns[at];
    return row?.status === "queued" ? put(session, at, move(row, INPUT[end], {})) : null;
  },
  cancelAll: (session: Session): Session =>
    each(session, (row) => (row.status === "queued" ? move(row, "cancel", {}) : null)),
  cancelChat: (session: Session): Session =>
    each(session, (row) =>
      row.status === "queued" && row.source === "channel" && !row.answers ? move(row, "cancel", {}) : null,
    ),
  requestCancel: (session: Session): Session =>
    each(session, (row) => (row.status === "running" ? { ...row, cancel: true } : null)),
  answer: (session: Session): Session | null =>
    session.question === "open" ? { ...session, question: "answered" } : null,
  close: (session: Session): Session | null =>
    session.question === "open" ? { ...session, question: "closed" } : null,
};

export type Statements = typeof STATEMENTS;
