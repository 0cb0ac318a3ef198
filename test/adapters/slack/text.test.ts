import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunks, cut, cutEscaped, cutPoint } from "../../../src/adapters/slack/cut.ts";
import { toMrkdwn } from "../../../src/adapters/slack/mrkdwn.ts";
import {
  escapedLength,
  escapeText,
  unescapeText,
  visibleLine,
  visibleLines,
  wellFormed,
} from "../../../src/adapters/slack/text.ts";

const anyText = fc.string({ unit: "binary" });

describe("escaping", () => {
  it("A8 leaves nothing that can ping, link or date", () => {
    const hostile = "<!channel> <!here> <@U1> <!subteam^S1> <https://x|y> & &lt;";
    expect(escapeText(hostile)).not.toMatch(/[<>]/);
    expect(escapeText("a & b")).toBe("a &amp; b");
  });

  it("comes back, and what was typed as an entity stays one", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(unescapeText(escapeText(text))).toBe(text);
      }),
    );
    expect(unescapeText("&amp;lt;")).toBe("&lt;");
  });

  it("measures without building", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(escapedLength(text)).toBe(escapeText(text).length);
      }),
    );
  });
});

describe("untrusted text on a card", () => {
  it.each([
    ["a\u202eb", "a⟨U+202E⟩b"],
    ["a\u200bb\u200d\ufeff", "a⟨U+200B⟩b⟨U+200D⟩⟨U+FEFF⟩"],
    ["a\u0000\u0007", "a⟨U+0000⟩⟨U+0007⟩"],
    ["a\nb\tc\u2028d", "a⟨U+000A⟩b⟨U+0009⟩c⟨U+2028⟩d"],
    ["\u3164\u2800", "⟨U+3164⟩⟨U+2800⟩"],
    ["\u{e0041}", "⟨U+E0041⟩"],
    ["  \u00a0", "⟨blank⟩"],
    ["1\u202f234,50\u00a0€", "1\u202f234,50\u00a0€"],
    ["👩‍👩‍👧 ❤️ 👍🏽", "👩‍👩‍👧 ❤️ 👍🏽"],
    ["日本語 العربية", "日本語 العربية"],
  ])("A8 %j is shown as %j", (text, shown) => {
    expect(visibleLine(text)).toBe(shown);
  });

  it("A8 no line of a value can pose as a part of the card", () => {
    expect(
      visibleLines("10 EUR\n\nAmount\n5 EUR")
        .split("\n")
        .every((line) => line.startsWith("│")),
    ).toBe(true);
    expect(visibleLines("one line")).toBe("one line");
  });

  it("G6 lone surrogates become a replacement character, at any depth", () => {
    expect(wellFormed({ text: "a\ud83d", blocks: [{ text: { text: "\udc00" } }] })).toEqual({
      text: "a\ufffd",
      blocks: [{ text: { text: "\ufffd" } }],
    });
    expect(visibleLine("\ud83d")).toBe("\ufffd");
  });
});

describe("cutting", () => {
  it("tears no character as a reader sees it", () => {
    expect("ab👩‍👩‍👧".slice(0, cutPoint("ab👩‍👩‍👧", 5))).toBe("ab");
    expect(cut("e\u0301e\u0301e\u0301", 4)).toBe("e\u0301…");
    expect(cut("🇩🇪🇫🇷", 6)).toBe("🇩🇪…");
  });

  it("cuts even one endless character, between code points", () => {
    const endless = `a${"\u0301".repeat(500)}`;
    expect(cutPoint(endless, 75)).toBe(75);
    expect(chunks("😀".repeat(3), 1).every((piece) => piece.length >= 1)).toBe(true);
  });

  it("stays within its limit and loses nothing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.integer({ min: 20, max: 60 }), (text, max) => {
        expect(cut(text, max).length).toBeLessThanOrEqual(max);
        expect(cutEscaped(text, max).length).toBeLessThanOrEqual(max);
        expect(chunks(text, max).join("")).toBe(text);
        expect(chunks(text, max).every((piece) => piece.length <= max)).toBe(true);
      }),
    );
  });
});

describe("Markdown to mrkdwn", () => {
  it.each([
    ["**bold** and *it* and ~~gone~~", "*bold* and _it_ and ~gone~"],
    ["# Title", "*Title*"],
    ["### **Title**", "*Title*"],
    ["- one\n  - two\n* three", "• one\n  • two\n• three"],
    ["[the docs](https://example.com/a?b=1&c=2)", "<https://example.com/a?b=1&amp;c=2|the docs>"],
    ["<https://example.com>", "<https://example.com>"],
    ["`a < b ** c`", "`a &lt; b ** c`"],
    ["```ts\nif (a < b) **x**\n```", "```\nif (a &lt; b) **x**\n```"],
    ["> quoted **x**", "> quoted *x*"],
    ["2 * 3 * 4 = 24", "2 * 3 * 4 = 24"],
    ["---", "---"],
    ["<!channel> <@U1>", "&lt;!channel&gt; &lt;@U1&gt;"],
    ["[x](javascript:alert(1))", "[x](javascript:alert(1))"],
    ["[<!here>](https://e.com)", "<https://e.com|&lt;!here&gt;>"],
  ])("%j", (markdown, mrkdwn) => {
    expect(toMrkdwn(markdown)).toBe(mrkdwn);
  });

  it("is never longer than the escaped source, and has no `<` but those of web links", () => {
    const bits = fc.constantFrom(
      "**",
      "*",
      "`",
      "~~",
      "[",
      "](https://a.b)",
      "<",
      ">",
      "&",
      "# ",
      "- ",
      "\n",
      "x",
      " ",
      "```",
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 60 }), (parts) => {
        const markdown = parts.join("");
        const mrkdwn = toMrkdwn(markdown);
        expect(mrkdwn.length).toBeLessThanOrEqual(escapedLength(markdown));
        expect(mrkdwn.replaceAll(/<https:\/\/a\.b[^<>]*>/g, "")).not.toContain("<");
      }),
      { numRuns: 1000 },
    );
  });
});
