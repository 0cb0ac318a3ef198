import type { Pool } from "../db/pool.ts";
import type { HeadKey } from "../record/headKey.ts";
import { readRecord } from "../store/record.ts";
import { signRecord } from "./signRecord.ts";

/** Entries read at once. */
const PAGE = 1_000;

/**
 * The whole decision record, signed at its end: a line an entry as it was hashed, and behind it a line for each
 * signature made there. What is written meanwhile is left for the next export.
 */
export async function* exportRecord(of: { pool: Pool; headKey: HeadKey }): AsyncGenerator<string> {
  const { head } = await signRecord(of);
  for (let after = 0; after < head.seq; ) {
    const page = await readRecord(of.pool, after, head.seq, PAGE);
    for (const { seq, entry, signatures } of page) {
      yield `${entry}\n`;
      for (const signed of signatures) yield `${JSON.stringify({ signed })}\n`;
      after = seq;
    }
    if (page.length === 0) return;
  }
}
