import type { Log } from "../../src/core/ports.ts";

export interface LogLine {
  readonly level: keyof Log;
  readonly fields: object;
  readonly message: string;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** A log that keeps its lines, for tests about what is logged. */
export function recordingLog(): Log & { readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const keep = (level: keyof Log) => (fields: object, message: string) => void lines.push({ level, fields, message });
  return { lines, debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") };
}
