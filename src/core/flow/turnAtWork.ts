import type { NewEvent, SessionEvent } from "../domain/event.ts";
import type { Session } from "../domain/session.ts";
import type { ClaimedTurn } from "../domain/turn.ts";
import type { Runtime } from "../ports.ts";
import { appendEvents } from "../store/events.ts";
import type { WorkerCore } from "./core.ts";

/** One running turn, and what it works with. */
export interface TurnAtWork {
  readonly session: Session;
  readonly turn: ClaimedTurn;
  readonly runtime: Runtime;
  /** Fires when the turn must stop; see `stopReason`. */
  readonly signal: AbortSignal;
  /** The session's log as this turn knows it; grows with what it commits. */
  readonly log: SessionEvent[];
}

export const heldBy = ({ turn }: TurnAtWork) => ({ turnId: turn.id, fence: turn.fence });

/** Appends under the fence, and to the log in hand. False: the turn is somebody else's now. */
export async function commitEvents(core: WorkerCore, at: TurnAtWork, events: readonly NewEvent[]): Promise<boolean> {
  const kept = await appendEvents(core.pool, { sessionId: at.session.id, events, heldBy: heldBy(at) });
  if (kept) remember(at, events);
  return kept;
}

/** Notes what another transaction committed. The fold reads type, turn and data; place and time are the database's. */
export function remember({ log, session }: TurnAtWork, events: readonly NewEvent[]): void {
  for (const event of events) log.push({ ...event, seq: 0, id: "", timestamp: "", sessionId: session.id });
}
