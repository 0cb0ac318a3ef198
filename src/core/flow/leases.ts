import type { Pool } from "../db/pool.ts";
import { CountersignError } from "../domain/errors.ts";
import type { Log } from "../ports.ts";
import { renewAttempts } from "../store/attempts.ts";
import { renewTurns } from "../store/turns.ts";

/** What a worker holds: the row, the fence it was claimed under, and the way to stop the work on it. */
interface Hold {
  readonly id: string;
  readonly fence: number;
  readonly stop: AbortController;
}

/** Why work was stopped: a person asked for it, or the row is somebody else's now. */
export type StopReason = "cancelled" | "lost" | "closing";

export const stopReason = (signal: AbortSignal): StopReason | null =>
  signal.aborted ? ((signal.reason as { stop?: StopReason }).stop ?? "lost") : null;

const reason = (stop: StopReason): Error =>
  Object.assign(new CountersignError("tool_interrupted", undefined, { cause: stop }), { stop });

/**
 * Keeps a worker's claims alive: one statement per kind and beat, however much it runs. Work whose claim is lost, or
 * that a person interrupted, is stopped through its signal.
 */
export interface Leases {
  /** Holds a claim while `work` runs. */
  hold<T>(
    kind: "turn" | "attempt",
    claim: { id: string; fence: number },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** Renews now; the timer calls it, and whoever wants an interrupt noticed at once. */
  beat(): Promise<void>;
  /** The worker shuts down: turns hand themselves back at their next step. */
  closing(): boolean;
  /**
   * Waits for everything held, and for `taken`: the handlers that run, which may still come to hold what they claimed.
   * Renews until then. Turns still at work after `graceMs` are stopped and handed back.
   */
  close(graceMs: number, taken?: Promise<unknown>): Promise<void>;
}

export interface LeasesOptions {
  readonly leaseMs: number;
  readonly beatMs: number;
}

export function createLeases(deps: { pool: Pool; log: Log }, options: LeasesOptions): Leases {
  // By fence: a row this worker lost and claimed again is held twice until the first of the two has stopped.
  const held = { turn: new Map<number, Hold>(), attempt: new Map<number, Hold>() };
  const running = new Set<Promise<unknown>>();
  let closed = false;
  let failing = false;
  let beating: Promise<void> | null = null;

  async function renew(): Promise<void> {
    const turns = [...held.turn.values()];
    const attempts = [...held.attempt.values()];
    if (turns.length > 0) {
      const renewed = await renewTurns(deps.pool, turns, options.leaseMs);
      const kept = new Map(renewed.map((t) => [t.fence, t.cancelRequested]));
      for (const hold of turns) {
        const cancel = kept.get(hold.fence);
        if (cancel === undefined) hold.stop.abort(reason("lost"));
        else if (cancel) hold.stop.abort(reason("cancelled"));
      }
    }
    if (attempts.length > 0) {
      // A lost attempt runs on: its report is evidence, and may still prove that the write happened.
      await renewAttempts(deps.pool, attempts, options.leaseMs);
    }
  }

  const beat = (): Promise<void> => {
    beating ??= renew()
      .then(
        () => {
          failing = false;
        },
        (error) => {
          if (!failing) deps.log.warn({ err: error }, "leases could not be renewed");
          failing = true;
        },
      )
      .finally(() => {
        beating = null;
      });
    return beating;
  };

  const timer = setInterval(() => void beat(), options.beatMs);

  return {
    async hold(kind, claim, work) {
      const hold: Hold = { id: claim.id, fence: claim.fence, stop: new AbortController() };
      held[kind].set(claim.fence, hold);
      const done = work(hold.stop.signal);
      running.add(done);
      try {
        return await done;
      } finally {
        running.delete(done);
        held[kind].delete(claim.fence);
      }
    },
    beat,
    closing: () => closed,
    async close(graceMs, taken) {
      closed = true;
      const impatient = setTimeout(() => {
        // An attempt is never cut short: its own timeout bounds it, and an answer that comes is worth waiting for.
        for (const hold of held.turn.values()) hold.stop.abort(reason("closing"));
      }, graceMs);
      await taken;
      while (running.size > 0) await Promise.allSettled([...running]);
      clearTimeout(impatient);
      clearInterval(timer);
    },
  };
}
