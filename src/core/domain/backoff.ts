/**
 * Delay before try number `attempt` (1 is the first retry): doubles from one second to five minutes, plus up to a
 * quarter of itself so that what failed together does not come back together. `random` is in [0, 1).
 */
export function backoffMs(attempt: number, random: number): number {
  const base = Math.min(1000 * 2 ** Math.max(0, attempt - 1), 300_000);
  return Math.round(base + base * 0.25 * random);
}
