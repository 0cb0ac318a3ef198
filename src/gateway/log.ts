import { pino } from "pino";
import type { Log } from "../core/ports.ts";

/**
 * JSON lines on standard error; standard output belongs to the commands. An error is told by its kind, code and
 * stack, its causes by kind and code alone: what a driver, an SDK or a provider puts into a message may be what
 * somebody wrote, or a key.
 */
export function createLog(level: string): Log {
  return pino({ level, base: null, serializers: { err: describe } }, pino.destination(2));
}

function describe(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  return { ...kindOf(error), at: frames(error), ...(error.cause !== undefined && { cause: causeOf(error.cause, 4) }) };
}

function causeOf(cause: unknown, depth: number): object {
  if (!(cause instanceof Error)) return { type: typeof cause };
  const kind = { ...kindOf(cause), at: frames(cause).slice(0, 3) };
  return depth > 1 && cause.cause !== undefined ? { ...kind, cause: causeOf(cause.cause, depth - 1) } : kind;
}

function kindOf(error: Error): object {
  const { code, status, statusCode } = error as { code?: unknown; status?: unknown; statusCode?: unknown };
  return {
    type: error.name,
    ...(typeof code === "string" && { code }),
    ...(typeof (status ?? statusCode) === "number" && { status: status ?? statusCode }),
  };
}

/** Where it happened: the stack without its first line, which is the message. */
const frames = (error: Error): string[] =>
  (error.stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .map((line) => line.trim());
