import type { Pool } from "../../src/core/db/pool.ts";
import { exportRecord } from "../../src/core/flow/exportRecord.ts";
import { createHeadKey } from "../../src/core/record/headKey.ts";
import { verifyRecord } from "../../src/core/record/verifyRecord.ts";
import { listUnrecorded } from "../../src/core/store/record.ts";
import type { Violation } from "./invariants.ts";

/** Nobody reads more of them. */
const MOST_NAMED = 20;

/**
 * I9's other half: the decision record is whole, tells only what the rules allow, and ends where the decisions are. It
 * is signed here with a key of its own: what was signed before is checked against the chain all the same.
 */
export async function checkRecord(pool: Pool): Promise<Violation[]> {
  const headKey = createHeadKey(Buffer.alloc(32, 9).toString("base64"));
  const lines = async function* () {
    for await (const line of exportRecord({ pool, headKey })) yield line.trimEnd();
  };
  const { problems } = await verifyRecord(lines(), { keys: [headKey.publicKey] });
  const apart = await listUnrecorded(pool, MOST_NAMED);
  return [...problems, ...apart.map((id) => `${id} is not what the record says of it`)].map((detail) => ({
    invariant: "I9",
    detail,
  }));
}
