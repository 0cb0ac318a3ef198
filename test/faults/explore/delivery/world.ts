import type { Step, World } from "../explore.ts";
import { type Holder, isOpen, type Row, STATEMENTS, type Statements } from "./statements.ts";

/**
 * One lane: the card of a pending decision, and behind it the edit that redraws it. Two workers that crash and come back late, a
 * platform that posts and does not answer, that cannot say what it has, that refuses.
 */

type Heard = "it is there" | "nothing" | "not now" | "never";

type Worker =
  | { readonly next: "claim" }
  | { readonly next: "send" | "look"; readonly at: 0 | 1 }
  | { readonly next: "write"; readonly at: 0 | 1; readonly heard: Heard }
  | { readonly next: "tell"; readonly at: 0 | 1; readonly found: boolean | null };

export interface State {
  readonly lane: readonly [Row, Row];
  readonly workers: readonly [Worker, Worker];
  /** A request whose sender has stopped waiting, and which the platform may still take. */
  readonly travelling: boolean;
  /** Messages on screen that are the card, and whether it shows the edit. */
  readonly messages: number;
  readonly redrawn: boolean;
  readonly crashes: number;
}

export interface Conditions {
  /** The platform takes a delivery's id for the message's own: a second post with it changes nothing. Linear does. */
  readonly keyed: boolean;
  /** A request may leave when its lease is over, and arrive when its sender has stopped waiting. */
  readonly late: boolean;
  readonly crashes: number;
}

export interface Machine extends Statements {
  /** What was in doubt is looked for before it is posted again. */
  readonly looks: boolean;
}
export const MACHINE: Machine = { ...STATEMENTS, looks: true };

const IDLE: Worker = { next: "claim" };
const QUEUED: Row = { status: "queued", holder: null, lease: null, due: true, inDoubt: false };
const NAME = ["the card", "the edit"] as const;

export function createDeliveryWorld(conditions: Conditions, machine: Machine = MACHINE): World<State> {
  return {
    start: {
      lane: [QUEUED, QUEUED],
      workers: [IDLE, IDLE],
      travelling: false,
      messages: 0,
      redrawn: false,
      crashes: 0,
    },
    *steps(state) {
      // What is broken beyond this is broken alike.
      if (state.messages > 1) return;
      for (const { name, by, to } of everything(state, conditions, machine)) yield { name, by, to: tidy(to) };
    },
    holds: {
      "G5 one delivery is one message": ({ messages }) => messages <= 1,
      "G5 what is sent is there": ({ lane: [card, edit], messages, redrawn }) =>
        (card.status !== "sent" || messages > 0) && (edit.status !== "sent" || redrawn),
      "G5 the order holds": ({ messages, redrawn }) => !redrawn || messages > 0,
      "G5 a row is sent by whom it says": ({ lane }) =>
        lane.every((row) => (row.status === "sending") === (row.lease !== null)),
    },
    settled: ({ lane, workers }) => !lane.some(isOpen) && workers.every((worker) => worker.next === "claim"),
  };
}

function* everything(state: State, conditions: Conditions, machine: Machine): Iterable<Step<State>> {
  yield* time(state, conditions);
  yield* sweeper(state, machine);
  if (state.travelling) yield arrives(state, conditions);
  for (const by of [0, 1] as const) yield* work(state, by, conditions, machine);
}

/** Who held what nobody works on any more is forgotten, and when a settled one was due. */
function tidy(state: State): State {
  const [card, edit] = state.lane.map((row, at) => ({
    ...row,
    holder: state.workers.some((w, by) => w.next !== "claim" && w.at === at && row.holder === by) ? row.holder : null,
    due: row.due || !["queued", "unknown"].includes(row.status),
  }));
  return card && edit ? { ...state, lane: [card, edit] } : state;
}

const put = <T>(pair: readonly [T, T], at: 0 | 1, by: T): readonly [T, T] => (at === 0 ? [by, pair[1]] : [pair[0], by]);

function* time(state: State, { late }: Conditions): Iterable<Step<State>> {
  for (const at of [0, 1] as const) {
    const row = state.lane[at];
    const to = (change: Partial<Row>): State => ({ ...state, lane: put(state.lane, at, { ...row, ...change }) });
    if (!row.due && isOpen(row)) yield { name: `${NAME[at]} is due`, by: "machine", to: to({ due: true }) };
    const unsent = state.workers.some((w, by) => w.next === "send" && w.at === at && row.holder === by);
    if (row.lease === "ahead" && (late || !unsent)) {
      yield { name: `the lease on ${NAME[at]} runs out`, by: "machine", to: to({ lease: "past" }) };
    }
  }
}

function* sweeper(state: State, machine: Machine): Iterable<Step<State>> {
  const lane: readonly [Row, Row] = [
    machine.lose(state.lane[0]) ?? state.lane[0],
    machine.lose(state.lane[1]) ?? state.lane[1],
  ];
  if (lane.some((row, at) => row !== state.lane[at])) {
    yield { name: "the sweeper gives up whose lease is over", by: "machine", to: { ...state, lane } };
  }
  const offered = machine.offerAgain(state.lane[0]);
  if (offered) {
    yield { name: "the card is offered again", by: "fault", to: { ...state, lane: put(state.lane, 0, offered) } };
  }
}

