import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/adapters/slack/limits.ts";
import { stepFence, toMrkdwn } from "../../../src/adapters/slack/mrkdwn.ts";
import { splitForSlack } from "../../../src/adapters/slack/split.ts";
import { escapedLength } from "../../../src/adapters/slack/text.ts";

const fenceAfter = (text: string): string | null => {
  let fence: string | null = null;
  for (const line of text.split("\n")) fence = stepFence(fence, line);
  return fence;
};

describe("a long answer", () => {
  it("stays one message where it fits", () => {
    expect(splitForSlack("short")).toEqual(["short"]);
    expect(splitForSlack("x".repeat(LIMITS.text))).toHaveLength(1);
  });

  it("is cut between paragraphs, then words", () => {
    const paragraph = "word ".repeat(50).trim();
    const parts = splitForSlack(Array(40).fill(paragraph).join("\n\n"));
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.every((part) => part.startsWith("word") && part.endsWith("word"))).toBe(true);
    expect(parts.join("\n\n")).toBe(Array(40).fill(paragraph).join("\n\n"));
  });

  it("closes a code fence at the cut and opens it again", () => {
    const code = Array.from({ length: 400 }, (_, i) => `  const line${i} = ${i};`);
    const parts = splitForSlack(`Look:\n\n\`\`\`ts\n${code.join("\n")}\n\`\`\`\n\nThat is all.`);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) expect(fenceAfter(part)).toBeNull();
    const lines = parts.flatMap((part) => part.split("\n")).filter((line) => line.includes("const"));
    expect(lines).toEqual(code);
    expect(parts.at(-1)).toContain("That is all.");
  });

  it("is measured after escaping", () => {
    const parts = splitForSlack("&".repeat(3_000));
    expect(parts.length).toBeGreaterThan(3);
    expect(parts.every((part) => escapedLength(part) <= LIMITS.text)).toBe(true);
    expect(parts.join("")).toBe("&".repeat(3_000));
  });

  it("G6 of nothing but white space is still one part", () => {
    expect(splitForSlack("")).toHaveLength(1);
    expect(splitForSlack(" ".repeat(10_000))).toHaveLength(1);
  });

  it("every part fits, none is blank, and all that is not white space is there in order", () => {
    const bits = fc.constantFrom("word ", "\n", "\n\n", "&<>", "👩‍👩‍👧", "日本語", "x".repeat(70), "  ", "e\u0301");
    fc.assert(
      fc.property(fc.array(bits, { minLength: 1, maxLength: 120 }), (pieces) => {
        const markdown = `a${pieces.join("")}`;
        const parts = splitForSlack(markdown, 200);
        expect(parts.every((part) => toMrkdwn(part).length <= 200 && part.trim() !== "")).toBe(true);
        expect(parts.join("").replaceAll(/\s/g, "")).toBe(markdown.replaceAll(/\s/g, ""));
      }),
    );
  });

  it("with fences anywhere, every part fits and closes what it opens", () => {
    const bits = fc.constantFrom("```js\n", "```\n", "~~~~\n", "text ", "line\n", "&&&&&&&&", "y".repeat(50), "\n\n");
    fc.assert(
      fc.property(fc.array(bits, { minLength: 5, maxLength: 120 }), (pieces) => {
        const parts = splitForSlack(pieces.join(""), 200);
        expect(parts.every((part) => toMrkdwn(part).length <= 200)).toBe(true);
        for (const part of parts.slice(0, -1)) expect(fenceAfter(part)).toBeNull();
      }),
    );
  });
});
