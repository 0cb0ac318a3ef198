import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeButton, encodeButton } from "../../src/adapters/buttonValue.ts";
import type { Button } from "../../src/core/domain/message.ts";

const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
const verb = fc.constantFrom("approve", "reject", "run-again", "review" as const);
const button: fc.Arbitrary<Button> = fc.oneof(
  fc.record({ for: fc.constant("question"), questionId: id, option: fc.nat({ max: 9999 }) }),
  fc.record({ for: fc.constant("decision"), decisionId: id, card: fc.stringMatching(/^[0-9a-f]{16}$/), verb }),
);

describe("a button's value", () => {
  it("A6 comes back as exactly the button it was made for", () => {
    fc.assert(
      fc.property(button, (made) => {
        expect(decodeButton(encodeButton(made))).toEqual(made);
      }),
    );
  });

  it("is short and needs no escaping on any platform", () => {
    fc.assert(
      fc.property(button, (made) => {
        expect(encodeButton(made)).toMatch(/^[A-Za-z0-9:_-]{1,120}$/);
      }),
    );
  });

  it("A6 any other text is no button of ours", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const decoded = decodeButton(text);
        expect(decoded === null || encodeButton(decoded) === text).toBe(true);
      }),
    );
  });

  it.each([
    "",
    "cs:q:qst_1:01",
    "cs:q:qst_1:-1",
    "cs:q:qst_1:1:2",
    "cs:q::1",
    "cs:d:dec_1:0123456789ABCDEF:approve",
    "cs:d:dec_1:0123456789abcdef:constructor",
    "cs:d:dec_1:0123456789abcdef:approve\n",
    "xs:q:qst_1:1",
  ])("A6 refuses %j", (text) => {
    expect(decodeButton(text)).toBeNull();
  });
});
