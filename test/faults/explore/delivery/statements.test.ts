import { afterAll, beforeAll, expect, it } from "vitest";
import type { Pool } from "../../../../src/core/db/pool.ts";
import { DELIVERY_STATUSES, OUTCOME_UNKNOWN } from "../../../../src/core/domain/delivery.ts";
import * as deliveries from "../../../../src/core/store/deliveries.ts";
import { insertDecisionRow, insertDeliveryRow } from "../../../core/store/rows.ts";
import { createTestDatabase, type TestDatabase } from "../../../helpers/database.ts";
import { type Holder, type Row, STATEMENTS } from "./statements.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** The fences of the claims of the two workers; a new claim has a higher one. */
const FENCES = [40, 41] as const;
const held = (id: string, by: Holder) => ({ id, fence: FENCES[by] });

/** A statement as the store has it, answering whether it changed the row, and as the model says it again. */
interface Pair {
  readonly sql: (pool: Pool, id: string) => Promise<boolean>;
  readonly model: (row: Row) => Row | null;
}

const PAIRS: Readonly<Record<string, Pair>> = {
  claims: {
    async sql(pool, id) {
      const claimed = await deliveries.claimNextDelivery(pool, id, 60_000);
      // In the model, the claim of the first worker.
      if (claimed) await pool.query("update deliveries set fence = $2 where id = $1", [id, FENCES[0]]);
      return claimed !== null;
    },
    model: (row) => STATEMENTS.claim(row, 0),
  },
  "marks as sent": {
    sql: (pool, id) => deliveries.markSent(pool, held(id, 0), "C1:1"),
    model: (row) => STATEMENTS.markSent(row, 0),
  },
  requeues: {
    sql: (pool, id) => deliveries.requeueDelivery(pool, held(id, 0), "limited", 60_000),
    model: (row) => STATEMENTS.requeue(row, 0),
  },
  "marks as unknown": {
    sql: (pool, id) => deliveries.markUnknown(pool, held(id, 0), "silent", 60_000),
    model: (row) => STATEMENTS.markUnknown(row, 0),
  },
  "gives up": {
    sql: (pool, id) => deliveries.markDead(pool, held(id, 0), "refused"),
    model: (row) => STATEMENTS.markDead(row, 0, false),
  },
  "gives up in doubt": {
    sql: (pool, id) => deliveries.markDead(pool, held(id, 0), OUTCOME_UNKNOWN),
    model: (row) => STATEMENTS.markDead(row, 0, true),
  },
  loses: {
    sql: async (pool, id) => (await deliveries.loseDeliveries(pool)).includes(id),
    model: STATEMENTS.lose,
  },
  "offers again": {
    async sql(pool, id) {
      const decision = await insertDecisionRow(pool, "pending");
      await pool.query("update decisions set delivery_id = $1 where id = $2", [id, decision]);
      return (await deliveries.offerCardsAgain(pool, 0)).includes(id);
    },
    model: STATEMENTS.offerAgain,
  },
};

it.each(Object.entries(PAIRS))("G5 the model %s where the SQL does, on every row there is", async (_, pair) => {
  const moved = { sql: [] as unknown[], model: [] as unknown[] };
  for (const row of everyRow()) {
    const id = await insert(row);
    const changed = await pair.sql(db.pool, id);
    const after = pair.model(row);
    moved.sql.push([row, changed, seen(await read(id))]);
    moved.model.push([row, after !== null, seen(after ?? row)]);
  }
  expect(moved.sql).toEqual(moved.model);
});

/** When a row that waits for nothing is due is nobody's business. */
const seen = (row: Row): Row => ({ ...row, due: row.due || !["queued", "unknown"].includes(row.status) });

function everyRow(): Row[] {
  return DELIVERY_STATUSES.flatMap((status) =>
    ([null, 0, 1] as const).flatMap((holder) =>
      (status === "sending" ? (["ahead", "past"] as const) : [null]).flatMap((lease) =>
        (status === "queued" || status === "unknown" ? [true, false] : [true]).flatMap((due) =>
          (status === "dead" ? [true, false] : [false]).map((inDoubt) => ({ status, holder, lease, due, inDoubt })),
        ),
      ),
    ),
  );
}

async function insert(row: Row): Promise<string> {
  const id = await insertDeliveryRow(db.pool, row.status);
  await db.pool.query(
    `update deliveries set fence = $2::bigint, lease_until = countersign_now() + $3::interval,
       due_at = countersign_now() + $4::interval, error_code = $5
     where id = $1`,
    [
      id,
      row.holder === null ? null : FENCES[row.holder],
      row.lease && (row.lease === "ahead" ? "1 hour" : "-1 hour"),
      row.due ? "-1 second" : "1 hour",
      row.inDoubt ? OUTCOME_UNKNOWN : null,
    ],
  );
  return id;
}

async function read(id: string): Promise<Row> {
  const { rows } = await db.pool.query<Row>(
    `select status, case fence when $2 then 0 when $3 then 1 end as holder,
       case when lease_until > countersign_now() then 'ahead' when lease_until is not null then 'past' end as lease,
       due_at <= countersign_now() as due, status = 'dead' and error_code is not distinct from $4 as "inDoubt"
     from deliveries where id = $1`,
    [id, ...FENCES, OUTCOME_UNKNOWN],
  );
  if (!rows[0]) throw new Error("a delivery is gone");
  return rows[0];
}