const post = (state: State, keyed: boolean): State => ({
  ...state,
  messages: keyed ? 1 : state.messages + 1,
});

const arrives = (state: State, { keyed }: Conditions): Step<State> => ({
  name: "a request that nobody waits for arrives",
  by: "machine",
  to: post({ ...state, travelling: false }, keyed),
});

function* work(state: State, by: Holder, conditions: Conditions, machine: Machine): Iterable<Step<State>> {
  const worker = state.workers[by];
  const who = `worker ${by + 1}`;
  const become = (next: Worker, change: Partial<State> = {}): State => ({
    ...state,
    ...change,
    workers: put(state.workers, by, next),
  });
  const written = (at: 0 | 1, row: Row | null, what: string): Step<State> => ({
    name: `${who} ${row ? "writes that" : "finds it taken away, and"} ${NAME[at]} ${what}`,
    by: "machine",
    to: become(IDLE, row ? { lane: put(state.lane, at, row) } : {}),
  });
  if (worker.next !== "claim" && state.crashes < conditions.crashes) {
    const to = become(IDLE, { crashes: state.crashes + 1 });
    yield { name: `${who} crashes before it could ${worker.next}`, by: "fault", to };
    if (conditions.late && worker.next === "send" && worker.at === 0 && !state.travelling) {
      yield { name: `${who} crashes; its request is on its way`, by: "fault", to: { ...to, travelling: true } };
    }
  }
  switch (worker.next) {
    case "claim": {
      const at = ([0, 1] as const).find((n) => isOpen(state.lane[n]));
      const row = at === undefined ? null : machine.claim(state.lane[at], by);
      if (!row || at === undefined) return;
      const looks = row.status === "unknown";
      const next = looks && machine.looks ? "look" : "send";
      const to = become({ next, at }, { lane: put(state.lane, at, row) });
      yield { name: `${who} takes ${NAME[at]}${looks ? ", which may be there" : ""}`, by: "machine", to };
      return;
    }
    case "send":
      yield* send(state, who, worker.at, become, conditions);
      return;
    case "look":
      // The same content in the same place: doing an edit twice is doing it once.
      if (worker.at === 1) yield written(1, machine.requeue(state.lane[1], by), "is to be done again");
      else {
        const found = state.messages > 0;
        const to = (said: boolean | null) => become({ next: "tell", at: 0, found: said });
        yield { name: `${who} looks: it is ${found ? "" : "not "}there`, by: "machine", to: to(found) };
        yield { name: `${who} looks: the platform cannot say`, by: "fault", to: to(null) };
      }
      return;
    case "tell": {
      const row = state.lane[worker.at];
      if (worker.found === true) yield written(0, machine.markSent(row, by), "is there");
      else if (worker.found === false) yield written(0, machine.requeue(row, by), "is not there");
      else {
        yield written(0, machine.markUnknown(row, by), "is to be looked for again");
        yield written(0, machine.markDead(row, by, true), "was looked for too often");
      }
      return;
    }
    case "write": {
      const { at, heard } = worker;
      const row = state.lane[at];
      if (heard === "it is there") yield written(at, machine.markSent(row, by), "is there");
      else if (heard === "not now") yield written(at, machine.requeue(row, by), "is to be sent later");
      else if (heard === "never") yield written(at, machine.markDead(row, by, false), "was refused");
      else if (at === 1) yield written(1, machine.requeue(row, by), "is to be done again");
      else yield written(0, machine.markUnknown(row, by), "may be there");
    }
  }
}

function* send(
  state: State,
  who: string,
  at: 0 | 1,
  become: (next: Worker, change?: Partial<State>) => State,
  { keyed, late }: Conditions,
): Iterable<Step<State>> {
  const hears = (heard: Heard, change?: Partial<State>): State => become({ next: "write", at, heard }, change);
  // Behind a card that reached nobody there is nothing to edit.
  if (at === 1 && state.messages === 0) {
    yield { name: `${who} has nothing to edit`, by: "machine", to: hears("never") };
    return;
  }
  const there = at === 0 ? post(state, keyed) : { ...state, redrawn: true };
  const { messages, redrawn } = there;
  yield { name: `${who} sends ${NAME[at]}`, by: "machine", to: hears("it is there", { messages, redrawn }) };
  yield { name: `${who} sends ${NAME[at]}, no answer comes`, by: "fault", to: hears("nothing", { messages, redrawn }) };
  yield { name: `${who} sends ${NAME[at]}, which never arrives`, by: "fault", to: hears("nothing") };
  if (late && at === 0 && !state.travelling) {
    yield {
      name: `${who} sends ${NAME[at]} and stops waiting`,
      by: "fault",
      to: hears("nothing", { travelling: true }),
    };
  }
  yield { name: `${who} sends ${NAME[at]}: not now`, by: "fault", to: hears("not now") };
  yield { name: `${who} sends ${NAME[at]}: never`, by: "fault", to: hears("never") };
}
