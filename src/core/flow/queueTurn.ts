import type { Db } from "../db/pool.ts";
import { withTx } from "../db/withTx.ts";
import { digest } from "../digest.ts";
import { CountersignError } from "../domain/errors.ts";
import type { EventData } from "../domain/event.ts";
import { newId } from "../domain/ids.ts";
import type { AgentInput } from "../domain/input.ts";
import type { Json } from "../domain/json.ts";
import type { Person } from "../domain/message.ts";
import { isOpen } from "../domain/session.ts";
import type { Turn, TurnMode } from "../domain/turn.ts";
import type { Wake } from "../ports.ts";
import { appendEvents } from "../store/events.ts";
import { lockSession } from "../store/sessions.ts";
import { findTurnByKey, insertTurn, requestCancel } from "../store/turns.ts";
import { closeQuestion } from "./closeQuestion.ts";
import type { Core } from "./core.ts";

export interface QueueTurn {
  readonly sessionId: string;
  readonly input: AgentInput;
  /** Whose message the agent will answer; null: nobody's. */
  readonly person: Person | null;
  readonly mode?: TurnMode;
  readonly answers?: boolean;
  readonly idempotencyKey?: string | null;
}

/** Puts a turn at the end of a locked session's queue; part of a larger transaction. */
export async function queueTurn(core: Core, db: Db, turn: QueueTurn): Promise<{ turn: Turn; wakes: Wake[] }> {
  const queued = await insertTurn(db, newTurn(core, turn));
  return { turn: queued, wakes: [{ kind: "turn", id: turn.sessionId }] };
}

/** The row of a turn to be queued. */
export function newTurn<T extends Omit<QueueTurn, "sessionId">>(core: Core, turn: T) {
  const { channel: _where, ...said } = turn.input;
  return {
    mode: "queue" as const,
    answers: false,
    idempotencyKey: null,
    ...turn,
    id: newId(core.ids, "trn"),
    inputDigest: digest(JSON.stringify(turn.input)),
    received: { ...said, ...(turn.person && { person: turn.person }) } as unknown as EventData,
  };
}

export interface SubmitTurn {
  readonly sessionId: string;
  readonly text: string;
  readonly payload?: Json;
  readonly mode: TurnMode;
  readonly idempotencyKey: string | null;
}

/**
 * POST /sessions/:id/turns. The same key with the same input is the turn it made (`duplicate`), with another input
 * `idempotency_conflict`. It closes an open question (Q5). Throws `not_found`, `session_ended`.
 */
export function submitTurn(
  core: Core,
  submit: SubmitTurn,
): Promise<{ turn: Turn; duplicate: boolean; interrupts: boolean; wakes: Wake[] }> {
  const input: AgentInput = {
    source: "user",
    text: submit.text,
    ...(submit.payload !== undefined && { payload: submit.payload }),
  };
  return withTx(core.pool, async (db) => {
    const session = await lockSession(db, submit.sessionId);
    if (!session) throw new CountersignError("not_found");
    const before = submit.idempotencyKey === null ? null : await findTurnByKey(db, session.id, submit.idempotencyKey);
    if (before) {
      if (before.inputDigest !== digest(JSON.stringify(input))) throw new CountersignError("idempotency_conflict");
      return { turn: before.turn, duplicate: true, interrupts: false, wakes: [] };
    }
    if (!isOpen(session.status)) throw new CountersignError("session_ended");
    const closed = await closeQuestion(core, db, session, "superseded");
    const { turn, wakes } = await queueTurn(core, db, { ...submit, input, person: null });
    const running = submit.mode === "interrupt" ? await requestCancel(db, session.id) : null;
    if (running) {
      await appendEvents(db, {
        sessionId: session.id,
        events: [
          { type: "turn.interrupted", turnId: running, data: { by: turn.id } },
          { type: "session.status_changed", data: { status: "stopping" } },
        ],
        status: "stopping",
      });
    }
    return { turn, duplicate: false, interrupts: running !== null, wakes: [...closed, ...wakes] };
  });
}
