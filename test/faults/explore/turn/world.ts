import type { Step, World } from "../explore.ts";
import { type End, type Holder, type Row, type Session, STATEMENTS, type Statements } from "./statements.ts";

/**
 * One session: what people write and answer, over chat and over the API, while two workers run its turns, crash, come back late
 * and hand back; somebody interrupts it, somebody ends it.
 */

/** What a worker is at: the turn it holds, by its position. */
type Worker = number | null;

export interface State {
  readonly session: Session;
  readonly workers: readonly [Worker, Worker];
  readonly rung: boolean;
  readonly asked: number;
  readonly crashes: number;
  /** What an observer remembers: what must never have happened. */
  readonly overtaken: boolean;
  readonly startedInVain: boolean;
  readonly askedOver: boolean;
  readonly taken: boolean;
}

export interface Machine extends Statements {
  readonly sweeps: boolean;
}
export const MACHINE: Machine = { ...STATEMENTS, sweeps: true };

const MOST_TURNS = 3;
const MOST_QUESTIONS = 2;
const CRASHES = 2;

export const createSessionWorld = (machine: Machine = MACHINE): World<State> => ({
  start: {
    session: { open: true, question: null, turns: [] },
    workers: [null, null],
    rung: false,
    asked: 0,
    crashes: 0,
    overtaken: false,
    startedInVain: false,
    askedOver: false,
    taken: false,
  },
  *steps(state) {
    for (const { name, by, to } of everything(state, machine)) yield { name, by, to: tidy(to) };
  },
  holds: {
    "S2 one turn runs at a time": ({ session }) => session.turns.filter((row) => row.status === "running").length <= 1,
    "Q1 no turn runs while a question is open": ({ session }) =>
      session.question !== "open" || session.turns.every((row) => row.status !== "running"),
    "Q2 one question is open at a time": ({ askedOver }) => !askedOver,
    "Q3 the answer goes before what was queued": ({ overtaken }) => !overtaken,
    "S3 an ended session is at rest": ({ session, startedInVain }) =>
      !startedInVain &&
      (session.open || (session.question !== "open" && session.turns.every((row) => row.status !== "queued"))),
    "S2 a turn ends by whom it belongs to": ({ taken }) => !taken,
  },
  settled: ({ session, workers }) =>
    workers.every((worker) => worker === null) &&
    session.turns.every((row) => row.status !== "running" && (row.status !== "queued" || session.question === "open")),
});

function* everything(state: State, machine: Machine): Iterable<Step<State>> {
  yield* people(state, machine);
  yield* sweeper(state, machine);
  for (const by of [0, 1] as const) yield* work(state, by, machine);
}

/** A settled turn is only known by its place; who held it, and whether it was to stop, is over. */
const tidy = (state: State): State => ({
  ...state,
  session: {
    ...state.session,
    turns: state.session.turns.map((row) =>
      row.status === "queued" || row.status === "running"
        ? { ...row, holder: row.status === "running" ? row.holder : null }
        : { ...DONE, status: row.status === "completed" ? "completed" : "cancelled" },
    ),
  },
});

const DONE: Omit<Row, "status"> = { answers: false, source: "user", holder: null, lease: null, cancel: false };

// ----------------------------------------------------------------------------------------------------------- people

function* people(state: State, machine: Machine): Iterable<Step<State>> {
  const { session } = state;
  const change = (name: string, to: Session, rung = true): Step<State> => ({
    name,
    by: "person",
    to: { ...state, session: to, rung: state.rung || rung },
  });
  if (!session.open) return;
  const answered = machine.answer(session);
  if (session.turns.length < MOST_TURNS) {
    if (answered) yield change("who was asked answers", queue(answered, "channel", true));
    yield change(answered ? "somebody else writes" : "somebody writes", queue(session, "channel", false));
    yield change("a program submits a turn", queue(machine.close(session) ?? session, "user", false));
  }
  yield change("somebody interrupts", machine.requestCancel(session), false);
  const ended = machine.requestCancel(machine.cancelAll(machine.close(session) ?? session));
  yield change("somebody ends the session", { ...ended, open: false }, false);
}

const queue = (session: Session, source: Row["source"], answers: boolean): Session => ({
  ...session,
  turns: [...session.turns, { ...DONE, status: "queued", source, answers }],
});

// ------------------------------------------------------------------------------------------------------- the sweeper

