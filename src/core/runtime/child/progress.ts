import { RUNTIME_LIMITS } from "../limits.ts";

export interface ProgressLine {
  report(json: string): void;
  /** Sends what is held back; nothing is sent after. */
  end(): void;
}

/** Passes on at most 20 values per second; of what comes faster the newest survives, with a count of the others. */
export function createProgressLine(send: (json: string, dropped: number) => void): ProgressLine {
  let held: string | null = null;
  let dropped = 0;
  let sent = 0;
  let windowEnd = 0;
  let timer: NodeJS.Timeout | null = null;
  let ended = false;

  const pass = (json: string) => {
    send(json, dropped);
    sent++;
    dropped = 0;
    held = null;
  };
  const flush = () => {
    timer = null;
    windowEnd = performance.now() + 1000;
    sent = 0;
    if (held !== null) pass(held);
  };

  return {
    report(json) {
      if (ended) return;
      const now = performance.now();
      if (now >= windowEnd && timer === null) {
        windowEnd = now + 1000;
        sent = 0;
      }
      if (sent < RUNTIME_LIMITS.progressPerSecond) return pass(json);
      if (held !== null) dropped++;
      held = json;
      timer ??= setTimeout(flush, Math.max(0, windowEnd - now));
    },
    end() {
      if (timer) clearTimeout(timer);
      if (held !== null) pass(held);
      ended = true;
    },
  };
}
