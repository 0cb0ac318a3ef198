import { type Called, type Flow, flowOf, type Point } from "./crashPoints.ts";
import type { Case, Ended } from "./run.ts";

/**
 * The distinct instants of what a process called. To stop before a call is to stop after the one before it wherever
 * the same flow made both: nothing happened in between that anybody could see. Kept apart are the rings, since people
 * are answered before them, and what follows a job, since the queue learns of its end in between.
 */
export function instants(called: readonly Called[]): Called[] {
  return called.filter(({ point, label }, i) => {
    const before = called[i - 1];
    const same =
      point.endsWith(":before") &&
      before !== undefined &&
      flowOf(before.point) === flowOf(point) &&
      label !== "queue.wake" &&
      label !== "connect" &&
      before.label !== "job";
    return !same;
  });
}

/**
 * Every instant of the first process of each story. Until somebody decides, stories are one: what the first of them
 * went through in the same words is not gone through again.
 */
export function singles(references: readonly Ended[], how: Case["how"] = "kill"): Case[] {
  const first = references[0]?.called[0] ?? [];
  return references.flatMap(({ of, called: [called = []] }, n) => {
    const shared = n === 0 ? 0 : sharedBeginning(first, called);
    const behind = new Set(called.slice(shared).map(({ point }) => point));
    return instants(called)
      .filter(({ point }) => behind.has(point))
      .map(({ point }) => ({ story: of.story, points: [point], how }));
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
export const pairs = (ended: readonly Ended[], first: readonly Flow[], second: readonly Flow[]): Case[] =>
  ended
    .filter(({ of, stops }) => of.points.length === 1 && stops.some(({ point }) => first.includes(flowOf(point))))
    .flatMap(({ of, called }) =>
      instants(called[1] ?? [])
        .filter(({ point }) => second.includes(flowOf(point)))
        .map(({ point }) => ({ ...of, points: [...of.points, point] })),
    );

/** The cases whose point is the queue's own: it took a ring, or a job began or ended. */
export const ofTheQueue = (cases: readonly Case[], references: readonly Ended[]): Case[] =>
  cases.filter(({ story, points: [point] }) => {
    const label = labelOf(references, story, point);
    return label === "queue.wake" || label === "job";
  });

/**
 * The cases whose point is outside of a transaction. A worker that stands still inside of one holds its locks until
 * PostgreSQL ends it, after `idle_in_transaction_session_timeout`: half a minute in which its session waits.
 */
export function outsideTransactions(cases: readonly Case[], { called: [called = []] }: Ended): Case[] {
  const inside = new Set<Point>();
  let open = false;
  for (const { point, label } of called) {
    if (label === "begin" && point.endsWith(":before")) open = true;
    if (label === "commit" && point.endsWith(":after")) open = false;
    if (open) inside.add(point);
  }
  return cases.filter(({ points: [point] }) => point !== undefined && !inside.has(point));
}

const labelOf = (references: readonly Ended[], story: Case["story"], point: Point | undefined): string | undefined =>
  references.find(({ of }) => of.story === story)?.called[0]?.find((one) => one.point === point)?.label;
