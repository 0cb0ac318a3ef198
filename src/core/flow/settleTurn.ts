import type { Client, Db } from "../db/pool.ts";
import { withTx } from "../db/withTx.ts";
import { ERRORS, type ErrorCode } from "../domain/errors.ts";
import type { NewEvent } from "../domain/event.ts";
import type { OpenCall } from "../domain/history.ts";
import type { OutboundMessage } from "../domain/message.ts";
import type { Session } from "../domain/session.ts";
import type { ClaimedTurn } from "../domain/turn.ts";
import type { Wake } from "../ports.ts";
import { appendEvents } from "../store/events.ts";
import { lockSession } from "../store/sessions.ts";
import { failQueuedTurn, handBackTurn, settleTurn as markSettled, type Settlement } from "../store/turns.ts";
import type { Core, WorkerCore } from "./core.ts";
import { say } from "./say.ts";

export interface TurnEnd {
  readonly settlement: Settlement;
  /** Stand before the turn's terminal event. */
  readonly events?: readonly NewEvent[];
  /** Calls that will never have a result (S6). */
  readonly open?: readonly OpenCall[];
  /** What the thread is told. */
  readonly messages?: readonly OutboundMessage[];
  /** More rows of the same transaction. */
  readonly also?: (db: Client, session: Session) => Promise<Wake[]>;
}

/**
 * Ends a turn under its fence, in one transaction: its last events, its terminal event, what the thread is told. False:
 * the turn is somebody else's and nothing was written.
 */
export async function settleTurn(core: WorkerCore, turn: ClaimedTurn, end: TurnEnd): Promise<boolean> {
  const wakes = await withTx(core.pool, async (db) => {
    const session = await lockSession(db, turn.sessionId);
    if (!session || !(await markSettled(db, turn, end.settlement))) return null;
    const also = end.also ? await end.also(db, session) : [];
    const ended = session.status === "ended" || session.status === "failed";
    await appendEvents(db, {
      sessionId: session.id,
      events: [
        ...(end.events ?? []),
        ...(end.open ?? []).map((call) => settledCall(turn.id, call, end.settlement)),
        terminalEvent(turn.id, end.settlement),
        ...(ended ? [] : [{ type: "session.status_changed", data: { status: "idle" } } as const]),
      ],
      ...(!ended && { status: "idle" as const }),
    });
    return [...also, ...(await say(core, db, session, end.messages ?? []))];
  });
  if (!wakes) return false;
  await core.ring(wakes);
  return true;
}

/** Gives a running turn back for another worker, when this one shuts down. */
export async function handBack(core: WorkerCore, turn: ClaimedTurn): Promise<void> {
  const handed = await withTx(core.pool, async (db) => {
    await lockSession(db, turn.sessionId);
    return handBackTurn(db, turn);
  });
  if (handed) await core.ring([{ kind: "turn", id: turn.sessionId }]);
}

/** Fails a turn whose workers keep getting lost; part of the sweep's transaction, after it was requeued. */
export async function abandonTurn(core: Core, db: Db, session: Session, turnId: string): Promise<Wake[]> {
  const code = "turn_abandoned";
  await failQueuedTurn(db, turnId, code);
  await appendEvents(db, {
    sessionId: session.id,
    events: [
      terminalEvent(turnId, { status: "failed", errorCode: code }),
      { type: "session.status_changed", data: { status: "idle" } },
    ],
    status: "idle",
  });
  return say(core, db, session, [{ kind: "text", text: ERRORS[code].message }]);
}

function settledCall(turnId: string, call: OpenCall, { status, errorCode }: Settlement): NewEvent {
  const code: ErrorCode = errorCode ?? "tool_interrupted";
  return {
    type: "tool.failed",
    turnId,
    data: {
      tool: call.tool,
      callId: call.callId,
      code,
      message: ERRORS.tool_interrupted.message,
      settledBy: `turn.${status}`,
    },
  };
}

function terminalEvent(turnId: string, { status, outcome, errorCode }: Settlement): NewEvent {
  switch (status) {
    case "completed":
      return { type: "turn.completed", turnId, data: { outcome: outcome ?? "text" } };
    case "failed": {
      const code = errorCode ?? "turn_failed";
      return { type: "turn.failed", turnId, data: { code, message: ERRORS[code].message } };
    }
    case "cancelled":
      return { type: "turn.cancelled", turnId, data: {} };
  }
}
