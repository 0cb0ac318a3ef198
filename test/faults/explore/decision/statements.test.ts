import { afterAll, beforeAll, expect, it } from "vitest";
import type { Db } from "../../../../src/core/db/pool.ts";
import { DECISION_STATUSES } from "../../../../src/core/domain/decision.ts";
import * as attempts from "../../../../src/core/store/attempts.ts";
import * as decisions from "../../../../src/core/store/decisions.ts";
import * as verification from "../../../../src/core/store/verification.ts";
import { insertDecisionRow } from "../../../core/store/rows.ts";
import { ANA } from "../../../helpers/core/inbound.ts";
import { createTestDatabase, type TestDatabase } from "../../../helpers/database.ts";
import { isWaiting, type Outcome, type Row, STATEMENTS, type When } from "./statements.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** A statement as the store has it and as the model says it again. */
interface Pair {
  readonly sql: (db: Db, id: string) => Promise<unknown>;
  readonly model: (row: Row) => Row | null;
}

/** A fence that rises with the attempts, and differs from their numbers. */
const FENCES = 40;
const fence = (attempt: number): number => FENCES + attempt;

const WORD = { by: ANA, right: { via: "requester" }, cardPrefix: "card" } as const;

const reports = (attempt: number, outcome: Outcome) => {
  const end = { outcome, errorCode: null, result: null };
  return {
    [`finishes attempt ${attempt} as ${outcome}`]: {
      sql: (db: Db, id: string) => attempts.finishAttempt(db, id, fence(attempt), end),
      model: (row: Row) => STATEMENTS.finish(row, attempt, outcome),
    },
    [`reports attempt ${attempt} late as ${outcome}`]: {
      sql: (db: Db, id: string) => attempts.reportLate(db, id, fence(attempt), end),
      model: (row: Row) => STATEMENTS.reportLate(row, attempt, outcome),
    },
  };
};

const PAIRS: Readonly<Record<string, Pair>> = {
  approves: { sql: (db, id) => decisions.approveDecision(db, id, WORD), model: STATEMENTS.approve },
  rejects: { sql: (db, id) => decisions.rejectDecision(db, id, WORD, null), model: STATEMENTS.reject },
  expires: { sql: (db, id) => decisions.expireDecision(db, id), model: STATEMENTS.expire },
  "authorises one more": {
    sql: (db, id) => attempts.authoriseAgain(db, id, WORD),
    model: STATEMENTS.authoriseAgain,
  },
  starts: { sql: (db, id) => attempts.startAttempt(db, id, 60_000), model: STATEMENTS.start },
  "refuses to start": { sql: (db, id) => attempts.refuseStart(db, id), model: STATEMENTS.refuseStart },
  "refuses to start again": { sql: (db, id) => attempts.refuseAgain(db, id), model: STATEMENTS.refuseAgain },
  "renews attempt 1": {
    sql: async (db, id) => (await attempts.renewAttempts(db, [{ id, fence: fence(1) }], 60_000))[0] ?? null,
    model: (row) => STATEMENTS.renew(row, 1),
  },
  loses: { sql: (db, id) => attempts.loseAttempt(db, id), model: STATEMENTS.lose },
  "settles what was verified": {
    sql: (db, id) => verification.settleVerified(db, id, null),
    model: STATEMENTS.settleVerified,
  },
  ...reports(1, "applied"),
  ...reports(1, "failed"),
  ...reports(1, "unconfirmed"),
};

it.each(Object.entries(PAIRS))("A4 the model %s where the SQL does, on every row there is", async (_, pair) => {
  const rows = everyRow();
  const after = await Promise.all(
    rows.map(async (row) => {
      const id = await insert(row);
      const changed = (await pair.sql(db.pool, id)) !== null;
      return [row, changed, await read(id)];
    }),
  );
  expect(after).toEqual(rows.map((row) => [row, pair.model(row) !== null, pair.model(row) ?? row]));
});

it("I8 the sweeper's list has what the model says is waiting, and what it can expire and lose", async () => {
  await db.pool.query("delete from decision_attempts; delete from decisions");
  const model: string[] = [];
  for (const row of everyRow()) {
    const id = await insert(row);
    if (isWaiting(row)) model.push(`${id} waiting`);
    if (STATEMENTS.expire(row)) model.push(`${id} expired`);
    if (STATEMENTS.lose(row)) model.push(`${id} lost`);
  }
  // What waits is listed once it is late.
  await db.pool.query("update decisions set updated_at = countersign_now() - interval '1 minute'");
  const due = await decisions.listDue(db.pool, 3_000, 1_000);
  expect(due.map(({ id, why }) => `${id} ${why}`).sort()).toEqual(model.sort());
});

/** Every row that the table's own checks let exist, and up to two attempts. */
function everyRow(): Row[] {
  const whens: When[] = [null, "ahead", "past"];
  return DECISION_STATUSES.flatMap((status) =>
    (["pending", "approved", "rejected", "expired"].includes(status) ? [0] : [1, 2]).flatMap((attempt) =>
      // Only an unconfirmed one is ever authorised once more; the model's `start` builds on it.
      (status === "unconfirmed" ? [false, true] : [false]).flatMap((again) =>
        whens.flatMap((expires) =>
          (status === "applying" ? (["ahead", "past"] as const) : [null]).map((lease) => ({
            status,
            attempt,
            again,
            expires,
            lease,
          })),
        ),
      ),
    ),
  );
}

async function insert(row: Row): Promise<string> {
  const id = await insertDecisionRow(db.pool, row.status);
  const time = (when: When): string | null => when && (when === "ahead" ? "1 hour" : "-1 hour");
  await db.pool.query(
    `update decisions set attempt = $2, fence = case when $2 > 0 then $2 + $3 end, again_by = $4::json,
       expires_at = countersign_now() + $5::interval, lease_until = countersign_now() + $6::interval
     where id = $1`,
    [id, row.attempt, FENCES, row.again ? JSON.stringify(ANA) : null, time(row.expires), time(row.lease)],
  );
  return id;
}

async function read(id: string): Promise<Row | undefined> {
  const when = (column: string) =>
    `case when ${column} > countersign_now() then 'ahead' when ${column} is not null then 'past' end`;
  const { rows } = await db.pool.query<Row>(
    `select status, attempt, again_by is not null as again, ${when("expires_at")} as expires, ${when("lease_until")} as lease
     from decisions where id = $1`,
    [id],
  );
  return rows[0];
}
