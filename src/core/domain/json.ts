/** JSON as it came: objects keep their key order, strings may hold anything, `undefined` is never a value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Why a value is not JSON, and where: `at` is a path such as `$.items[2].price`. */
export interface NotJson {
  readonly at: string;
  readonly reason: string;
}

/** Deeper than this is refused: it guards every recursive reader behind it, `JSON.stringify` included. */
export const MAX_JSON_DEPTH = 200;

/**
 * Checks that a value survives JSON unchanged (T5). Returned `undefined` is `null`; nested `undefined`, functions,
 * symbols, BigInt, NaN, infinities, cycles and objects with a prototype of their own (dates, maps) are refused.
 */
export function toJson(value: unknown): { ok: true; value: Json } | { ok: false; error: NotJson } {
  if (value === undefined) return { ok: true, value: null };
  const error = findNotJson(value, "$", new Set(), 0);
  return error ? { ok: false, error } : { ok: true, value: value as Json };
}

function findNotJson(value: unknown, at: string, ancestors: Set<object>, depth: number): NotJson | null {
  switch (typeof value) {
    case "string":
    case "boolean":
      return null;
    case "number":
      return Number.isFinite(value) ? null : { at, reason: `${value} is not a JSON number` };
    case "object":
      break;
    default:
      return { at, reason: `${typeof value} is not a JSON value` };
  }
  if (value === null) return null;
  if (ancestors.has(value)) return { at, reason: "the value contains itself" };
  if (depth >= MAX_JSON_DEPTH) return { at, reason: `nested deeper than ${MAX_JSON_DEPTH} levels` };
  ancestors.add(value);
  const found = Array.isArray(value) ? inArray(value, at, ancestors, depth) : inObject(value, at, ancestors, depth);
  ancestors.delete(value);
  return found;
}

function inArray(value: readonly unknown[], at: string, ancestors: Set<object>, depth: number): NotJson | null {
  for (let i = 0; i < value.length; i++) {
    const found = findNotJson(value[i], `${at}[${i}]`, ancestors, depth + 1);
    if (found) return found;
  }
  return null;
}

function inObject(value: object, at: string, ancestors: Set<object>, depth: number): NotJson | null {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    return { at, reason: `${value.constructor?.name ?? "an object"} is not a plain object` };
  }
  if ("toJSON" in value) return { at, reason: "an object with toJSON is not plain data" };
  for (const [key, nested] of Object.entries(value)) {
    const found = findNotJson(
      nested,
      /^[A-Za-z_$][\w$]*$/.test(key) ? `${at}.${key}` : `${at}[${JSON.stringify(key)}]`,
      ancestors,
      depth + 1,
    );
    if (found) return found;
  }
  return null;
}
