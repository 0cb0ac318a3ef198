import { CountersignError } from "../domain/errors.ts";
import type { ResultRecord } from "../domain/result.ts";
import { findResult, listResults as readResults } from "../store/results.ts";
import { findSession } from "../store/sessions.ts";
import { findTurn } from "../store/turns.ts";
import type { Core } from "./core.ts";
import { decodeCursor, type Page, toPage } from "./pageCursor.ts";

export interface ListResults {
  readonly sessionId: string;
  /** Those of one turn. */
  readonly turnId?: string;
  readonly cursor?: string;
  readonly limit: number;
}

/** Newest first. Throws `not_found`, and `bad_request` for a cursor that is not ours. */
export async function listResults({ pool }: Core, filter: ListResults): Promise<Page<ResultRecord>> {
  const { sessionId, turnId, cursor, limit } = filter;
  const before = cursor === undefined ? {} : { before: decodeCursor(cursor) };
  const turn = turnId === undefined ? null : await findTurn(pool, turnId);
  const known = turnId === undefined ? await findSession(pool, sessionId) : turn?.sessionId === sessionId;
  if (!known) throw new CountersignError("not_found");
  const rows = await readResults(pool, { sessionId, ...(turnId && { turnId }), ...before, limit: limit + 1 });
  const page = toPage(
    rows.map((record) => ({ createdAt: record.reportedAt, id: record.id, record })),
    limit,
  );
  return { items: page.items.map(({ record }) => record), nextCursor: page.nextCursor };
}

/** Throws `not_found`. */
export async function getResult({ pool }: Core, sessionId: string, id: string): Promise<ResultRecord> {
  const result = await findResult(pool, sessionId, id);
  if (!result) throw new CountersignError("not_found");
  return result;
}
