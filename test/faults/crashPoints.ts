import { AsyncLocalStorage } from "node:async_hooks";

/** The flows whose calls are counted; `decide` is the receiving of a click on a card. */
export const FLOWS = ["receive", "decide", "turn", "apply", "verify", "deliver", "sweep"] as const;
export type Flow = (typeof FLOWS)[number];

/** `apply:7:after`: once the 7th call that apply flows made in this process has returned. */
export type Point = `${Flow}:${number}:${"before" | "after"}`;

/** What the n-th call was: a statement's first words, or `port.method`. */
export interface Called {
  readonly point: Point;
  readonly label: string;
  /** It returned, and nobody outside could tell: it read, or changed no row. */
  readonly quiet?: boolean;
}

export const isPoint = (text: string): text is Point =>
  /^\w+:\d+:(before|after)$/.test(text) && FLOWS.some((flow) => text.startsWith(`${flow}:`));

export const flowOf = (point: Point): Flow => FLOWS.find((flow) => point.startsWith(`${flow}:`)) ?? "receive";

interface Inside {
  readonly flow: Flow;
  /** The fence of the claim the flow holds, once it holds one. */
  readonly fence?: number;
}

/** The counted calls of one run in one process, and the one at which its world stops. */
export interface CrashPoints {
  enter<T>(flow: Flow, work: () => Promise<T>): Promise<T>;
  /**
   * Counts a call of the flow it is made in; outside of any flow it is made and not counted. `isQuiet`: whether the
   * world outside is what it was before; absent, it is not.
   */
  call<T>(label: string, work: () => Promise<T>, isQuiet?: (result: T) => boolean): Promise<T>;
  holding<T>(fence: number, work: () => Promise<T>): Promise<T>;
  inside(): Inside | undefined;
  /** In the order they were reached. */
  readonly called: readonly Called[];
  /** The world of this run stopped once, whether or not it goes on. */
  hasStopped(): boolean;
  /** Lets a stopped world go on, as SIGCONT does. */
  thaw(): void;
}

/**
 * At `stopAt` the world of this run stops: that call, and every later one of any of its flows, neither begins nor
 * returns. The harness then kills the process with -9, so that what was stopped is lost as it stood. Stopping first
 * lets one process die for several runs, whose start is what a crash costs.
 */
export function createCrashPoints(stopAt: Point | null, onStop: (at: Called) => void): CrashPoints {
  const context = new AsyncLocalStorage<Inside>();
  const counts = new Map<Flow, number>();
  const called: Called[] = [];
  let stopped: Promise<void> | null = null;
  let thaw = () => {};
  let spent = false;

  async function pass(point: Point, label: string, quiet = false): Promise<void> {
    if (!stopped) called.push({ point, label, ...(quiet && { quiet }) });
    if (point === stopAt && !spent) {
      spent = true;
      stopped = new Promise((resolve) => {
        thaw = resolve;
      });
      onStop({ point, label });
    }
    while (stopped) await stopped;
  }

  return {
    called,
    enter: (flow, work) => context.run({ flow }, work),
    holding: (fence, work) => {
      const inside = context.getStore();
      return inside ? context.run({ ...inside, fence }, work) : work();
    },
    inside: () => context.getStore(),
    hasStopped: () => spent,
    async call(label, work, isQuiet = () => false) {
      const flow = context.getStore()?.flow;
      if (!flow) return work();
      const n = (counts.get(flow) ?? 0) + 1;
      counts.set(flow, n);
      await pass(`${flow}:${n}:before`, label);
      const result = await work();
      await pass(`${flow}:${n}:after`, label, isQuiet(result));
      return result;
    },
    thaw() {
      stopped = null;
      thaw();
    },
  };
}
