import { describe, expect, it } from "vitest";
import type { Json } from "../../../src/core/domain/json.ts";
import { createSchemaCheck } from "../../../src/core/tools/schema.ts";

describe("a schema check", () => {
  const check = createSchemaCheck();
  const object = (properties: Json, more: Record<string, Json> = {}): Json => ({ type: "object", properties, ...more });

  it.each<[string, Json, Json, string | null]>([
    ["a fit", object({ n: { type: "number" } }), { n: 1 }, null],
    ["the field that does not", object({ n: { type: "number" } }), { n: "1" }, "n must be number"],
    [
      "a nested field",
      object({ a: { type: "array", items: { type: "string" } } }),
      { a: ["x", 2] },
      "a.1 must be string",
    ],
    ["a missing field", object({}, { required: ["id"] }), {}, "the arguments must have required property 'id'"],
    [
      "a field too many, by name",
      object({}, { additionalProperties: false }),
      { extra: 1 },
      "the arguments must NOT have additional properties (extra)",
    ],
    [
      "every field at once",
      object({ a: { type: "null" }, b: { type: "null" } }),
      { a: 1, b: 2 },
      "a must be null; b must be null",
    ],
    ["a format", object({ at: { type: "string", format: "email" } }), { at: "no" }, 'at must match format "email"'],
    ["no unknown format", object({ at: { type: "string", format: "zodiac" } }), { at: "x" }, null],
    ["no unknown keyword", object({ a: { type: "string", "x-order": 3 } }), { a: "x" }, null],
  ])("T4 tells %s", (_, schema, value, said) => {
    expect(check(schema, value)).toBe(said);
  });

  it("T4 changes nothing of what it checks: no coercion, no default, nothing stripped", () => {
    const schema = object({ n: { type: "number", default: 5 }, s: { type: "string" } });
    const value = { s: "x", extra: { deep: [1] } };
    const before = structuredClone(value);
    expect(check(schema, value)).toBeNull();
    expect(value).toEqual(before);
    for (const n of ["5", true, null]) expect(check(schema, { n })).toBe("n must be number");
  });

  it("T4 reads draft 2020-12 as such: prefixItems, dependentRequired", () => {
    const schema = object(
      { pair: { type: "array", prefixItems: [{ type: "string" }], items: false } },
      { $schema: "https://json-schema.org/draft/2020-12/schema", dependentRequired: { a: ["b"] } },
    );
    expect(check(schema, { pair: ["x"] })).toBeNull();
    expect(check(schema, { pair: ["x", 1] })).toMatch(/^pair must NOT have more than 1 items/);
    expect(check(schema, { a: 1 })).toMatch(/must have property b/);
  });

  it.each(["http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema#"])(
    "T4 reads a schema that says it is %s",
    ($schema) => {
      expect(check(object({ n: { type: "number" } }, { $schema }), { n: "x" })).toBe("n must be number");
    },
  );

  it("T4 keeps two schemas of one $id apart", () => {
    const schema = (type: string): Json => object({ v: { type } }, { $id: "https://example.com/tool" });
    expect(check(schema("number"), { v: 1 })).toBeNull();
    expect(check(schema("string"), { v: 1 })).toBe("v must be string");
    expect(check(schema("number"), { v: 1 })).toBeNull();
  });

  it.each<Json>([{ type: "nonsense" }, { $ref: "#/nowhere" }, null, "object", [1]])(
    "T12 throws for the schema %j, whatever the value",
    (schema) => {
      expect(() => check(schema, {})).toThrow();
    },
  );
});
