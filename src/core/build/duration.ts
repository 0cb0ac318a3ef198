const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A year: beyond it a date is a typing error. */
const MAX_MS = 365 * UNITS.d;

/** `"24h"`, `"60s"`, `"5m"`, `"7d"`, `"250ms"` or a number of milliseconds, as milliseconds; null when it is none. */
export function durationMs(value: unknown): number | null {
  const match = typeof value === "string" ? /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value.trim()) : null;
  const ms = match ? Math.round(Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]) : value;
  return typeof ms === "number" && Number.isInteger(ms) && ms > 0 && ms <= MAX_MS ? ms : null;
}
