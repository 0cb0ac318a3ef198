import type { Json } from "../domain/json.ts";
import type { Option } from "../domain/message.ts";
import { ASK_LIMITS } from "../domain/question.ts";

/** The built-in question tool as a model sees it (Q1). */
export const ASK = {
  name: "ask",
  description:
    "Ask the person a question and end this turn. Their answer arrives as the next message. Give options when the answer is a choice.",
  input: {
    type: "object",
    required: ["text"],
    additionalProperties: false,
    properties: {
      text: { type: "string", minLength: 1, maxLength: ASK_LIMITS.text, description: "The question" },
      options: {
        type: "array",
        maxItems: ASK_LIMITS.options,
        description: "What can be chosen",
        items: {
          type: "object",
          required: ["label", "value"],
          additionalProperties: false,
          properties: {
            label: { type: "string", minLength: 1, maxLength: ASK_LIMITS.label },
            value: { type: "string", minLength: 1, maxLength: ASK_LIMITS.value },
          },
        },
      },
    },
  },
} as const satisfies { name: string; description: string; input: Json };

/** Reads arguments that fit the schema. A string: why they cannot be asked all the same. */
export function readQuestion(input: Json): { text: string; options: Option[] } | string {
  const { text, options = [] } = input as unknown as { text: string; options?: Option[] };
  if (text.trim() === "") return "text must not be blank";
  const values = new Set(options.map((o) => o.value));
  if (values.size < options.length) return "options must have different values";
  return { text, options: options.map(({ label, value }) => ({ label, value })) };
}
