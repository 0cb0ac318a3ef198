import { Ajv } from "ajv";
import formats from "ajv-formats";
import type { Json } from "../domain/json.ts";

/** Why a schema cannot be compiled, or null. Unknown keywords are no error, as when a call is checked. */
export function schemaError(schema: Json): string | null {
  const ajv = new Ajv({ strict: false, validateFormats: true, logger: false });
  formats.default(ajv);
  try {
    if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return "it is not an object";
    ajv.compile({ ...schema });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
