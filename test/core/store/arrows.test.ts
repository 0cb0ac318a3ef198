import { afterAll, beforeAll, describe } from "vitest";
import { DECISION_INPUTS, DECISION_STATUSES, stepDecision } from "../../../src/core/domain/decision.ts";
import { DELIVERY_INPUTS, DELIVERY_STATUSES, stepDelivery } from "../../../src/core/domain/delivery.ts";
import { stepTurn, TURN_INPUTS, TURN_STATUSES } from "../../../src/core/domain/turn.ts";
import * as attempts from "../../../src/core/store/attempts.ts";
import * as decisions from "../../../src/core/store/decisions.ts";
import * as deliveries from "../../../src/core/store/deliveries.ts";
import * as turns from "../../../src/core/store/turns.ts";
import * as verification from "../../../src/core/store/verification.ts";
import { ANA } from "../../helpers/core/inbound.ts";
import { createTestDatabase, type TestDatabase } from "../../helpers/database.ts";
import { followsItsTable } from "./arrows.ts";
import { FENCE, insertDecisionRow, insertDeliveryRow, insertTurnRow } from "./rows.ts";

let db: TestDatabase;
const pool = () => db.pool;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const WORD = { by: ANA, right: { via: "requester" }, cardPrefix: "ca" } as const;
const some = (row: object | null): boolean => row !== null;
const held = (id: string) => ({ id, fence: FENCE });
const sessionOf = async (table: "turns" | "decisions", id: string): Promise<string> =>
  (await pool().query<{ session_id: string }>(`select session_id from ${table} where id = $1`, [id])).rows[0]
    ?.session_id ?? "";

describe("store functions of decisions", () => {
  const report = (outcome: "applied" | "failed" | "unconfirmed") => async (id: string) => {
    const end = { outcome, errorCode: null, result: null };
    return some(
      (await attempts.finishAttempt(pool(), id, FENCE, end)) ?? (await attempts.reportLate(pool(), id, FENCE, end)),
    );
  };

  followsItsTable(pool, "A4", {
    table: "decisions",
    statuses: DECISION_STATUSES,
    inputs: DECISION_INPUTS,
    step: stepDecision,
    insert: (status) => insertDecisionRow(pool(), status),
    verbs: [
      {
        name: "approveDecision",
        inputs: ["approve"],
        run: async (db, id) => some(await decisions.approveDecision(db, id, WORD)),
      },
      {
        name: "rejectDecision",
        inputs: ["reject"],
        run: async (db, id) => some(await decisions.rejectDecision(db, id, WORD, null)),
      },
      {
        name: "expireDecision",
        inputs: ["expire"],
        prepare: (db, id) => db.query("update decisions set expires_at = countersign_now() where id = $1", [id]),
        run: async (db, id) => some(await decisions.expireDecision(db, id)),
      },
      { name: "startAttempt", inputs: ["start"], run: async (db, id) => some(await attempts.startAttempt(db, id, 1)) },
      { name: "refuseStart", inputs: ["refuse"], run: async (db, id) => some(await attempts.refuseStart(db, id)) },
      { name: "a report of success", inputs: ["reportApplied"], run: (_, id) => report("applied")(id) },
      { name: "a report of failure", inputs: ["reportFailed"], run: (_, id) => report("failed")(id) },
      { name: "a report of doubt", inputs: ["reportUnconfirmed"], run: (_, id) => report("unconfirmed")(id) },
      { name: "loseAttempt", inputs: ["lose"], run: async (db, id) => some(await attempts.loseAttempt(db, id)) },
      {
        name: "authoriseAgain and startAttempt",
        inputs: ["runAgain"],
        run: async (db, id) => {
          const again = await attempts.authoriseAgain(db, id, WORD);
          return again !== null && some(await attempts.startAttempt(db, id, 1));
        },
      },
      {
        name: "settleVerified",
        inputs: ["verified"],
        run: async (db, id) => some(await verification.settleVerified(db, id, null)),
      },
    ],
  });
});

