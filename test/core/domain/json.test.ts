import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_JSON_DEPTH, toJson } from "../../../src/core/domain/json.ts";

describe("what a tool may return", () => {
  it("T5 passes everything JSON can carry, unchanged", () => {
    // Minus zero is the one number JSON spells like another.
    const json = fc.jsonValue().filter((value) => !JSON.stringify(value, minusZero).includes("MINUS_ZERO"));
    fc.assert(
      fc.property(json, (value) => {
        expect(toJson(value)).toEqual({ ok: true, value });
        expect(JSON.parse(JSON.stringify(value))).toEqual(value);
      }),
    );
  });

  it("T5 passes nothing that JSON would change or drop", () => {
    fc.assert(
      fc.property(fc.anything({ withDate: true, withMap: true, withSet: true, withBigInt: true }), (value) => {
        if (!toJson({ value }).ok) return;
        expect(JSON.stringify(JSON.parse(JSON.stringify({ value })))).toBe(JSON.stringify({ value }));
      }),
    );
  });

  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = { again: cyclic };
  const shared = { a: 1 };

  it.each<[string, unknown, string]>([
    ["a nested undefined", { a: [1, undefined] }, "$.a[1]"],
    ["a function", { "a b": () => 1 }, '$["a b"]'],
    ["a BigInt", [1n], "$[0]"],
    ["NaN", { x: Number.NaN }, "$.x"],
    ["an infinity", Number.POSITIVE_INFINITY, "$"],
    ["a symbol", [Symbol("s")], "$[0]"],
    ["a date", { at: new Date(0) }, "$.at"],
    ["a map", new Map(), "$"],
    ["an instance", { of: new (class Thing {})() }, "$.of"],
    ["a cycle", cyclic, "$.self.again"],
    ["toJSON", { toJSON: () => 1 }, "$"],
    ["a hole in an array", new Array(1), "$[0]"],
  ])("T5 refuses %s and says where", (_, value, at) => {
    expect(toJson(value)).toMatchObject({ ok: false, error: { at } });
  });

  it("T5 takes a returned undefined for null, the same object twice for two, and no prototype for plain", () => {
    expect(toJson(undefined)).toEqual({ ok: true, value: null });
    expect(toJson([shared, shared]).ok).toBe(true);
    expect(toJson(Object.assign(Object.create(null), { a: 1 })).ok).toBe(true);
  });

  it("T5 refuses what is nested too deep, and takes what just fits", () => {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
    expect(toJson(nested(MAX_JSON_DEPTH)).ok).toBe(true);
    expect(toJson(nested(MAX_JSON_DEPTH + 1)).ok).toBe(false);
  });
});

const minusZero = (_: string, value: unknown) => (Object.is(value, -0) ? "MINUS_ZERO" : value);
