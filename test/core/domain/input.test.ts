import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundSteering, inputText, STEERING_LIMITS } from "../../../src/core/domain/input.ts";
import type { Option } from "../../../src/core/domain/message.ts";
import { matchOption } from "../../../src/core/domain/question.ts";

const anyText = fc.string({ unit: "binary", maxLength: 30 });
const at = "2026-01-01T00:00:00.000Z";

describe("steering", () => {
  it("Q3 keeps the newest 20, in order, each cut at 4,000 characters and never inside one", () => {
    const text = fc.tuple(fc.constantFrom("a", "é", "👍", "字"), fc.nat({ max: 4_100 })).map(([c, n]) => c.repeat(n));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 25 }), (texts) => {
        const bounded = boundSteering(texts.map((t) => ({ text: t, receivedAt: at })));
        const newest = texts.slice(-STEERING_LIMITS.messages);
        expect(bounded.map((s) => [...s.text].length)).toEqual(newest.map((t) => Math.min([...t].length, 4_000)));
        for (const [i, steer] of bounded.entries()) expect(newest[i]?.startsWith(steer.text)).toBe(true);
        expect(bounded.map((s) => Buffer.from(s.text).toString())).toEqual(bounded.map((s) => s.text));
      }),
      { numRuns: 30 },
    );
  });

  it("leaves short ones as they are", () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 20 }), (texts) => {
        const steering = texts.map((text) => ({ text, receivedAt: at }));
        expect(boundSteering(steering)).toEqual(steering);
      }),
    );
  });
});

describe("an option somebody typed", () => {
  const options = fc.uniqueArray(fc.record({ label: anyText, value: fc.string({ minLength: 1, maxLength: 20 }) }), {
    selector: (option) => option.value.trim(),
    maxLength: 6,
  });

  it("Q6 is found by its exact value, whatever the labels are", () => {
    fc.assert(
      fc.property(options, fc.nat(), (all, pick) => {
        const option = all[pick % Math.max(all.length, 1)];
        fc.pre(option !== undefined && option.value.trim() === option.value);
        expect(matchOption(all, `  ${option?.value} `)).toBe(option);
      }),
    );
  });

  it("is one of the options, or free text", () => {
    fc.assert(
      fc.property(options, anyText, (all, typed) => {
        const found = matchOption(all, typed);
        if (found !== null) expect(all).toContain(found);
      }),
    );
  });

  const ALL: Option[] = [
    { label: "Ship it", value: "ship" },
    { label: "SHIP IT", value: "2" },
    { label: "Wait", value: "wait" },
  ];
  it.each<[string, string | null]>([
    ["Ship it", "ship"],
    ["ship it", null],
    ["WAIT", "wait"],
    ["1", "ship"],
    ["2", "2"],
    ["3", "wait"],
    ["4", null],
    ["0", null],
    ["not at all", null],
    ["", null],
  ])("reads %j as %j", (typed, value) => {
    expect(matchOption(ALL, typed)?.value ?? null).toBe(value);
  });
});

describe("what a model reads of an input", () => {
  it.each([
    ["words", { source: "user", text: "hello" } as const, "hello"],
    ["an answer", { source: "channel", text: "Yes", answer: { questionId: "q", text: "Yes" } } as const, "Answer: Yes"],
    [
      "a chosen option",
      { source: "channel", answer: { questionId: "q", text: "Yes", value: "y" } } as const,
      "Answer: Yes (y)",
    ],
    ["a payload", { source: "webhook", payload: { a: [1] } } as const, '{"a":[1]}'],
    [
      "steering",
      { source: "channel", text: "so", steering: [{ text: "wait", receivedAt: at }] } as const,
      "so\n\nWritten before the question was posted:\n- wait",
    ],
    ["nothing", { source: "user" } as const, ""],
  ])("is %s", (_, input, text) => {
    expect(inputText(input)).toBe(text);
  });
});