describe("store functions of turns", () => {
  followsItsTable(pool, "S2", {
    table: "turns",
    statuses: TURN_STATUSES,
    inputs: TURN_INPUTS,
    step: stepTurn,
    insert: (status) => insertTurnRow(pool(), status),
    verbs: [
      {
        name: "claimNextTurn",
        inputs: ["claim"],
        run: async (db, id) => some(await turns.claimNextTurn(db, await sessionOf("turns", id), 1)),
      },
      {
        name: "settleTurn as completed",
        inputs: ["complete"],
        run: async (db, id) => some(await turns.settleTurn(db, held(id), { status: "completed", outcome: "text" })),
      },
      ...(["failed", "cancelled"] as const).map((status) => ({
        name: `settleTurn or settleQueuedTurn as ${status}`,
        inputs: [status === "failed" ? ("fail" as const) : ("cancel" as const)],
        run: async (db: ReturnType<typeof pool>, id: string) =>
          some(await turns.settleTurn(db, held(id), { status })) || turns.settleQueuedTurn(db, id, { status }),
      })),
      {
        name: "cancelQueued or settleTurn as cancelled",
        inputs: ["cancel"],
        run: async (db, id) =>
          (await turns.cancelQueued(db, await sessionOf("turns", id), "all")).length > 0 ||
          some(await turns.settleTurn(db, held(id), { status: "cancelled" })),
      },
      { name: "requeueLostTurn", inputs: ["lose"], run: async (db, id) => some(await turns.requeueLostTurn(db, id)) },
      { name: "handBackTurn", inputs: ["lose"], run: (db, id) => turns.handBackTurn(db, held(id)) },
    ],
  });
});

describe("store functions of deliveries", () => {
  followsItsTable(pool, "G5", {
    table: "deliveries",
    statuses: DELIVERY_STATUSES,
    inputs: DELIVERY_INPUTS,
    step: stepDelivery,
    insert: (status) => insertDeliveryRow(pool(), status),
    verbs: [
      {
        name: "claimNextDelivery",
        inputs: ["claim"],
        keeps: ["unknown"],
        run: async (db, id) => some(await deliveries.claimNextDelivery(db, id, 1_000)),
      },
      {
        name: "markSent",
        inputs: ["accepted", "found"],
        run: (db, id) => deliveries.markSent(db, held(id), "C1:1"),
      },
      {
        name: "requeueDelivery",
        inputs: ["refused", "absent"],
        run: (db, id) => deliveries.requeueDelivery(db, held(id), "limited", 0),
      },
      {
        name: "markUnknown",
        inputs: ["lost"],
        keeps: ["unknown"],
        run: (db, id) => deliveries.markUnknown(db, held(id), "silent", 0),
      },
      {
        name: "loseDeliveries",
        inputs: ["lost"],
        run: async (db, id) => (await deliveries.loseDeliveries(db)).includes(id),
      },
      { name: "markDead", inputs: ["dropped"], run: (db, id) => deliveries.markDead(db, held(id), "no") },
      {
        name: "offerCardsAgain",
        inputs: ["offerAgain"],
        prepare: async (db, id) =>
          db.query("update decisions set delivery_id = $1 where id = $2", [id, await insertDecisionRow(db, "pending")]),
        run: async (db, id) => (await deliveries.offerCardsAgain(db, 0)).includes(id),
      },
      {
        name: "offerCardsAgain of what may be there",
        inputs: ["lookAgain"],
        prepare: async (db, id) => {
          await db.query("update deliveries set error_code = 'outcome_unknown' where id = $1", [id]);
          await db.query("update decisions set delivery_id = $1 where id = $2", [
            id,
            await insertDecisionRow(db, "pending"),
          ]);
        },
        run: async (db, id) => (await deliveries.offerCardsAgain(db, 0)).includes(id),
      },
    ],
  });
});
