import { mayDecide } from "../../../../src/core/domain/deciders.ts";
import {
  type ApplyOutcome,
  type ApplyReport,
  DECISION_STATUSES,
  isFinal,
  judgeApply,
  type Traffic,
} from "../../../../src/core/domain/decision.ts";
import type { Person } from "../../../../src/core/domain/message.ts";
import { ANA, BEN, newThread, STRANGER } from "../../../helpers/core/inbound.ts";
import type { Step, World } from "../explore.ts";
import { isWaiting, type Outcome, type Row, STATEMENTS, type Statements } from "./statements.ts";

/**
 * One proposed write in a world that has everything that may go wrong with it: two people and a stranger whose clicks
 * come when they like and come again, two workers that crash, pause and come back late, wakes that are lost or
 * repeated, leases and the card's time running out, a target that commits and answers nothing, `verify`.
 */

type Click = "ana approves" | "ben rejects" | "ana runs it again" | "ben runs it again";
type Verb = "approve" | "reject" | "authoriseAgain";

const CLICKS: Readonly<Record<Click, { readonly by: Person; readonly verb: Verb }>> = {
  "ana approves": { by: ANA, verb: "approve" },
  "ben rejects": { by: BEN, verb: "reject" },
  "ana runs it again": { by: ANA, verb: "authoriseAgain" },
  "ben runs it again": { by: BEN, verb: "authoriseAgain" },
};

/** What a worker is about to do. `doubt`: an earlier attempt may have written. */
type Worker =
  | { readonly next: "take a wake" }
  | { readonly next: "start" }
  | { readonly next: "send" | "hear"; readonly attempt: number; readonly doubt: boolean }
  | { readonly next: "finish"; readonly attempt: number; readonly outcome: Outcome };

/** One call of the target: not made, on its way, committed, refused with a 4xx, never there; nobody waits for it. */
type Call = "none" | "travelling" | "committed" | "refused" | "gone" | "over";

export interface State {
  readonly row: Row;
  /** The clicks that changed the row. One that changed nothing may as well come later: it is not kept. */
  readonly clicks: readonly Click[];
  readonly rung: boolean;
  readonly workers: readonly [Worker, Worker];
  /** By attempt. */
  readonly calls: readonly Call[];
  readonly effects: number;
  readonly crashes: number;
  readonly matches: boolean;
  /** What an observer remembers. */
  readonly decided: number;
  readonly doubted: boolean;
  readonly calledTwice: boolean;
}

export interface Conditions {
  /** The target knows a key it has seen, and does nothing twice. */
  readonly honoursKey: boolean;
  /** What would run may become something else than what was approved. */
  readonly mayChange: boolean;
  readonly verifies: boolean;
  readonly crashes: number;
}

/** What may be changed to see that it is missed. */
export interface Machine extends Statements {
  readonly judge: typeof judgeApply;
  readonly inbox: boolean;
  readonly sweeps: boolean;
  readonly mayDecide: (who: Person) => boolean;
}

export const MACHINE: Machine = {
  ...STATEMENTS,
  judge: judgeApply,
  inbox: true,
  sweeps: true,
  mayDecide: (who) => Boolean(mayDecide(RULE, who, THREAD)),
};

const IDLE: Worker = { next: "take a wake" };
const OUTCOME: Readonly<Record<ApplyOutcome, Outcome>> = {
  reportApplied: "applied",
  reportFailed: "failed",
  reportUnconfirmed: "unconfirmed",
};
const THREAD = newThread();
const RULE = {
  person: ANA,
  rule: {
    deciders: { slack: { users: [ANA.userId, BEN.userId], usergroups: [] } },
    requesterMayDecide: true,
    expiresAfterMs: 1,
    applyTimeoutMs: 1,
  },
};

/** A bound that only a broken machine meets: it would start for ever. */
const MOST_STARTS = 4;

