import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { LRUCache } from "lru-cache";
import type { Json } from "../domain/json.ts";
import { boundedPattern } from "./boundedPattern.ts";

/**
 * Checks a value against a JSON Schema. Null: it fits; else one sentence naming each field that does not. `whole` is
 * what the value is called where no field of it is meant; "the arguments" unless given.
 */
export type SchemaCheck = (schema: Json, value: Json, whole?: string) => string | null;

/**
 * A checker that keeps compiled schemas. Values are never coerced, defaulted or stripped (T4); unknown keywords and
 * formats are no error, since projects come from elsewhere.
 */
export function createSchemaCheck(): SchemaCheck {
  // Agents have tens of tools; a thousand schemas is every agent of a large installation.
  const compiled = new LRUCache<string, ValidateFunction>({ max: 1_000 });
  return (schema, value, whole = "the arguments") => {
    const key = JSON.stringify(schema);
    let validate = compiled.get(key);
    if (!validate) {
      validate = compile(schema);
      compiled.set(key, validate);
    }
    return validate(value) ? null : describe(validate.errors ?? [], whole);
  };
}

function compile(schema: Json): ValidateFunction {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new TypeError("a schema is a JSON object");
  }
  const { $schema } = schema as { $schema?: unknown };
  // A new instance each: two tools may use one `$id`. Draft 7 reads everything but the two newer drafts.
  const Dialect = typeof $schema === "string" && /20(19-09|20-12)/.test($schema) ? Ajv2020 : Ajv;
  const code = { regExp: boundedPattern };
  const ajv = new Dialect({ strict: false, allErrors: true, validateFormats: true, logger: false, code });
  addFormats.default(ajv as Ajv);
  const { $schema: _dialect, ...rest } = schema as Record<string, Json>;
  return ajv.compile(rest);
}

function describe(errors: readonly ErrorObject[], whole: string): string {
  const said = errors.slice(0, 8).map((error) => {
    const where = error.instancePath === "" ? whole : error.instancePath.slice(1).replaceAll("/", ".");
    const extra = "additionalProperty" in error.params ? ` (${String(error.params.additionalProperty)})` : "";
    return `${where} ${error.message ?? "does not fit"}${extra}`;
  });
  return [...new Set(said)].join("; ");
}
