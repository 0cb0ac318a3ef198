import { CountersignError } from "../domain/errors.ts";

/** Where a problem is: a file relative to the project's folder, and a line of it, from 1. */
export interface Place {
  readonly file: string;
  readonly line?: number;
}

export interface Problems {
  /** `what` is wrong there and what to write `instead`, neither with a full stop. */
  add(place: Place, what: string, instead: string): void;
  /** How many were added so far. */
  count(): number;
  /** Ends the build when anything was added. */
  throwIfAny(): void;
  /** `project_invalid` with everything added so far, so that one build shows all there is to repair. */
  error(): CountersignError;
}

export const place = ({ file, line }: Place): string => (line === undefined ? file : `${file}:${line}`);

export function createProblems(): Problems {
  const lines = new Set<string>();
  const error = () => new CountersignError("project_invalid", [...lines].join("\n"));
  return {
    add: (where, what, instead) => void lines.add(`${place(where)}: ${what} — ${instead}`),
    count: () => lines.size,
    throwIfAny() {
      if (lines.size > 0) throw error();
    },
    error,
  };
}
