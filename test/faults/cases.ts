import { type Called, type Flow, flowOf } from "./crashPoints.ts";
import type { Case, Ended } from "./run.ts";

/**
 * The distinct instants of what a process called: a process that dies leaves the same behind wherever nothing happened
 * in between that anybody outside could see. To stop before a call is to stop after the one before it, where the same
 * flow made both; to stop after a call that changed nothing is to stop before it. Kept apart are the rings, since
 * people are answered before them, and what follows a job, since the queue learns of its end in between.
 */
export function instants(called: readonly Called[]): Called[] {
  return called.filter(({ point, label, quiet = false }, i) => {
    const before = called[i - 1];
    if (before === undefined || flowOf(before.point) !== flowOf(point)) return true;
    return point.endsWith(":before")
      ? label === "queue.wake" || label === "connect" || before.label === "job"
      : !(quiet && before.label === label);
  });
}

/** Which of the points that were reached are cases: `instants`, or all of them. */
export type Pick = (called: readonly Called[]) => readonly Called[];

/** Every instant of the first process of a story. */
export const singles = (reference: Ended, pick: Pick = instants): Case[] => singlesOf([reference], pick);

/**
 * The same of several stories. Until somebody decides, stories are one: what the first of them went through in the
 * same words is not gone through again.
 */
export function singlesOf(references: readonly Ended[], pick: Pick = instants): Case[] {
  const first = references[0]?.called[0] ?? [];
  return references.flatMap(({ of, called: [called = []] }, n) => {
    const shared = n === 0 ? 0 : sharedBeginning(first, called);
    const behind = new Set(called.slice(shared).map(({ point }) => point));
    return pick(called)
      .filter(({ point }) => behind.has(point))
      .map(({ point }) => ({ story: of.story, points: [point], how: "kill" }));
  });
}

function sharedBeginning(one: readonly Called[], other: readonly Called[]): number {
  const apart = one.findIndex(({ point, label }, i) => {
    const same = other[i]?.point === point && other[i]?.label === label;
    return !same || flowOf(point) === "decide";
  });
  return apart < 0 ? one.length : apart;
}

/** For every first crash in one of `first`, every second one in `second` as the recovery went through those flows. */
export const pairs = (
  ended: readonly Ended[],
  first: readonly Flow[],
  second: readonly Flow[],
  pick: Pick = instants,
): Case[] =>
  ended
    .filter(({ of, stops }) => of.points.length === 1 && stops.some(({ point }) => first.includes(flowOf(point))))
    .flatMap(({ of, called }) =>
      pick(called[1] ?? [])
        .filter(({ point }) => second.includes(flowOf(point)))
        .map(({ point }) => ({ ...of, points: [...of.points, point] })),
    );

/** Every point of the queue's own calls: it took a ring, or a job began or ended. */
export const ofTheQueue = (reference: Ended): Case[] =>
  singles(reference, (called) => called.filter(({ label }) => label === "queue.wake" || label === "job"));

/**
 * The instants that leave different things behind: of those within one transaction, which is undone whole, the last.
 * Each of the others was killed once, alone; pairs begin with these.
 */
export function commitments(called: readonly Called[]): readonly Called[] {
  const inside = withinTransactions(called);
  return instants(called).filter((one, i, all) => !inside.has(one) || !inside.has(all[i + 1] ?? one));
}

/**
 * Every instant of these flows outside of a transaction, for a worker that stands still: inside of one it holds its
 * locks until PostgreSQL ends it, after `idle_in_transaction_session_timeout`, half a minute in which its session waits.
 */
export function pauses(reference: Ended, flows: readonly Flow[]): Case[] {
  const outside = (called: readonly Called[]): Called[] => {
    const inside = withinTransactions(called);
    return instants(called).filter((one) => !inside.has(one) && flows.includes(flowOf(one.point)));
  };
  return singles(reference, outside).map((of) => ({ ...of, how: "pause" }));
}

function withinTransactions(called: readonly Called[]): ReadonlySet<Called> {
  let open = false;
  return new Set(
    called.filter(({ point, label }) => {
      if (label === "begin" && point.endsWith(":before")) open = true;
      if ((label === "commit" || label === "rollback") && point.endsWith(":after")) open = false;
      return open;
    }),
  );
}
