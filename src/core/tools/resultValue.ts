import type { Json } from "../domain/json.ts";
import { MAX_RESULT_BYTES } from "../domain/result.ts";
import type { SchemaCheck } from "./schema.ts";

/** Why a value cannot be the session's result (T7), for the model to mend; null: it can. */
export function resultProblem(check: SchemaCheck, output: Json, value: Json): string | null {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > MAX_RESULT_BYTES)
    return `The result is ${bytes} bytes of JSON and at most ${MAX_RESULT_BYTES} are kept; report less.`;
  try {
    const mismatch = check(output, value, "the result");
    return mismatch === null ? null : `The result does not fit the tool's output: ${mismatch}.`;
  } catch {
    return "The tool's output schema cannot be compiled; its author has to fix it.";
  }
}
