/**
 * The mark by which the runtime recognises what a bundled module exports. A registered symbol, because the runtime
 * and the bundle each carry a copy of this file; not enumerable, so that a definition still compares as plain data.
 */
const KIND = Symbol.for("countersign.kind");

export type Kind = "tool" | "connection" | "mcp" | "schedule" | "channel" | "not-applied";

/** Marks and freezes a definition. */
export function mark<T extends object>(kind: Kind, definition: T): Readonly<T> {
  Object.defineProperty(definition, KIND, { value: kind });
  return Object.freeze(definition);
}

/** Marks something that must stay as it is otherwise, such as an error. */
export function markOnly(kind: Kind, target: object): void {
  Object.defineProperty(target, KIND, { value: kind });
}
