import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MIGRATIONS, migrate } from "../../../src/core/db/migrate.ts";
import { DECISION_STATUSES, type DecisionStatus } from "../../../src/core/domain/decision.ts";
import { exportRecord } from "../../../src/core/flow/exportRecord.ts";
import { createHeadKey } from "../../../src/core/record/headKey.ts";
import { verifyRecord } from "../../../src/core/record/verifyRecord.ts";
import {
  authoriseAgain,
  finishAttempt,
  loseAttempt,
  refuseAgain,
  startAttempt,
} from "../../../src/core/store/attempts.ts";
import { approveDecision } from "../../../src/core/store/decisions.ts";
import { checkRecord } from "../../../src/gateway/doctor/record.ts";
import { ANA } from "../../helpers/core/inbound.ts";
import { createEmptyDatabase, type TestDatabase } from "../../helpers/database.ts";
import { insertDecisionRow } from "../store/rows.ts";

const MASTER_KEY = Buffer.alloc(32, 7).toString("base64");
const WORD = { by: ANA, right: { via: "requester" }, cardPrefix: "ca" } as const;
const DONE = { outcome: "applied", errorCode: null, result: null } as const;

describe("a database from before there was a decision record", () => {
  let db: TestDatabase;
  const of = {} as Record<DecisionStatus | "asked again" | "asked again, then gone", string>;

  beforeAll(async () => {
    db = await createEmptyDatabase();
    const first = await mkdtemp(join(tmpdir(), "countersign-migrations-"));
    await cp(join(MIGRATIONS, "0001_initial.sql"), join(first, "0001_initial.sql"));
    await migrate(db.url, first);
    await rm(first, { recursive: true });
    for (const status of DECISION_STATUSES) of[status] = await insertDecisionRow(db.pool, status);
    for (const name of ["asked again", "asked again, then gone"] as const) {
      of[name] = await insertDecisionRow(db.pool, "unconfirmed");
      await db.pool.query("update decisions set again_by = $2::json where id = $1", [of[name], JSON.stringify(ANA)]);
    }
    await db.pool.query("update decisions set decided_by = $1::json where decided_at is not null", [
      JSON.stringify(ANA),
    ]);
    await migrate(db.url);
  });
  afterAll(() => db.drop());

  const problems = async () => {
    const headKey = createHeadKey(MASTER_KEY);
    const lines: string[] = [];
    for await (const line of exportRecord({ pool: db.pool, headKey })) lines.push(line.trimEnd());
    return (await verifyRecord(lines, { keys: [headKey.publicKey] })).problems;
  };

  it("I9 has every decision in its record, as it stood", async () => {
    expect(await problems()).toEqual([]);
    expect(await checkRecord(db.pool, MASTER_KEY)).toMatchObject({ level: "ok", says: "10 entries, signed up to 10." });
  });

  it("A4 A5 goes on from where every decision stood, and the record follows", async () => {
    const start = async (name: keyof typeof of) => {
      const attempt = await startAttempt(db.pool, of[name], 60_000);
      expect(attempt, name).not.toBeNull();
      expect(await finishAttempt(db.pool, of[name], attempt?.fence ?? 0, DONE), name).not.toBeNull();
    };
    await approveDecision(db.pool, of.pending, WORD);
    await start("pending");
    await start("approved");
    await authoriseAgain(db.pool, of.unconfirmed, WORD);
    await start("unconfirmed");
    await start("asked again");
    await refuseAgain(db.pool, of["asked again, then gone"]);
    await loseAttempt(db.pool, of.applying);
    await authoriseAgain(db.pool, of.applying, WORD);
    await start("applying");
    expect(await problems()).toEqual([]);
    expect((await checkRecord(db.pool, MASTER_KEY)).level).toBe("ok");
  });
});
