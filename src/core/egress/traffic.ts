import type { Traffic } from "../domain/decision.ts";

/** Counts what one attempt sends, as A5 judges it. */
export interface TrafficMeter {
  /** A request came in that may become a write; it counts as one until the returned function is called. */
  doubted(): () => void;
  /** A request left. Returns what notes the status of its answer; without one it stays null. Reads count for nothing. */
  sent(method: string): (status: number) => void;
  read(): Traffic;
}

/** Nothing else is taken for harmless: a target may write on any other method. */
export const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

export function createTrafficMeter(): TrafficMeter {
  const writes: { status: number | null }[] = [];
  const doubts = new Set<object>();
  return {
    doubted() {
      const doubt = {};
      doubts.add(doubt);
      return () => void doubts.delete(doubt);
    },
    sent(method) {
      if (isRead(method)) return () => {};
      const write: { status: number | null } = { status: null };
      writes.push(write);
      return (status) => {
        write.status = status;
      };
    },
    read: () => ({
      writes: [...writes.map(({ status }) => ({ status })), ...Array.from(doubts, () => ({ status: null }))],
      opaque: 0,
    }),
  };
}
