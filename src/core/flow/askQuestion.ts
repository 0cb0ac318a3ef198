import type { NewEvent } from "../domain/event.ts";
import type { OpenCall } from "../domain/history.ts";
import { newDeliveryId, newId } from "../domain/ids.ts";
import { boundSteering } from "../domain/input.ts";
import type { Json } from "../domain/json.ts";
import type { Option, OutboundMessage } from "../domain/message.ts";
import { insertDeliveries } from "../store/deliveries.ts";
import { insertQuestion } from "../store/questions.ts";
import { cancelQueued } from "../store/turns.ts";
import type { WorkerCore } from "./core.ts";
import { insertProposals, type Proposal } from "./propose.ts";
import { answer } from "./say.ts";
import { settledCall, settleTurn } from "./settleTurn.ts";
import type { TurnAtWork } from "./turnAtWork.ts";

/** Ends the turn with a question (Q1); chat posts that queued up in the meantime become its steering (S2, Q3). */
export async function askQuestion(
  core: WorkerCore,
  at: TurnAtWork,
  call: OpenCall,
  question: { text: string; options: readonly Option[] },
  words: string,
  closing: readonly NewEvent[],
  proposals: readonly Proposal[],
): Promise<void> {
  const { session, turn } = at;
  const id = newId(core.ids, "qst");
  const deliveryId = session.conversation ? newDeliveryId(core.ids) : null;
  await settleTurn(core, turn, {
    settlement: { status: "completed", outcome: "question" },
    also: async (db, locked, ending) => {
      const wakes = await insertProposals(db, at, proposals);
      const proposed = proposals.flatMap((p) => p.events);
      if (ending.status === "cancelled") {
        const others = closing.filter((event) => event.data.callId !== call.callId);
        return { events: [...others, ...proposed, settledCall(turn.id, call, ending)], wakes };
      }
      const steers = await cancelQueued(db, session.id, "chat");
      const events: NewEvent[] = [
        ...closing,
        ...proposed,
        ...steers.map(
          (steer): NewEvent => ({
            type: "turn.cancelled",
            turnId: steer.id,
            data: { reason: "steering", into: id },
          }),
        ),
        {
          type: "question.asked",
          turnId: turn.id,
          data: {
            questionId: id,
            callId: call.callId,
            text: question.text,
            options: question.options as unknown as Json,
          },
        },
      ];
      await insertQuestion(db, {
        id,
        sessionId: session.id,
        turnId: turn.id,
        callId: call.callId,
        ...question,
        person: turn.person,
        steering: boundSteering(steers.map((s) => ({ text: s.input.text ?? "", receivedAt: s.createdAt }))),
        deliveryId,
      });
      if (!deliveryId || !locked.conversation) return { events, wakes };
      const { conversation } = locked;
      await insertDeliveries(
        db,
        questionMessages(answer(core, session, words), { id, ...question }).map((message, i, all) => ({
          id: i === all.length - 1 ? deliveryId : newDeliveryId(core.ids),
          lane: session.id,
          sessionId: session.id,
          decisionId: null,
          conversation,
          message,
          edits: null,
        })),
      );
      return { events, wakes: [...wakes, { kind: "deliver", id: session.id }] };
    },
  });
}

/** One message, the turn's words above the question (Q4); only words too long for that go ahead of it. */
function questionMessages(
  words: readonly OutboundMessage[],
  question: { id: string; text: string; options: readonly Option[] },
): OutboundMessage[] {
  const [first] = words;
  const together = words.length === 1 && first?.kind === "text";
  return [...(together ? [] : words), { kind: "question", text: together ? first.text : "", question }];
}
