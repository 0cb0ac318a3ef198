import type { DecisionStatus } from "../../src/core/domain/decision.ts";
import { type Called, flowOf } from "./crashPoints.ts";
import type { Ended } from "./run.ts";
import { type StoryName, storyOf } from "./stories.ts";

/** How far the first process came with the write before it died. */
export type Progress = "not started" | "started" | "written" | "finished";

/** What must have become of a story whose first process died there: faults 1-9 of the promise. */
interface Outcome {
  readonly status: DecisionStatus | null;
  readonly writes: number;
}

/** By what the process had done: before its start was committed, the write runs once; behind that, only a person runs it. */
const UNLESS_FINISHED: Readonly<Partial<Record<StoryName, Readonly<Record<"started" | "written", Outcome>>>>> = {
  approve: { started: { status: "unconfirmed", writes: 0 }, written: { status: "unconfirmed", writes: 1 } },
  deaf: { started: { status: "unconfirmed", writes: 0 }, written: { status: "unconfirmed", writes: 1 } },
  verify: { started: { status: "unconfirmed", writes: 0 }, written: { status: "applied", writes: 1 } },
};

/** How far `called` came; a call that a point stood before was not made. */
export function progressOf(called: readonly Called[]): Progress {
  const applying = called.filter(({ point }) => flowOf(point) === "apply");
  const done = applying.filter(({ point }, i) => point.endsWith(":after") || applying[i + 1] !== undefined);
  const returned = (label: string, from: number) =>
    applying.findIndex((one, i) => i >= from && one.label === label && one.point.endsWith(":after"));
  const started = returned("commit", 0);
  if (started < 0) return "not started";
  const wrote = done.findIndex((one, i) => i > started && one.label === "ledger.write");
  if (wrote < 0) return "started";
  return returned("commit", wrote) < 0 ? "written" : "finished";
}

/** What is wrong with how a case ended, beyond the invariants; empty: nothing, or nothing is promised of it. */
export function unexpected({ of, stored, effects, stops, called }: Ended): string[] {
  const { status, writes } = outcomeOf(of.story, stops.length === 0 ? "finished" : progressOf(called[0] ?? []));
  const [decision] = stored.decisions;
  // Two deaths, and stories that a person goes on with, end in more than one way: of those the invariants speak.
  const open = stops.length > 1 || of.how === "pause" || (stops.length === 1 && MANY_WAYS.has(of.story));
  if (stored.decisions.length !== (status === null ? 0 : 1)) return [`${stored.decisions.length} decisions were made`];
  if (open || status === null) return [];
  return [
    ...(decision?.status === status ? [] : [`the decision is ${decision?.status} instead of ${status}`]),
    ...(effects.length === writes ? [] : [`${effects.length} writes arrived instead of ${writes}`]),
  ];
}

const MANY_WAYS: ReadonlySet<StoryName> = new Set(["again", "refuse", "once"]);

function outcomeOf(name: StoryName, progress: Progress): Outcome {
  const { ends } = storyOf(name);
  const early = progress === "started" || progress === "written" ? UNLESS_FINISHED[name]?.[progress] : undefined;
  if (early) return early;
  const writes = { applied: name === "again" ? 2 : 1, failed: 1, rejected: 0, expired: 0 };
  return { status: ends, writes: ends === null ? 0 : writes[ends] };
}
