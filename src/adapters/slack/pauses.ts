/**
 * Limits that Slack told us of, each for one method in one channel: what one session learned holds for every other that
 * posts there, and nowhere else (G5). In memory: another process learns it from its own first refusal.
 */
export interface Pauses {
  pause(scope: string, ms: number): void;
  /** How long `scope` still has to wait; 0: not at all. */
  leftMs(scope: string): number;
}

/** A longer one is asked about once a minute: it may be over, or a mistake. */
const MOST_MS = 60_000;

/** `now` counts milliseconds and never goes back. */
export function createPauses(now: () => number): Pauses {
  const until = new Map<string, number>();
  return {
    pause(scope, ms) {
      until.set(scope, Math.max(until.get(scope) ?? 0, now() + Math.min(ms, MOST_MS)));
    },
    leftMs(scope) {
      const left = Math.ceil((until.get(scope) ?? 0) - now());
      if (left > 0) return left;
      until.delete(scope);
      return 0;
    },
  };
}
