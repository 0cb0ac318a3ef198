import type { Db } from "../db/pool.ts";
import { withTx } from "../db/withTx.ts";
import { CountersignError } from "../domain/errors.ts";
import { type AgentInput, boundSteering } from "../domain/input.ts";
import type { Option, Person } from "../domain/message.ts";
import type { Question } from "../domain/question.ts";
import { isOpen, type Session } from "../domain/session.ts";
import type { Turn } from "../domain/turn.ts";
import type { Wake } from "../ports.ts";
import { appendEvents } from "../store/events.ts";
import { findOpenQuestion, answerQuestion as markAnswered } from "../store/questions.ts";
import { lockSession } from "../store/sessions.ts";
import { showOutcome } from "./closeQuestion.ts";
import type { Core } from "./core.ts";
import { queueTurn } from "./queueTurn.ts";

export interface Answer {
  readonly text: string;
  /** The chosen option's full value (Q6). */
  readonly value?: string;
  readonly by: Person | null;
  /** The channel of the post or click; absent for the API. */
  readonly channel?: NonNullable<AgentInput["channel"]>;
}

/** Settles an open question of a locked session and queues the turn that carries the answer (Q3). */
export async function recordAnswer(
  core: Core,
  db: Db,
  session: Session,
  question: Question,
  answer: Answer,
): Promise<{ turn: Turn; wakes: Wake[] }> {
  const { text, value, by } = answer;
  const said = { text, ...(value !== undefined && { value }) };
  if (!(await markAnswered(db, question.id, said))) throw new CountersignError("no_open_question");
  await appendEvents(db, {
    sessionId: session.id,
    events: [
      {
        type: "question.answered",
        turnId: question.turnId,
        data: { questionId: question.id, ...said, ...(by && { by: { ...by } }) },
      },
    ],
  });
  const steering = boundSteering(question.steering);
  const { turn, wakes } = await queueTurn(core, db, {
    sessionId: session.id,
    answers: true,
    person: by ?? question.person,
    input: {
      source: answer.channel ? "channel" : "user",
      text,
      answer: { questionId: question.id, ...said },
      ...(steering.length > 0 && { steering }),
      ...(answer.channel && { channel: answer.channel }),
    },
  });
  const shown = await showOutcome(core, db, session, question, { kind: "answered", text, ...(by && { by }) });
  return { turn, wakes: [...wakes, ...shown] };
}

/** The words and value of a chosen option. */
export const chosen = (option: Option): { text: string; value: string } => ({
  text: option.label,
  value: option.value,
});

export interface AnswerByApi {
  readonly sessionId: string;
  readonly questionId: string;
  readonly text: string;
  readonly value?: string;
}

/** POST /sessions/:id/answer. Throws `not_found`, `session_ended`, `no_open_question`, `answer_not_an_option`. */
export function answerByApi(core: Core, answer: AnswerByApi): Promise<{ turn: Turn; wakes: Wake[] }> {
  return withTx(core.pool, async (db) => {
    const session = await lockSession(db, answer.sessionId);
    if (!session) throw new CountersignError("not_found");
    if (!isOpen(session.status)) throw new CountersignError("session_ended");
    const question = await findOpenQuestion(db, session.id);
    if (!question || question.id !== answer.questionId) throw new CountersignError("no_open_question");
    const { value, text } = answer;
    if (value !== undefined && !question.options.some((o) => o.value === value)) {
      throw new CountersignError("answer_not_an_option");
    }
    return recordAnswer(core, db, session, question, { text, ...(value !== undefined && { value }), by: null });
  });
}
