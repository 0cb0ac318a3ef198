import { describe, expect, it } from "vitest";
import type { Json } from "../../../src/core/domain/json.ts";
import { ASK, readQuestion } from "../../../src/core/tools/ask.ts";
import { createSchemaCheck } from "../../../src/core/tools/schema.ts";

const check = createSchemaCheck();
/** What a call of ask comes to: the question, or why not. */
const asked = (input: Json) => check(ASK.input, input) ?? readQuestion(input);
const options = (n: number, over: object = {}) =>
  Array.from({ length: n }, (_, i) => ({ label: `L${i}`, value: `v${i}`, ...over }));

describe("ask", () => {
  it.each<[string, Json]>([
    ["a text alone", { text: "Sure?" }],
    ["a text of 4,000 characters that are two units each", { text: "👍".repeat(4_000) }],
    ["six options", { text: "Which?", options: options(6) }],
    [
      "labels and values of 80 characters",
      { text: "?", options: [{ label: "字".repeat(80), value: "👍".repeat(80) }] },
    ],
    ["equal labels", { text: "?", options: options(2, { label: "Same" }) }],
  ])("Q1 takes %s", (_, input) => {
    expect(asked(input)).toEqual({ options: [], ...(input as object) });
  });

  it.each<[string, Json]>([
    ["no text", {}],
    ["an empty text", { text: "" }],
    ["a blank text", { text: " \n\t" }],
    ["a text too long", { text: "x".repeat(4_001) }],
    ["a text that is none", { text: 5 }],
    ["seven options", { text: "?", options: options(7) }],
    ["an empty label", { text: "?", options: options(1, { label: "" }) }],
    ["a label too long", { text: "?", options: options(1, { label: "x".repeat(81) }) }],
    ["an empty value", { text: "?", options: options(1, { value: "" }) }],
    ["a value too long", { text: "?", options: options(1, { value: "x".repeat(81) }) }],
    ["a value that is no text", { text: "?", options: options(1, { value: 1 }) }],
    ["two options of one value", { text: "?", options: options(2, { value: "same" }) }],
    ["options that are none", { text: "?", options: ["yes", "no"] }],
    ["anything else beside", { text: "?", urgency: "high" }],
  ])("Q1 refuses %s and says why", (_, input) => {
    expect(asked(input)).toEqual(expect.any(String));
  });
});
