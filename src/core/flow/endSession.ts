import type { Db } from "../db/pool.ts";
import { withTx } from "../db/withTx.ts";
import { CountersignError } from "../domain/errors.ts";
import type { NewEvent } from "../domain/event.ts";
import { foldHistory } from "../domain/history.ts";
import { isOpen, type Session } from "../domain/session.ts";
import type { Wake } from "../ports.ts";
import { appendEvents, readAllEvents } from "../store/events.ts";
import { lockSession, endSession as markEnded } from "../store/sessions.ts";
import { cancelQueued, requestCancel } from "../store/turns.ts";
import { closeQuestion } from "./closeQuestion.ts";
import type { Core } from "./core.ts";
import { settledCall } from "./settleTurn.ts";

/** Ends a locked session (S3): queued turns are cancelled, the running one is told, pending decisions live on. */
export async function endLocked(core: Core, db: Db, session: Session): Promise<Wake[]> {
  if (!isOpen(session.status)) return [];
  const wakes = await closeQuestion(core, db, session, "session_ended");
  const queued = await cancelQueued(db, session.id, "all");
  // One that was given back, or whose worker was lost, may have left calls open (S6).
  const { open } = foldHistory(queued.length > 0 ? await readAllEvents(db, session.id) : []);
  const cancelled = queued.flatMap(({ id }): NewEvent[] => [
    ...open.filter((call) => call.turnId === id).map((call) => settledCall(id, call, { status: "cancelled" })),
    { type: "turn.cancelled", turnId: id, data: { reason: "session_ended" } },
  ]);
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
