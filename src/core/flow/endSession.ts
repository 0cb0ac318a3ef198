import type { Db } from "../db/pool.ts";
import { withTx } from "../db/withTx.ts";
import { CountersignError } from "../domain/errors.ts";
import type { NewEvent } from "../domain/event.ts";
import { isOpen, type Session } from "../domain/session.ts";
import type { Wake } from "../ports.ts";
import { appendEvents } from "../store/events.ts";
import { lockSession, endSession as markEnded } from "../store/sessions.ts";
import { cancelQueued, requestCancel } from "../store/turns.ts";
import { closeQuestion } from "./closeQuestion.ts";
import type { Core } from "./core.ts";

/** Ends a locked session (S3): queued turns are cancelled, the running one is told, pending decisions live on. */
export async function endLocked(core: Core, db: Db, session: Session): Promise<Wake[]> {
  if (!isOpen(session.status)) return [];
  const wakes = await closeQuestion(core, db, session, "session_ended");
  const cancelled: NewEvent[] = (await cancelQueued(db, session.id, "all")).map((turn) => ({
    type: "turn.cancelled",
    turnId: turn.id,
    data: { reason: "session_ended" },
  }));
  await requestCancel(db, session.id);
  await markEnded(db, session.id);
  await appendEvents(db, {
    sessionId: session.id,
    events: [
      ...cancelled,
      { type: "session.ended", data: {} },
      { type: "session.status_changed", data: { status: "ended" } },
    ],
  });
  return wakes;
}

/** POST /sessions/:id/end; ending twice is ending. Throws `not_found`. */
export function endSession(core: Core, sessionId: string): Promise<{ wakes: Wake[] }> {
  return withTx(core.pool, async (db) => {
    const session = await lockSession(db, sessionId);
    if (!session) throw new CountersignError("not_found");
    return { wakes: await endLocked(core, db, session) };
  });
}
