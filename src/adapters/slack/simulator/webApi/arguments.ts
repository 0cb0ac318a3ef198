import type { Json } from "../../../../core/domain/json.ts";
import { isTs } from "../ids.ts";
import { isObject, type JsonObject } from "../message.ts";
import { violation } from "./refusal.ts";

/**
 * The arguments of one call. A form carries everything as text, its objects as JSON text; a JSON body carries them as
 * they are. Readers answer the same for both. An unknown argument is ignored, as Slack does.
 */
export interface Arguments {
  /** Undefined when it is missing or empty. */
  text(name: string): string | undefined;
  required(name: string): string;
  /** A Slack timestamp; a number would have lost digits. */
  ts(name: string): string | undefined;
  requiredTs(name: string): string;
  flag(name: string): boolean;
  /** An integer of 1..`max`. */
  count(name: string, fallback: number, max: number): number;
  /** A value that is not text: parsed when it came in a form. Throws `error` when it does not parse. */
  json(name: string, error: string): Json | undefined;
  object(name: string, error: string): JsonObject | undefined;
}

/** Parses a body as WebClient sends it (a form), as Slack's own examples do (JSON), or a query. */
export function readArguments(contentType: string, body: string, query: JsonObject): Arguments {
  if (body === "") return toArguments(query);
  if (contentType.startsWith("application/json")) {
    const parsed = parse(body, "json_not_object");
    if (!isObject(parsed)) throw violation("json_not_object");
    return toArguments({ ...query, ...parsed });
  }
  if (contentType.startsWith("application/x-www-form-urlencoded")) {
    return toArguments({ ...query, ...Object.fromEntries(new URLSearchParams(body)) });
  }
  throw violation("invalid_form_data", `content type ${contentType || "(none)"} is not supported`);
}

function toArguments(values: JsonObject): Arguments {
  const text = (name: string): string | undefined => {
    const value = values[name];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value === "object") throw violation("invalid_arguments", `${name} must be a string`);
    return String(value);
  };
  const required = (name: string): string => {
    const value = text(name);
    if (value === undefined) throw violation("invalid_arguments", `missing required field: ${name}`);
    return value;
  };
  const ts = (name: string): string | undefined => {
    const value = values[name];
    if (value === undefined || value === null || value === "") return undefined;
    if (!isTs(value)) throw violation("invalid_arguments", `${name} must be a timestamp such as "1767406613.568609"`);
    return value;
  };
  const json = (name: string, error: string): Json | undefined => {
    const value = values[name];
    if (value === undefined || value === null || value === "") return undefined;
    return typeof value === "string" ? parse(value, error) : value;
  };
  return {
    text,
    required,
    ts,
    requiredTs: (name) => ts(name) ?? required(name),
    flag: (name) => ["true", "1"].includes(text(name) ?? ""),
    count(name, fallback, max) {
      const value = Number(text(name) ?? fallback);
      if (!Number.isInteger(value) || value < 1) throw violation("invalid_limit");
      return Math.min(value, max);
    },
    json,
    object(name, error) {
      const value = json(name, error);
      if (value !== undefined && !isObject(value)) throw violation(error, `${name} must be an object`);
      return value;
    },
  };
}

function parse(text: string, error: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw violation(error, "not valid JSON");
  }
}
