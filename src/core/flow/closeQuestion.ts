import type { Db } from "../db/pool.ts";
import { newDeliveryId } from "../domain/ids.ts";
import type { QuestionOutcome } from "../domain/message.ts";
import type { CloseReason, Question } from "../domain/question.ts";
import type { Session } from "../domain/session.ts";
import type { Wake } from "../ports.ts";
import { insertDeliveries } from "../store/deliveries.ts";
import { appendEvents } from "../store/events.ts";
import { closeOpenQuestion } from "../store/questions.ts";
import type { Core } from "./core.ts";

/** Closes the open question of a locked session, if there is one. */
export async function closeQuestion(core: Core, db: Db, session: Session, reason: CloseReason): Promise<Wake[]> {
  const question = await closeOpenQuestion(db, session.id, reason);
  if (!question) return [];
  await appendEvents(db, {
    sessionId: session.id,
    events: [{ type: "question.closed", turnId: question.turnId, data: { questionId: question.id, reason } }],
  });
  return showOutcome(core, db, session, question, { kind: "closed", reason: reason.replace("_", " ") });
}

/** Replaces the buttons of a posted question by what became of it (Q4). */
export async function showOutcome(
  core: Core,
  db: Db,
  session: Session,
  question: Question,
  outcome: QuestionOutcome,
): Promise<Wake[]> {
  if (!session.conversation || !question.deliveryId) return [];
  const { id, text, options } = question;
  await insertDeliveries(db, [
    {
      id: newDeliveryId(core.ids),
      lane: session.id,
      sessionId: session.id,
      decisionId: null,
      conversation: session.conversation,
      message: { kind: "question", text: "", question: { id, text, options }, outcome },
      edits: question.deliveryId,
    },
  ]);
  return [{ kind: "deliver", id: session.id }];
}
