import type { Pool } from "../db/pool.ts";
import { CountersignError } from "../domain/errors.ts";
import type { SignedHead } from "../record/entry.ts";
import type { HeadKey } from "../record/headKey.ts";
import { readRecord } from "../store/record.ts";
import { signRecord } from "./signRecord.ts";

/** Entries read at once. */
const PAGE = 1_000;

/**
 * The whole decision record, signed at its end: a line an entry as it was hashed, and behind it a line for each
 * signature made there. What is written meanwhile is left for the next export. That a record has no entry yet is signed
 * as well. Throws where entries are gone that its head counts.
 */
export async function* exportRecord(of: { pool: Pool; headKey: HeadKey }): AsyncGenerator<string> {
  const { head, now } = await signRecord(of);
  if (head.seq === 0) yield signatureLine(of.headKey.sign({ ...head, signedAt: now }));
  for (let after = 0; after < head.seq; ) {
    const page = await readRecord(of.pool, after, head.seq, PAGE);
    for (const { seq, entry, signatures } of page) {
      yield `${entry}\n`;
      for (const signed of signatures) yield signatureLine(signed);
      after = seq;
    }
    if (page.length === 0)
      throw new CountersignError(
        "internal",
        `Entries behind ${after} of ${head.seq} are gone; run countersign doctor.`,
      );
  }
}

const signatureLine = (signed: SignedHead): string => `${JSON.stringify({ signed })}\n`;
