import { type TSchema, Type } from "@sinclair/typebox";
import { Ajv, type ValidateFunction } from "ajv";
import { type Json, toJson } from "../domain/json.ts";
import { RUNTIME_LIMITS } from "./limits.ts";
import type { FromChild } from "./protocol.ts";

const Id = Type.Integer({ minimum: 1 });
const Text = Type.String();
const message = (type: FromChild["type"], rest: Record<string, TSchema>) =>
  closed({ type: Type.Literal(type), ...rest });
const closed = (properties: Record<string, TSchema>) => Type.Object(properties, { additionalProperties: false });

const Tool = Type.Union([
  closed({
    kind: Type.Union([Type.Literal("run"), Type.Literal("approval")]),
    name: Type.String({ pattern: "^[A-Za-z0-9_-]{1,200}$" }),
    description: Text,
    input: Type.Unknown(),
    verifies: Type.Boolean(),
  }),
  closed({ kind: Type.Literal("builtin"), id: Type.String({ minLength: 1, maxLength: 200 }) }),
]);

const Outcome = Type.Union([
  closed({ kind: Type.Literal("returned"), json: Text }),
  closed({ kind: Type.Literal("threw"), message: Type.String({ maxLength: 8_000 }), notApplied: Type.Boolean() }),
]);

const Traffic = closed({
  writes: Type.Array(closed({ status: Type.Union([Type.Integer({ minimum: 100, maximum: 999 }), Type.Null()]) })),
  opaque: Type.Integer({ minimum: 0 }),
});

const settled = { id: Id, outcome: Outcome, traffic: Traffic };

const SCHEMAS: Record<FromChild["type"], TSchema> = {
  ready: message("ready", {}),
  loaded: message("loaded", {}),
  loadFailed: message("loadFailed", { message: Text }),
  rendered: message("rendered", {
    id: Id,
    rendered: closed({ instructions: Text, model: Type.Union([Text, Type.Null()]), tools: Type.Array(Tool) }),
  }),
  renderFailed: message("renderFailed", { id: Id, message: Text }),
  // Kept in the session's log, up to a thousand a second: the child's own limit holds for a child that was not tampered with.
  progress: message("progress", {
    id: Id,
    json: Type.String({ maxLength: RUNTIME_LIMITS.progressBytes }),
    dropped: Type.Integer({ minimum: 0 }),
  }),
  settled: message("settled", settled),
  harmed: message("harmed", { message: Text, failed: Type.Array(closed(settled)) }),
};

export type ReadChildMessage = (line: string) => FromChild | null;

/** Reads one line of a child, which nobody trusts; null: not a message of the protocol. */
export function createChildMessageReader(): ReadChildMessage {
  const ajv = new Ajv({ strict: false });
  const validators = new Map<unknown, ValidateFunction>(
    Object.entries(SCHEMAS).map(([type, schema]) => [type, ajv.compile(schema)]),
  );
  return (line) => {
    const parsed = parseJson(line);
    if (parsed === undefined || typeof parsed !== "object" || parsed === null || !("type" in parsed)) return null;
    return validators.get(parsed.type)?.(parsed) ? (parsed as unknown as FromChild) : null;
  };
}

/** `JSON.parse` that answers undefined for what is not JSON, or is nested deeper than every reader behind it bears. */
export function parseJson(text: string): Json | undefined {
  try {
    const checked = toJson(JSON.parse(text));
    return checked.ok ? checked.value : undefined;
  } catch {
    return undefined;
  }
}
