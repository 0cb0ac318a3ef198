import type { Pool } from "../db/pool.ts";
import type { HeadKey } from "../record/headKey.ts";
import { insertSignature, type RecordEnd, readRecordEnd } from "../store/record.ts";

/**
 * Signs the end of the decision record where it has grown, or was signed with another key; everything before is vouched
 * for by the chain. Returns the end as it was read.
 */
export async function signRecord({ pool, headKey }: { pool: Pool; headKey: HeadKey }): Promise<RecordEnd> {
  const end = await readRecordEnd(pool);
  const { head, signed, now } = end;
  if (head.seq === 0 || (signed?.seq === head.seq && signed.key === headKey.publicKey)) return end;
  const fresh = headKey.sign({ ...head, signedAt: now });
  await insertSignature(pool, fresh);
  return { ...end, signed: fresh };
}
