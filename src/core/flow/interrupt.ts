import { withTx } from "../db/withTx.ts";
import { CountersignError } from "../domain/errors.ts";
import { appendEvents } from "../store/events.ts";
import { lockSession } from "../store/sessions.ts";
import { requestCancel } from "../store/turns.ts";
import type { Core } from "./core.ts";

/**
 * POST /sessions/:id/interrupt (S4): asks the running turn to stop; it settles once what it started has stopped. Idle:
 * unchanged. Throws `not_found`, `session_ended`.
 */
export function interrupt(core: Core, sessionId: string): Promise<{ interrupted: boolean }> {
  return withTx(core.pool, async (db) => {
    const session = await lockSession(db, sessionId);
    if (!session) throw new CountersignError("not_found");
    if (session.status === "ended" || session.status === "failed") throw new CountersignError("session_ended");
    const turnId = await requestCancel(db, sessionId);
    if (turnId === null) return { interrupted: false };
    if (session.status !== "stopping") {
      await appendEvents(db, {
        sessionId,
        events: [
          { type: "turn.interrupted", turnId, data: {} },
          { type: "session.status_changed", data: { status: "stopping" } },
        ],
        status: "stopping",
      });
    }
    return { interrupted: true };
  });
}
