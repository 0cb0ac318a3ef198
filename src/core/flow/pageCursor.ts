import { CountersignError } from "../domain/errors.ts";

/** Where a page of a newest-first list ended; neither part of it ever changes, so pages never shift. */
export interface Place {
  readonly createdAt: string;
  readonly id: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Opaque; null: this was the last page. */
  readonly nextCursor: string | null;
}

/** Cuts a page out of what was read: one row more than `limit` says that there is another page. */
export function toPage<T extends Place>(rows: readonly T[], limit: number): Page<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? encodeCursor(last) : null };
}

export const encodeCursor = ({ createdAt, id }: Place): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString("base64url");

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Throws `bad_request` for what `encodeCursor` cannot have made: a cursor comes back from outside. */
export function decodeCursor(cursor: string): Place {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    const [createdAt, id, ...more] = Array.isArray(place) ? place : [];
    if (
      more.length === 0 &&
      typeof id === "string" &&
      /^\w+$/.test(id) &&
      typeof createdAt === "string" &&
      TIME.test(createdAt) &&
      !Number.isNaN(Date.parse(createdAt))
    ) {
      return { createdAt, id };
    }
  } catch {
    // Not base64url of JSON: the same answer.
  }
  throw new CountersignError("bad_request", "query: cursor is not one that this list gave; start without it.");
}
