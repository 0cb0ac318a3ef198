import type { Steering } from "./input.ts";
import type { Option, Person } from "./message.ts";

/**
 *     open ──answer──▶ answered
 *       └────close───▶ closed (reason: superseded | session_ended)
 */
export type QuestionStatus = "open" | "answered" | "closed";
export type CloseReason = "superseded" | "session_ended";

export interface Question {
  readonly id: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly text: string;
  readonly options: readonly Option[];
  readonly person: Person | null;
  readonly steering: readonly Steering[];
  readonly deliveryId: string | null;
  readonly status: QuestionStatus;
}

/** Bounds of `ask` (Q1), in code points. */
export const ASK_LIMITS = { text: 4_000, options: 6, label: 80, value: 80 } as const;

/**
 * Finds the option a person means when they type instead of clicking: the value, the label, or the number in front of
 * it. Null: free text, which is an answer too.
 */
export function matchOption(options: readonly Option[], typed: string): Option | null {
  const said = typed.trim();
  const folded = said.toLocaleLowerCase();
  const exact = options.find((o) => o.value === said) ?? options.find((o) => o.label === said);
  if (exact) return exact;
  const loose = options.filter((o) => o.value.toLocaleLowerCase() === folded || o.label.toLocaleLowerCase() === folded);
  if (loose.length === 1) return loose[0] ?? null;
  return /^\d$/.test(said) ? (options[Number(said) - 1] ?? null) : null;
}