export function createDecisionWorld(conditions: Conditions, machine: Machine = MACHINE): World<State> {
  return {
    start: {
      row: { status: "pending", attempt: 0, again: false, expires: null, lease: null },
      clicks: [],
      rung: false,
      workers: [IDLE, IDLE],
      calls: [],
      effects: 0,
      crashes: 0,
      matches: true,
      decided: 0,
      doubted: false,
      calledTwice: false,
    },
    *steps(state) {
      if (state.row.attempt > MOST_STARTS) return;
      for (const { name, by, to } of everything(state, conditions, machine))
        yield { name, by, to: to === state ? to : tidy(to) };
    },
    holds: conditions.honoursKey ? { ...HOLDS, ...HAPPENS_ONCE } : HOLDS,
    settled: ({ row, workers, calls }) =>
      (isFinal(row.status) || (row.status === "unconfirmed" && !row.again)) &&
      workers.every((w) => w.next === "take a wake") &&
      !calls.includes("travelling"),
  };
}

function* everything(state: State, conditions: Conditions, machine: Machine): Iterable<Step<State>> {
  if (conditions.mayChange && state.matches) {
    yield { name: "what would run is replaced", by: "fault", to: { ...state, matches: false } };
  }
  yield* clicks(state, machine);
  yield* time(state);
  yield* sweeper(state, machine);
  yield* target(state, conditions);
  yield* verify(state, conditions, machine);
  for (const [at, worker] of state.workers.entries()) yield* work(state, worker, at, conditions, machine);
}

/**
 * What nothing looks at any more is forgotten, and two workers that could change places are in one order: it is the
 * same world, and only a fraction of the states.
 */
function tidy(state: State): State {
  const { row, workers, calls } = state;
  const listened = new Set(workers.map((w) => (w.next === "send" || w.next === "hear" ? w.attempt : 0)));
  return {
    ...state,
    row: row.status === "pending" ? row : { ...row, expires: null },
    workers: rank(workers[0]) <= rank(workers[1]) ? workers : [workers[1], workers[0]],
    calls: calls.map((call, i) => (call === "travelling" || listened.has(i + 1) ? call : "over")),
  };
}

const rank = (worker: Worker): string => Object.values(worker).join();

const won = ({ clicks }: State, verb: Verb): number => clicks.filter((click) => CLICKS[click].verb === verb).length;

const HOLDS: World<State>["holds"] = {
  "I1 it is decided once": ({ decided }) => decided <= 1,
  "I2 an attempt calls the target once": ({ calledTwice }) => !calledTwice,
  "I3 it starts once an authorisation": (state) =>
    state.row.attempt <= won(state, "approve") + won(state, "authoriseAgain"),
  "I4 an effect was approved": (state) => state.effects === 0 || won(state, "approve") === 1,
  "I6 applied means that it happened": ({ row, effects }) => row.status !== "applied" || effects > 0,
  "I6 rejected and expired mean that it did not": ({ row, effects, calls }) =>
    !["rejected", "expired"].includes(row.status) || (effects === 0 && !calls.includes("travelling")),
  "I7 failed means that it did not and will not": ({ row, effects, calls, workers }) =>
    row.status !== "failed" ||
    (effects === 0 && !calls.includes("travelling") && !workers.some((w) => w.next === "send")),
  "A5 what was in doubt never failed": ({ row, doubted }) => !doubted || row.status !== "failed",
  "A4 a status has the columns it needs": ({ row }) =>
    DECISION_STATUSES.includes(row.status) && (row.status === "applying") === (row.lease !== null),
};

/** The promise's last sentence: true of a target that honours the key, and only of such a one. */
export const HAPPENS_ONCE: World<State>["holds"] = { "I2 the effect happens once": ({ effects }) => effects <= 1 };

// ----------------------------------------------------------------------------------------------------------- people

function* clicks(state: State, machine: Machine): Iterable<Step<State>> {
  for (const [name, { by, verb }] of Object.entries(CLICKS) as [Click, (typeof CLICKS)[Click]][]) {
    const before = state.clicks.includes(name);
    const to = before && machine.inbox ? state : click(state, name, by, verb, machine);
    yield { name: before ? `${name}, delivered again` : name, by: "person", to };
  }
  yield { name: "a stranger approves", by: "person", to: click(state, null, STRANGER, "approve", machine) };
}

