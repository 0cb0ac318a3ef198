import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as attempts from "../../../src/core/store/attempts.ts";
import * as decisions from "../../../src/core/store/decisions.ts";
import * as deliveries from "../../../src/core/store/deliveries.ts";
import { appendEvents, readAllEvents } from "../../../src/core/store/events.ts";
import * as turns from "../../../src/core/store/turns.ts";
import { createTestDatabase, type TestDatabase } from "../../helpers/database.ts";
import { FENCE, insertDecisionRow, insertDeliveryRow, insertSessionRow, insertTurnRow } from "./rows.ts";

describe("a fence", () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.drop());

  const stale = (id: string) => ({ id, fence: FENCE - 1 });

  it("S2 that is not the turn's settles, hands back and appends nothing", async () => {
    const sessionId = await insertSessionRow(db.pool);
    const id = await insertTurnRow(db.pool, "running", sessionId);
    expect(await turns.settleTurn(db.pool, stale(id), { status: "completed" })).toBeNull();
    expect(await turns.handBackTurn(db.pool, stale(id))).toBe(false);
    expect(await turns.renewTurns(db.pool, [stale(id)], 1_000)).toEqual([]);
    const events = [{ type: "tool.progress", turnId: id, data: {} }] as const;
    expect(await appendEvents(db.pool, { sessionId, events, heldBy: { turnId: id, fence: FENCE - 1 } })).toBe(false);
    expect(await readAllEvents(db.pool, sessionId)).toEqual([]);
    expect(await appendEvents(db.pool, { sessionId, events, heldBy: { turnId: id, fence: FENCE } })).toBe(true);
  });

  it("A5 that is not the latest attempt's reports nothing but evidence", async () => {
    const id = await insertDecisionRow(db.pool, "unconfirmed");
    await attempts.authoriseAgain(db.pool, id, {
      by: { provider: "slack", workspaceId: "T1", userId: "U1" },
      right: { via: "requester" },
      cardPrefix: "card",
    });
    const second = await attempts.startAttempt(db.pool, id, 1_000);
    const end = { outcome: "applied", errorCode: null, result: 1 } as const;
    expect(await attempts.finishAttempt(db.pool, id, FENCE, end)).toBeNull();
    expect(await attempts.reportLate(db.pool, id, FENCE, end)).toBeNull();
    expect(await attempts.renewAttempts(db.pool, [{ id, fence: FENCE }], 1_000)).toEqual([]);
    expect(await decisions.findDecision(db.pool, id)).toMatchObject({ status: "applying", attempt: 2 });
    expect(second).toMatchObject({ earlierInDoubt: true, authorisedBy: { userId: "U1" } });
    expect(await attempts.listAttempts(db.pool, id)).toMatchObject([
      { attempt: 1, outcome: null, evidence: { reported: "applied" } },
      { attempt: 2, outcome: null, evidence: null },
    ]);
  });

  it("G5 that is not the delivery's moves nothing", async () => {
    for (const status of ["sending", "unknown"] as const) {
      const id = await insertDeliveryRow(db.pool, status);
      expect(await deliveries.markSent(db.pool, stale(id), "C1:1")).toBe(false);
      expect(await deliveries.requeueDelivery(db.pool, stale(id), "no", 0)).toBe(false);
      expect(await deliveries.markUnknown(db.pool, stale(id), "no", 0)).toBe(false);
      expect(await deliveries.markDead(db.pool, stale(id), "no")).toBe(false);
    }
  });

  it("is not needed where time decides: a lease that holds is not lost, time that is left does not expire", async () => {
    const turn = await insertTurnRow(db.pool, "running");
    expect(await turns.renewTurns(db.pool, [{ id: turn, fence: FENCE }], 60_000)).toHaveLength(1);
    expect(await turns.requeueLostTurn(db.pool, turn)).toBeNull();
    const applying = await insertDecisionRow(db.pool, "applying");
    expect(await attempts.renewAttempts(db.pool, [{ id: applying, fence: FENCE }], 60_000)).toEqual([applying]);
    expect(await attempts.loseAttempt(db.pool, applying)).toBeNull();
    expect(await decisions.expireDecision(db.pool, await insertDecisionRow(db.pool, "pending"))).toBeNull();
  });
});
