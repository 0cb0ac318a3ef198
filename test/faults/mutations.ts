import type { Invariant } from "./invariants.ts";
import type { Rewrite } from "./wrap.ts";

/**
 * Mistakes in what the promise stands on, made on purpose to see the sweep find them. Where a statement of the stores,
 * or a function of the schema, holds `text`, `by` takes its place.
 */
export interface Mutation {
  readonly in: "statement" | "function";
  /** What this statement alone holds; of a function, its name. */
  readonly of: string;
  readonly text: string;
  readonly by: string;
  /** What it must violate. */
  readonly violates: Invariant;
}

export const MUTATIONS = {
  /** A start that asks for no state: a wake that comes twice starts twice. */
  claim: {
    in: "statement",
    of: "insert into decision_attempts",
    text: "and (d.status = 'approved' or (d.status = 'unconfirmed' and d.again_by is not null))",
    by: "",
    violates: "I3",
  },
  /** An end that names no fence: a worker that was given up ends the attempt of another one. */
  fence: {
    in: "statement",
    of: "with ended as (",
    text: "where id = $1 and fence = $2 and status = 'applying'",
    by: "where id = $1 and $2::bigint is not null and status = 'applying'",
    violates: "I7",
  },
  /** An inbox that forgets: a post that comes twice is two turns. */
  dedupe: {
    in: "function",
    of: "take_message",
    text: "v_new < cardinality(p_keys)",
    by: "false",
    violates: "G3",
  },
} as const satisfies Record<string, Mutation>;

export type MutationName = keyof typeof MUTATIONS;

/**
 * Rewrites the one statement the mutation is about. Throws where that statement does not hold the text any more: a
 * mutation that changes nothing would pass for a sweep that finds nothing.
 */
export const mutate =
  ({ in: where, of, text, by }: Mutation): Rewrite =>
  (statement) => {
    if (where !== "statement" || !statement.includes(of)) return statement;
    return replaceSurely(statement, text, by);
  };

/** Throws where `text` is not there exactly once. */
export function replaceSurely(whole: string, text: string, by: string): string {
  if (whole.split(text).length !== 2) throw new Error(`a mutation does not find its text: ${text}`);
  return whole.replace(text, () => by);
}
