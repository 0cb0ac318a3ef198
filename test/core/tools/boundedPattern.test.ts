import { describe, expect, test } from "vitest";
import { createSchemaCheck } from "../../../src/core/tools/schema.ts";

const check = createSchemaCheck();
const text = (pattern: string) => ({ type: "object", properties: { s: { type: "string", pattern } } });

describe("T4 arguments against a pattern", () => {
  test("that fit, and that do not", () => {
    expect(check(text("^a+$"), { s: "aaa" })).toBe(null);
    expect(check(text("^a+$"), { s: "b" })).toBe('s must match pattern "^a+$"');
    expect(check(text("^\\p{Lu}$"), { s: "É" })).toBe(null);
  });

  test("that would take minutes end the check, and not the process", () => {
    const started = performance.now();
    expect(() => check(text("^(a+)+$"), { s: `${"a".repeat(40)}!` })).toThrow(/timed out/);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(check(text("^(a+)+$"), { s: "aaa" })).toBe(null);
  });
});
