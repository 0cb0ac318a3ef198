import { isOutage } from "../db/outage.ts";
import type { Db } from "../db/pool.ts";
import { withTx } from "../db/withTx.ts";
import { OFFER_AGAIN_MS } from "../domain/delivery.ts";
import type { Session } from "../domain/session.ts";
import { MAX_TURN_ATTEMPTS } from "../domain/turn.ts";
import type { Wake } from "../ports.ts";
import { loseAttempt } from "../store/attempts.ts";
import { expireDecision, listDue } from "../store/decisions.ts";
import { listSleepingLanes, loseDeliveries, offerCardsAgain } from "../store/deliveries.ts";
import { appendEvents } from "../store/events.ts";
import { pruneReceived } from "../store/inbox.ts";
import { lockSession } from "../store/sessions.ts";
import { withSweepLock } from "../store/sweepLock.ts";
import { listLostTurns, listSleepingSessions, requeueLostTurn } from "../store/turns.ts";
import { listUnverified } from "../store/verification.ts";
import type { WorkerCore } from "./core.ts";
import { reportOutcome } from "./reportOutcome.ts";
import { settleLostTurn } from "./settleTurn.ts";
import { signRecord } from "./signRecord.ts";

/** What waits for this long without being taken had its wake lost. Longer than a wake takes under load. */
const LATE_MS = 3_000;
/** Rows of one kind in one sweep; what is over comes with the next. */
const BATCH = 100;

/**
 * Finds what nobody will ring for: claims whose worker is gone, time that ran out, wakes that were lost. It depends on
 * nothing it recovers: a timer calls it, the database holds the lock. One worker sweeps at a time; false: another does.
 */
export function sweep(core: WorkerCore): Promise<boolean> {
  return withSweepLock(core.pool, async () => {
    await sweepTurns(core);
    await sweepDecisions(core);
    await sweepDeliveries(core);
    await signRecord(core);
    await pruneReceived(core.pool);
  });
}

async function sweepTurns(core: WorkerCore): Promise<void> {
  for (const { id, sessionId, attempt } of await listLostTurns(core.pool, BATCH)) {
    await inSession(core, sessionId, async (db, session) => {
      const lost = await requeueLostTurn(db, id);
      if (!lost) return [];
      core.log.warn({ session: sessionId, turn: id, attempt }, "a turn's worker was lost");
      if (lost.cancelRequested) return settleLostTurn(core, db, session, id, { status: "cancelled" });
      if (attempt >= MAX_TURN_ATTEMPTS) {
        return settleLostTurn(core, db, session, id, { status: "failed", errorCode: "turn_abandoned" });
      }
      await appendEvents(db, { sessionId, events: [{ type: "runtime.lost", turnId: id, data: { attempt } }] });
      return [{ kind: "turn", id: sessionId }];
    });
  }
  const sleeping = await listSleepingSessions(core.pool, LATE_MS, BATCH);
  await core.ring(sleeping.map((id) => ({ kind: "turn", id })));
}

async function sweepDecisions(core: WorkerCore): Promise<void> {
  for (const { id, sessionId, why } of await listDue(core.pool, LATE_MS, BATCH)) {
    if (why === "waiting") {
      await core.ring([{ kind: "apply", id }]);
      continue;
    }
    await inSession(core, sessionId, async (db, session) => {
      const settled = why === "expired" ? await expireDecision(db, id) : await loseAttempt(db, id);
      return settled ? reportOutcome(core, db, session, settled) : [];
    });
  }
  const unverified = await listUnverified(core.pool, LATE_MS, BATCH);
  await core.ring(unverified.map((id) => ({ kind: "verify", id })));
}

async function sweepDeliveries(core: WorkerCore): Promise<void> {
  const lost = await loseDeliveries(core.pool);
  const offered = await offerCardsAgain(core.pool, OFFER_AGAIN_MS);
  const sleeping = await listSleepingLanes(core.pool, LATE_MS, BATCH);
  await core.ring([...new Set([...lost, ...offered, ...sleeping])].map((id) => ({ kind: "deliver", id })));
}

/** One row, one transaction: a row that cannot be settled never holds up the others. */
async function inSession(
  core: WorkerCore,
  id: string,
  work: (db: Db, session: Session) => Promise<Wake[]>,
): Promise<void> {
  try {
    const wakes = await withTx(core.pool, async (db) => {
      const session = await lockSession(db, id);
      return session ? work(db, session) : [];
    });
    await core.ring(wakes);
  } catch (error) {
    // Then no row can be settled: the sweep ends here and says so once, not at every row.
    if (isOutage(error)) throw error;
    core.log.error({ err: error, session: id }, "a sweep could not settle a row of this session");
  }
}
