/** The middle of several rounds: one that the host disturbed does not count. */
export const median = (values: readonly number[]): number => percentile(values, 50);

/** Nearest rank; 0 of nothing. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = Math.ceil((percent / 100) * sorted.length);
  return sorted[Math.max(rank, 1) - 1] ?? 0;
}

/** Three digits tell what a run of seconds can tell. */
export const round = (value: number): number => Number(value.toPrecision(3));

export interface Latency {
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

export const latencyOf = (milliseconds: readonly number[]): Latency => ({
  p50: round(percentile(milliseconds, 50)),
  p99: round(percentile(milliseconds, 99)),
});
