import type { Pool } from "../../core/db/pool.ts";
import { createHeadKey } from "../../core/record/headKey.ts";
import { endsAtItsHead, listUnrecorded, readRecordEnd } from "../../core/store/record.ts";
import { type Finding, findingsAbout } from "./finding.ts";

const record = findingsAbout("record");

/** Named in one sentence; where there are more, the first of them show what happened. */
const NAMED = 5;

/** Does the decision record say what the decisions say, and is it signed with this installation's key? */
export async function checkRecord(pool: Pool, masterKey: string): Promise<Finding> {
  const apart = await listUnrecorded(pool, NAMED);
  if (apart.length > 0) {
    return record.problem(
      `${apart.join(", ")} changed without an entry in the decision record; export it with countersign audit export and look who had the database.`,
    );
  }
  if (!(await endsAtItsHead(pool))) {
    return record.problem(
      "The end of the decision record is gone or was replaced; hold it against an earlier export with countersign audit verify.",
    );
  }
  const { head, signed } = await readRecordEnd(pool);
  if (head.seq === 0) return record.ok("Nothing was proposed yet.");
  const { publicKey } = createHeadKey(masterKey);
  if (signed && signed.key !== publicKey) {
    return record.warning(
      `The decision record was last signed with another key (${signed.key}) than this one's ${publicKey}; give the gateway's COUNTERSIGN_MASTER_KEY, or keep both public keys if it was replaced.`,
    );
  }
  return record.ok(`${head.seq} entries, signed up to ${signed?.seq ?? 0}.`);
}
