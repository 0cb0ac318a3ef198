export interface Ids {
  /** A Slack timestamp, `1767406613.568609`: seconds and microseconds, always later than every one before it. */
  ts(): string;
  /** `prefix` and at least nine capitals or digits, as Slack's own ids look. */
  next(prefix: string): string;
  /** The clock's last reading, for the next start's `after`. */
  last(): number;
}

/**
 * Both kinds of id come from one clock of microseconds that never repeats. A plain counter would begin again with each
 * start, and a gateway that kept its database would take the first events of a new simulator for repeats of old ones.
 */
export function createIds(now: () => number, after = 0): Ids {
  let last = after;
  const tick = (): number => {
    last = Math.max(now() * 1000, last + 1);
    return last;
  };
  return {
    ts: () => {
      const micros = tick();
      return `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, "0")}`;
    },
    next: (prefix) => `${prefix}${tick().toString(36).toUpperCase().padStart(9, "0")}`,
    last: () => last,
  };
}

export const isTs = (value: unknown): value is string => typeof value === "string" && /^\d{10}\.\d{6}$/.test(value);