function* sweeper(state: State, machine: Machine): Iterable<Step<State>> {
  const { session } = state;
  for (const [at, row] of session.turns.entries()) {
    const to = (of: Session, rung = state.rung): State => ({ ...state, session: of, rung });
    const turns = (change: Partial<Row>) => session.turns.map((one, i) => (i === at ? { ...one, ...change } : one));
    if (row.lease === "ahead") {
      const late = { ...session, turns: turns({ lease: "past" }) };
      yield { name: `the lease on turn ${at + 1} runs out`, by: "machine", to: to(late) };
    }
    const lost = machine.sweeps ? machine.requeueLost(session, at) : null;
    if (!lost) continue;
    const ends = (end: "failed" | "cancelled") => to(machine.settleQueued(lost, at, end) ?? lost, true);
    const name = `the sweeper takes turn ${at + 1} from its worker`;
    if (row.cancel) yield { name: `${name} and cancels it`, by: "machine", to: ends("cancelled") };
    else {
      yield { name, by: "machine", to: to(lost, true) };
      yield { name: `${name} and gives it up`, by: "fault", to: ends("failed") };
    }
  }
  const sleeps =
    session.open &&
    session.question !== "open" &&
    session.turns.some((row) => row.status === "queued") &&
    session.turns.every((row) => row.status !== "running");
  if (machine.sweeps && sleeps && !state.rung) {
    yield { name: "the sweeper rings again", by: "machine", to: { ...state, rung: true } };
  }
  if (state.rung) yield { name: "the wake is lost", by: "fault", to: { ...state, rung: false } };
}

// ------------------------------------------------------------------------------------------------------- the workers

function* work(state: State, by: Holder, machine: Machine): Iterable<Step<State>> {
  const { session } = state;
  const who = `worker ${by + 1}`;
  const become = (at: Worker, change: Partial<State> = {}): State => ({
    ...state,
    ...change,
    workers: by === 0 ? [at, state.workers[1]] : [state.workers[0], at],
  });
  const at = state.workers[by];
  if (at === null) {
    if (!state.rung) return;
    const claimed = machine.claim(session, by);
    if (!claimed) {
      yield { name: `${who} finds nothing to start`, by: "machine", to: become(null, { rung: false }) };
      return;
    }
    const next = claimed.turns.findIndex((row, i) => row.status === "running" && session.turns[i] !== row);
    const overtaken =
      !session.turns[next]?.answers && session.turns.some((row) => row.answers && row.status === "queued");
    const change = {
      session: claimed,
      overtaken: state.overtaken || overtaken,
      startedInVain: state.startedInVain || !session.open,
    };
    yield { name: `${who} starts turn ${next + 1}`, by: "machine", to: become(next, { ...change, rung: false }) };
    yield { name: `${who} starts turn ${next + 1}, its wake comes again`, by: "fault", to: become(next, change) };
    return;
  }
  const turn = `turn ${at + 1}`;
  if (state.crashes < CRASHES) {
    yield { name: `${who} crashes in ${turn}`, by: "fault", to: become(null, { crashes: state.crashes + 1 }) };
  }
  // It goes on with the session's next, as if it was rung for.
  const done = { rung: true };
  const taken = state.taken || session.turns[at]?.holder !== by;
  for (const end of ["completed", "failed", "cancelled"] as const satisfies End[]) {
    // A worker gives up by itself only what it was asked to stop.
    if (end === "cancelled" && !session.turns[at]?.cancel) continue;
    const settled = machine.settle(session, at, by, end);
    const name = settled ? `${turn} is ${end}` : `${turn} ends in vain`;
    const to = become(null, settled ? { ...done, session: settled, taken } : done);
    yield { name: `${name} by ${who}`, by: "machine", to };
  }
  const asks = machine.settle(session, at, by, "completed");
  if (asks?.turns[at]?.status === "completed" && state.asked < MOST_QUESTIONS) {
    const asked: Session = { ...machine.cancelChat(asks), question: "open" };
    const askedOver = state.askedOver || session.question === "open";
    const change = { session: asked, asked: state.asked + 1, askedOver, taken };
    yield { name: `${turn} of ${who} asks a question`, by: "machine", to: become(null, { ...done, ...change }) };
  }
  const back = machine.handBack(session, at, by);
  if (back)
    yield {
      name: `${who} shuts down and hands ${turn} back`,
      by: "fault",
      to: become(null, { ...done, session: back }),
    };
}