/** One click is one transaction; whoever loses a pending one whose time is over expires it. */
function click(state: State, name: Click | null, by: Person, verb: Verb, machine: Machine): State {
  if (!machine.mayDecide(by)) return state;
  const row = machine[verb](state.row);
  const late = row ? null : machine.expire(state.row);
  return {
    ...state,
    row: row ?? late ?? state.row,
    rung: state.rung || (row !== null && verb !== "reject"),
    decided: state.decided + ((row && verb !== "authoriseAgain") || late ? 1 : 0),
    clicks: row && name ? [...new Set([...state.clicks, name])].sort() : state.clicks,
  };
}

// -------------------------------------------------------------------------------------------- the clock, the sweeper

function* time(state: State): Iterable<Step<State>> {
  const { row } = state;
  const pass = (name: string, change: Partial<Row>): Step<State> => ({
    name,
    by: "machine",
    to: { ...state, row: { ...row, ...change } },
  });
  if (row.status === "pending" && row.expires === null) yield pass("the card is delivered", { expires: "ahead" });
  if (row.expires === "ahead" && row.status === "pending")
    yield pass("the time to decide runs out", { expires: "past" });
  if (row.lease === "ahead") yield pass("the lease runs out", { lease: "past" });
}

function* sweeper(state: State, machine: Machine): Iterable<Step<State>> {
  const expired = machine.expire(state.row);
  if (expired) {
    yield { name: "the sweeper expires it", by: "machine", to: { ...state, row: expired, decided: state.decided + 1 } };
  }
  const lost = machine.lose(state.row);
  if (lost) {
    const rung = state.rung || isWaiting(lost);
    yield { name: "the sweeper gives the attempt up", by: "machine", to: { ...state, row: lost, rung, doubted: true } };
  }
  if (machine.sweeps && !state.rung && isWaiting(state.row)) {
    yield { name: "the sweeper rings again", by: "machine", to: { ...state, rung: true } };
  }
  if (state.rung) yield { name: "the wake is lost", by: "fault", to: { ...state, rung: false } };
}

// ------------------------------------------------------------------------------------------------------- the target

function* target(state: State, { honoursKey }: Conditions): Iterable<Step<State>> {
  for (const [at, call] of state.calls.entries()) {
    if (call !== "travelling") continue;
    const ends = (as: Call, effects = state.effects): State => ({
      ...state,
      effects,
      calls: replaced(state.calls, at, as),
    });
    const n = `call ${at + 1}`;
    yield {
      name: `the target commits ${n}`,
      by: "machine",
      to: ends("committed", honoursKey ? 1 : state.effects + 1),
    };
    // A key that is honoured is answered as at first, however often it comes.
    if (!honoursKey || state.effects === 0)
      yield { name: `the target refuses ${n}`, by: "machine", to: ends("refused") };
    yield { name: `${n} never arrives`, by: "fault", to: ends("gone") };
  }
}

/** What is there stays there: whether `verify` looked just now or long ago, it has seen the same. */
function* verify(state: State, { verifies }: Conditions, machine: Machine): Iterable<Step<State>> {
  const row = verifies && state.effects > 0 ? machine.settleVerified(state.row) : null;
  if (row) yield { name: "verify finds the effect", by: "machine", to: { ...state, row } };
}

// ------------------------------------------------------------------------------------------------------ the workers

function* work(
  state: State,
  worker: Worker,
  at: number,
  conditions: Conditions,
  machine: Machine,
): Iterable<Step<State>> {
  const become = (next: Worker, change: Partial<State> = {}): State => ({
    ...state,
    ...change,
    workers: set(state.workers, at, next),
  });
  if (worker.next !== "take a wake" && state.crashes < conditions.crashes) {
    const where = worker.next === "start" ? "before its start" : `${BEFORE[worker.next]} of attempt ${worker.attempt}`;
    yield { name: `a worker crashes ${where}`, by: "fault", to: become(IDLE, { crashes: state.crashes + 1 }) };
  }
  switch (worker.next) {
    case "take a wake":
      if (!state.rung) return;
      yield { name: "a worker takes the wake", by: "machine", to: become({ next: "start" }, { rung: false }) };
      yield { name: "a worker takes the wake, which comes again", by: "fault", to: become({ next: "start" }) };
      return;
    case "start":
      yield start(state, become, machine);
      return;
    default:
      yield* attempt(state, worker, become, machine);
  }
}

