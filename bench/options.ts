import { parseArgs } from "node:util";

export interface Options {
  /** Nothing but the closing JSON line on standard output. */
  readonly json: boolean;
  /** How often every contestant has its turn. */
  readonly rounds: number;
  /** Of load for each contestant in each round. */
  readonly seconds: number;
  readonly connections: number;
  /** Mentions that wait for their reply at the same time. */
  readonly inFlight: number;
}

/** The defaults end within two minutes on two cores that do nothing else. Throws on what is no number above zero. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: "boolean", default: false },
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "3" },
      connections: { type: "string", default: "50" },
      "in-flight": { type: "string", default: "8" },
    },
  });
  const positive = (name: "rounds" | "seconds" | "connections" | "in-flight"): number => {
    const value = Number(values[name]);
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes a whole number above zero.`);
    return value;
  };
  return {
    json: values.json,
    rounds: positive("rounds"),
    seconds: positive("seconds"),
    connections: positive("connections"),
    inFlight: positive("in-flight"),
  };
}
