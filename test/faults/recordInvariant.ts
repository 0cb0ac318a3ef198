import type { Pool } from "../../src/core/db/pool.ts";
import { exportRecord } from "../../src/core/flow/exportRecord.ts";
import { createHeadKey } from "../../src/core/record/headKey.ts";
import { verifyRecord } from "../../src/core/record/verifyRecord.ts";
import type { Violation } from "./invariants.ts";

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
  const { rows } = await pool.query<{ id: string }>(
    `select d.id from decisions d
     left join lateral (
       select hash, entry::json->>'event' as event from decision_record
       where decision_id = d.id and seq = d.record_seq
     ) r on true
     where d.record_hash is not null and (r.hash is distinct from d.record_hash
       or (r.event not in ('shown', 'run_again', 'refused') and r.event <> d.status))`,
  );
  const apart = rows.map(({ id }) => `${id} is not what its newest entry in the record says`);
  return [...problems, ...apart].map((detail) => ({ invariant: "I9", detail }));
}
