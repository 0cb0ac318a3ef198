import { describe, expect, it } from "vitest";
import type { Json } from "../../../src/core/domain/json.ts";
import { PREVIEW_LIMITS, readPreview } from "../../../src/core/tools/preview.ts";

const facts = (n: number): Json => Array.from({ length: n }, (_, i) => ({ label: `L${i}`, value: i }));
const long = (n: number, character = "👍") => character.repeat(n);

describe("what preview returned", () => {
  it.each<[string, Json, object]>([
    ["a title alone", { title: "T" }, { title: "T", facts: [] }],
    ["no summary for an empty one", { title: "T", summary: "" }, { title: "T", facts: [] }],
    ["no summary for null", { title: "T", summary: null }, { title: "T", facts: [] }],
    [
      "numbers and booleans as text",
      {
        title: "T",
        facts: [
          { label: "n", value: 1.5 },
          { label: "b", value: false },
          { label: "e", value: "" },
        ],
      },
      {
        title: "T",
        facts: [
          { label: "n", value: "1.5" },
          { label: "b", value: "false" },
          { label: "e", value: "" },
        ],
      },
    ],
    ["nothing of what it does not know", { title: "T", color: "red" }, { title: "T", facts: [] }],
    ["NUL and lone surrogates as they are", { title: "a\u0000\ud800" }, { title: "a\u0000\ud800", facts: [] }],
  ])("A1 is read with %s", (_, value, preview) => {
    expect(readPreview(value)).toEqual(preview);
  });

  it("A8 may fill every bound, counted in code points", () => {
    const full = {
      title: long(PREVIEW_LIMITS.title),
      summary: long(PREVIEW_LIMITS.summary),
      facts: Array.from({ length: PREVIEW_LIMITS.facts }, () => ({
        label: long(PREVIEW_LIMITS.label),
        value: long(PREVIEW_LIMITS.value, "x"),
      })),
    };
    expect(readPreview(full)).toEqual(full);
  });

  it.each<[Json, RegExp]>([
    [null, /must return an object/],
    ["T", /must return an object/],
    [[], /must return an object/],
    [{}, /^title must be text/],
    [{ title: 5 }, /^title must be text/],
    [{ title: "" }, /^title must not be empty/],
    [{ title: " \n" }, /^title must not be empty/],
    [{ title: long(201) }, /^title has 201 characters; at most 200/],
    [{ title: "T", summary: 1 }, /^summary must be text/],
    [{ title: "T", summary: long(2_001) }, /^summary has 2001/],
    [{ title: "T", facts: {} }, /^facts must be an array/],
    [{ title: "T", facts: null }, /^facts must be an array/],
    [{ title: "T", facts: facts(21) }, /^facts has 21 entries; at most 20/],
    [{ title: "T", facts: [null] }, /^facts\[0\] must be an object/],
    [{ title: "T", facts: [["a", "b"]] }, /^facts\[0\] must be an object/],
    [{ title: "T", facts: [{ value: 1 }] }, /^facts\[0\].label must be text/],
    [{ title: "T", facts: [{ label: "", value: 1 }] }, /^facts\[0\].label must not be empty/],
    [{ title: "T", facts: [{ label: long(101), value: 1 }] }, /^facts\[0\].label has 101/],
    [{ title: "T", facts: [{ label: "a" }] }, /^facts\[0\].value must be text, a number or a boolean/],
    [{ title: "T", facts: [{ label: "a", value: null }] }, /^facts\[0\].value must be/],
    [{ title: "T", facts: [{ label: "a", value: [1] }] }, /^facts\[0\].value must be/],
    [{ title: "T", facts: [{ label: "a", value: { b: 1 } }] }, /^facts\[0\].value must be/],
    [{ title: "T", facts: [{ label: "a", value: long(60_001, "x") }] }, /^facts\[0\].value has 60001/],
  ])("A1 A8 is refused with the reason: %j", (value, reason) => {
    expect(readPreview(value)).toMatch(reason);
  });
});
