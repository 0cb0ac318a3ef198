import { parseArgs } from "node:util";

export const FAULTS = ["kill", "pause", "cut", "flush", "jump", "target"] as const;

/**
 * `kill`: -9 and a new process. `pause`: SIGSTOP, at times for longer than a lease. `cut`: every database connection of
 * one kind is terminated. `flush`: Redis forgets everything. `jump`: the database's clock goes forth by up to a minute, and every lease is over. `target`:
 * the next write hangs, is cut, or is answered 500, after it was carried out.
 */
export type Fault = (typeof FAULTS)[number];

export interface Options {
  /** Faults go on for this long at most; then everything heals and is checked. */
  readonly minutes: number;
  /** Ends sooner, with so many approvals. */
  readonly approvals: number;
  readonly gateways: number;
  readonly workers: number;
  /** People, each with a thread and one proposal at a time. */
  readonly clients: number;
  /** Between two faults, on average. */
  readonly everySeconds: number;
  readonly faults: readonly Fault[];
  /** Every approval is run until it is applied, and none is rejected. */
  readonly approveAll: boolean;
  readonly seed: number;
}

/** Throws on what it does not know, saying what it takes. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string", default: "5" },
      approvals: { type: "string", default: "1000000" },
      gateways: { type: "string", default: "2" },
      workers: { type: "string", default: "2" },
      clients: { type: "string", default: "8" },
      "every-seconds": { type: "string", default: "6" },
      faults: { type: "string", default: FAULTS.join(",") },
      "approve-all": { type: "boolean", default: false },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
    },
  });
  const number = (name: Exclude<keyof typeof values, "faults" | "approve-all">, least: number): number => {
    const value = Number(values[name]);
    if (!Number.isFinite(value) || value < least) throw new Error(`--${name} takes a number from ${least} on.`);
    return value;
  };
  const faults = values.faults.split(",").filter(Boolean);
  const unknown = faults.find((name) => !FAULTS.some((fault) => fault === name));
  if (unknown !== undefined) throw new Error(`--faults takes ${FAULTS.join(", ")}; ${unknown} is none of them.`);
  return {
    minutes: number("minutes", 0.1),
    approvals: number("approvals", 1),
    gateways: number("gateways", 1),
    workers: number("workers", 1),
    clients: number("clients", 1),
    everySeconds: number("every-seconds", 0.5),
    faults: FAULTS.filter((fault) => faults.includes(fault)),
    approveAll: values["approve-all"],
    seed: number("seed", 0),
  };
}
