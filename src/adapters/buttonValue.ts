import type { Button, DecisionVerb } from "../core/domain/message.ts";

/**
 * A button's value, as short opaque text: `cs:q:<question>:<option>` or `cs:d:<decision>:<card>:<verb>`. It names
 * rows and carries no authority: who may click is checked when the click arrives. The prefix tells ours from the
 * values of other apps; no character needs escaping on any platform, and 150 characters are never reached.
 */
export function encodeButton(button: Button): string {
  switch (button.for) {
    case "question":
      return `cs:q:${button.questionId}:${button.option}`;
    case "decision":
      return `cs:d:${button.decisionId}:${button.card}:${button.verb}`;
  }
}

const QUESTION = /^cs:q:([A-Za-z0-9_-]{1,64}):(0|[1-9]\d{0,3})$/;
const DECISION = /^cs:d:([A-Za-z0-9_-]{1,64}):([0-9a-f]{16}):([a-z-]+)$/;

const VERBS: Record<DecisionVerb, true> = { approve: true, reject: true, "run-again": true, review: true };
const isVerb = (text: string): text is DecisionVerb => Object.hasOwn(VERBS, text);

/** The button a value was made for, or null for any other text. Never throws. */
export function decodeButton(value: string): Button | null {
  const [, questionId, option] = QUESTION.exec(value) ?? [];
  if (questionId !== undefined && option !== undefined) {
    return { for: "question", questionId, option: Number(option) };
  }
  const [, decisionId, card, verb] = DECISION.exec(value) ?? [];
  if (decisionId !== undefined && card !== undefined && verb !== undefined && isVerb(verb)) {
    return { for: "decision", decisionId, card, verb };
  }
  return null;
}
