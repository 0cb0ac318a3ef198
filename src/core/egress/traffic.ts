import type { Traffic } from "../domain/decision.ts";

/** Counts what one attempt sends, as A5 judges it. */
export interface TrafficMeter {
  /** A request left. Returns what notes the status of its answer; without one it stays null. Reads count for nothing. */
  sent(method: string): (status: number) => void;
  read(): Traffic;
}

/** Nothing else is taken for harmless: a target may write on any other method. */
const READS = new Set(["GET", "HEAD"]);

export function createTrafficMeter(): TrafficMeter {
  const writes: { status: number | null }[] = [];
  return {
    sent(method) {
      if (READS.has(method)) return () => {};
      const write: { status: number | null } = { status: null };
      writes.push(write);
      return (status) => {
        write.status = status;
      };
    },
    read: () => ({ writes: writes.map(({ status }) => ({ status })), opaque: 0 }),
  };
}
