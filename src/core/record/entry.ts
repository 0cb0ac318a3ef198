import type { Json } from "../domain/json.ts";

/** What an entry of the decision record tells; migration 0002 writes them. */
export const RECORD_EVENTS = [
  /** A tool call became a card; what an approval will bind is in `details`. */
  "proposed",
  /** Decided or proposed before there was a record. */
  "imported",
  /** The card was delivered; the time to decide runs. */
  "shown",
  "approved",
  "rejected",
  "expired",
  /** A named person authorised one more attempt. */
  "run_again",
  /** That attempt was not made: what would run is not what was approved. */
  "refused",
  "applying",
  "applied",
  "failed",
  "unconfirmed",
  /** What was learned of an attempt after its end. */
  "evidence",
] as const;

export type RecordEvent = (typeof RECORD_EVENTS)[number];

/** One line of the record, as JSON; its hash is the SHA-256 of the line's bytes. */
export interface RecordEntry {
  /** From 1, without gaps. */
  readonly seq: number;
  /** The hash of the entry before, 64 hex digits; zeros for the first. */
  readonly previous: string;
  /** ISO 8601, UTC, on the database's clock. */
  readonly at: string;
  /** The decision's id. */
  readonly decision: string;
  readonly event: RecordEvent;
  readonly details: { readonly [key: string]: Json };
}

/** A point up to which the holder of a key vouches for the record. */
export interface SignedHead {
  readonly seq: number;
  readonly hash: string;
  /** ISO 8601, UTC, on the database's clock. */
  readonly signedAt: string;
  /** `ed25519:` and the public key in base64url. */
  readonly key: string;
  /** Base64url. */
  readonly signature: string;
}

/** A line of an export that is no entry: `{"signed": …}`, right behind the entry it names. */
export interface SignatureLine {
  readonly signed: SignedHead;
}

/** What the first entry has as `previous`. */
export const NOTHING_BEFORE = "0".repeat(64);

/** Null: it is neither an entry nor a signature. */
export function parseRecordLine(line: string): RecordEntry | SignatureLine | null {
  let read: unknown;
  try {
    read = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isObject(read)) return null;
  if (!("signed" in read)) return isEntry(read) ? read : null;
  const { signed, ...more } = read;
  // Nothing else on such a line is vouched for, and a reader might take it for more.
  return isObject(signed) && isSignedHead(signed) && Object.keys(more).length === 0 ? { signed } : null;
}

type Fields = { readonly [key: string]: unknown };

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isSignedHead = (value: Fields): value is Fields & SignedHead =>
  typeof value["seq"] === "number" &&
  ["hash", "signedAt", "key", "signature"].every((name) => typeof value[name] === "string");

const isEntry = (value: Fields): value is Fields & RecordEntry =>
  typeof value["seq"] === "number" &&
  ["previous", "at", "decision"].every((name) => typeof value[name] === "string") &&
  RECORD_EVENTS.includes(value["event"] as RecordEvent) &&
  isObject(value["details"]);
