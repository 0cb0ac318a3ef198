import type { Client, Db } from "../db/pool.ts";
import { withTx } from "../db/withTx.ts";
import { ERRORS, type ErrorCode } from "../domain/errors.ts";
import type { NewEvent } from "../domain/event.ts";
import { foldHistory, type OpenCall } from "../domain/history.ts";
import type { OutboundMessage } from "../domain/message.ts";
import { isOpen, type Session } from "../domain/session.ts";
import type { ClaimedTurn } from "../domain/turn.ts";
import type { Wake } from "../ports.ts";
import { appendEvents, readAllEvents } from "../store/events.ts";
import { lockSession } from "../store/sessions.ts";
import { handBackTurn, settleTurn as markSettled, type Settlement, settleQueuedTurn } from "../store/turns.ts";
import type { Core, WorkerCore } from "./core.ts";
import { say } from "./say.ts";

export interface TurnEnd {
  readonly settlement: Settlement;
  /** Stand before the turn's terminal event. */
  readonly events?: readonly NewEvent[];
  /** Calls that will never have a result (S6). */
  readonly open?: readonly OpenCall[];
  /** What the thread is told, unless the turn is cancelled: then it is told that. */
  readonly messages?: readonly OutboundMessage[];
  /** More rows of the same transaction, told how the turn ends, and what they put into the log behind `events`. */
  readonly also?: (
    db: Client,
    session: Session,
    settlement: Settlement,
  ) => Promise<{ readonly events: readonly NewEvent[]; readonly wakes: readonly Wake[] }>;
}

/**
 * Ends a turn under its fence, in one transaction: its last events, its terminal event, what the thread is told. One
 * that was asked to stop in the meantime ends as cancelled. False: the turn is somebody else's and nothing was written.
 */
export async function settleTurn(core: WorkerCore, turn: ClaimedTurn, end: TurnEnd): Promise<boolean> {
  const wakes = await withTx(core.pool, async (db) => {
    const session = await lockSession(db, turn.sessionId);
    const settlement = session && (await markSettled(db, turn, end.settlement));
    if (!settlement) return null;
    const also = await end.also?.(db, session, settlement);
    await close(db, session, turn.id, settlement, [
      ...(end.events ?? []),
      ...(also?.events ?? []),
      ...(end.open ?? []).map((call) => settledCall(turn.id, call, settlement)),
    ]);
    const said = settlement.status === "cancelled" ? STOPPED : (end.messages ?? []);
    return [...(also?.wakes ?? []), ...(await say(core, db, session, said))];
  });
  if (!wakes) return false;
  await core.ring(wakes);
  return true;
}

/**
 * Gives a running turn back for another worker, when this one shuts down. One that was asked to stop ends here: its
 * session may have ended, and then nobody would take it up again.
 */
export async function handBack(core: WorkerCore, turn: ClaimedTurn): Promise<void> {
  const handed = await withTx(core.pool, async (db) => {
    await lockSession(db, turn.sessionId);
    return handBackTurn(db, turn);
  });
  if (handed) return core.ring([{ kind: "turn", id: turn.sessionId }]);
  const { open } = foldHistory(await readAllEvents(core.pool, turn.sessionId));
  await settleTurn(core, turn, { settlement: { status: "cancelled" }, open });
}

/**
 * Ends a turn whose worker was lost, where nobody shall resume it: cancelled because it was asked to stop, or failed
 * because its workers keep getting lost. Part of the sweep's transaction, after it was requeued.
 */
export async function settleLostTurn(
  core: Core,
  db: Db,
  session: Session,
  turnId: string,
  settlement: { readonly status: "cancelled" } | { readonly status: "failed"; readonly errorCode: ErrorCode },
): Promise<Wake[]> {
  await settleQueuedTurn(db, turnId, settlement);
  const { open } = foldHistory(await readAllEvents(db, session.id));
  await close(
    db,
    session,
    turnId,
    settlement,
    open.map((call) => settledCall(turnId, call, settlement)),
  );
  const said = settlement.status === "cancelled" ? STOPPED : failureMessage(settlement.errorCode);
  return [{ kind: "turn", id: session.id }, ...(await say(core, db, session, said))];
}

const STOPPED: readonly OutboundMessage[] = [{ kind: "text", text: "Stopped." }];

/** What the thread is told about a failed turn (S7). */
export const failureMessage = (code: ErrorCode): readonly OutboundMessage[] => [
  { kind: "text", text: `${ERRORS[code].message} (${code})` },
];

/** The end of a turn in the log; a session that has ended stays so. */
async function close(
  db: Db,
  session: Session,
  turnId: string,
  settlement: Settlement,
  events: readonly NewEvent[],
): Promise<void> {
  const lives = isOpen(session.status);
  await appendEvents(db, {
    sessionId: session.id,
    events: [
      ...events,
      terminalEvent(turnId, settlement),
      ...(lives ? [{ type: "session.status_changed", data: { status: "idle" } } as const] : []),
    ],
    ...(lives && { status: "idle" as const }),
  });
}

/** Closes a call that will never have a result (S6). */
export const settledCall = (turnId: string, { tool, callId }: OpenCall, { status }: Settlement): NewEvent => ({
  type: "tool.failed",
  turnId,
  data: {
    tool,
    callId,
    code: "tool_interrupted",
    message: ERRORS.tool_interrupted.message,
    settledBy: `turn.${status}`,
  },
});

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