const BEFORE = { send: "before the call", hear: "before the answer", finish: "before the outcome" } as const;

type Become = (next: Worker, change?: Partial<State>) => State;

function start(state: State, become: Become, machine: Machine): Step<State> {
  if (!state.matches) {
    const row = machine.refuseStart(state.row) ?? machine.refuseAgain(state.row) ?? state.row;
    return { name: "a worker refuses what does not match", by: "machine", to: become(IDLE, { row }) };
  }
  const row = machine.start(state.row);
  if (!row) return { name: "a worker finds nothing to start", by: "machine", to: become(IDLE) };
  const started: Worker = { next: "send", attempt: row.attempt, doubt: state.row.status === "unconfirmed" };
  return {
    name: `a worker commits the start of attempt ${row.attempt}`,
    by: "machine",
    to: become(started, { row, calls: [...state.calls, "none"] }),
  };
}

function* attempt(
  state: State,
  worker: Extract<Worker, { attempt: number }>,
  become: Become,
  machine: Machine,
): Iterable<Step<State>> {
  const { attempt } = worker;
  const renewed = state.row.lease === "past" ? machine.renew(state.row, attempt) : null;
  if (renewed)
    yield { name: `attempt ${attempt} renews its lease`, by: "machine", to: become(worker, { row: renewed }) };
  if (worker.next === "finish") {
    const row =
      machine.finish(state.row, attempt, worker.outcome) ?? machine.reportLate(state.row, attempt, worker.outcome);
    const written = { row: row ?? state.row, doubted: state.doubted || row?.status === "unconfirmed" };
    const name = `attempt ${attempt} reports ${worker.outcome}${row ? "" : ", as evidence"}`;
    yield { name, by: "machine", to: become(IDLE, written) };
    yield { name: `${name}; the acknowledgement is lost`, by: "fault", to: become(worker, written) };
    return;
  }
  const ends = (report: ApplyReport): Worker => ({
    next: "finish",
    attempt,
    outcome: OUTCOME[machine.judge(report, worker.doubt)],
  });
  if (worker.next === "send") {
    const sent = { calls: replaced(state.calls, attempt - 1, "travelling") } as const;
    yield {
      name: `attempt ${attempt} calls the target`,
      by: "machine",
      to: become({ ...worker, next: "hear" }, { ...sent, calledTwice: state.calls[attempt - 1] !== "none" }),
    };
    const nothing = ends({ kind: "threw", notApplied: true, traffic: { writes: [], opaque: 0 } });
    yield { name: `attempt ${attempt} throws NotApplied`, by: "machine", to: become(nothing) };
    return;
  }
  for (const { says, report } of ANSWERS[state.calls[attempt - 1] ?? "none"]) {
    yield { name: `attempt ${attempt} ${says}`, by: "machine", to: become(ends(report)) };
  }
}

const wrote = (status: number | null): Traffic => ({ writes: [{ status }], opaque: 0 });
const threw = (status: number | null) => ({ kind: "threw", notApplied: false, traffic: wrote(status) }) as const;

type Answer = { readonly says: string; readonly report: ApplyReport };
const TIMES_OUT: Answer = { says: "times out", report: { kind: "lost" } };
const IS_CUT_OFF: Answer = { says: "is cut off", report: threw(null) };

/** What an attempt may hear, by what became of its call. */
const ANSWERS: Readonly<Record<Call, readonly Answer[]>> = {
  none: [],
  travelling: [TIMES_OUT, IS_CUT_OFF],
  committed: [
    { says: "hears 200", report: { kind: "returned" } },
    { says: "hears 500", report: threw(500) },
    TIMES_OUT,
    IS_CUT_OFF,
  ],
  refused: [{ says: "hears 409", report: threw(409) }, TIMES_OUT],
  gone: [TIMES_OUT, IS_CUT_OFF],
  over: [],
};

// --------------------------------------------------------------------------------------------------------- the rest

const replaced = <T>(list: readonly T[], at: number, by: T): readonly T[] =>
  list.map((item, i) => (i === at ? by : item));

const set = (workers: State["workers"], at: number, worker: Worker): State["workers"] =>
  at === 0 ? [worker, workers[1]] : [workers[0], worker];
