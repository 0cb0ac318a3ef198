import type { Db } from "../db/pool.ts";
import type { Steering } from "../domain/input.ts";
import type { Option, Person } from "../domain/message.ts";
import type { CloseReason, Question, QuestionStatus } from "../domain/question.ts";

const COLUMNS = "id, session_id, turn_id, text, options, person, steering, delivery_id, status";

interface QuestionRow {
  id: string;
  session_id: string;
  turn_id: string;
  text: string;
  options: Option[];
  person: Person | null;
  steering: Steering[];
  delivery_id: string | null;
  status: QuestionStatus;
}

const toQuestion = (row: QuestionRow): Question => ({
  id: row.id,
  sessionId: row.session_id,
  turnId: row.turn_id,
  text: row.text,
  options: row.options,
  person: row.person,
  steering: row.steering,
  deliveryId: row.delivery_id,
  status: row.status,
});

export interface NewQuestion extends Omit<Question, "status"> {
  readonly callId: string;
}

/** The one-open-question index (Q2) throws if another is open; the session must be locked. */
export async function insertQuestion(db: Db, question: NewQuestion): Promise<void> {
  await db.query(
    `insert into questions (id, session_id, turn_id, call_id, text, options, person, steering, delivery_id, status)
     values ($1, $2, $3, $4, $5::json, $6::json, $7::json, $8::json, $9::uuid, 'open')`,
    [
      question.id,
      question.sessionId,
      question.turnId,
      question.callId,
      JSON.stringify(question.text),
      JSON.stringify(question.options),
      question.person && JSON.stringify(question.person),
      JSON.stringify(question.steering),
      question.deliveryId,
    ],
  );
}

export async function findOpenQuestion(db: Db, sessionId: string): Promise<Question | null> {
  const { rows } = await db.query<QuestionRow>({
    name: "find-open-question",
    text: `select ${COLUMNS} from questions where session_id = $1 and status = 'open'`,
    values: [sessionId],
  });
  return rows[0] ? toQuestion(rows[0]) : null;
}

export async function findQuestion(db: Db, id: string): Promise<Question | null> {
  const { rows } = await db.query<QuestionRow>(`select ${COLUMNS} from questions where id = $1`, [id]);
  return rows[0] ? toQuestion(rows[0]) : null;
}

/** open → answered. False: somebody was first. */
export async function answerQuestion(db: Db, id: string, answer: { text: string; value?: string }): Promise<boolean> {
  const { rowCount } = await db.query(
    `update questions set status = 'answered', answer = $2::json, settled_at = countersign_now()
     where id = $1 and status = 'open'`,
    [id, JSON.stringify(answer)],
  );
  return rowCount === 1;
}

/** open → closed. Null: nothing was open. */
export async function closeOpenQuestion(db: Db, sessionId: string, reason: CloseReason): Promise<Question | null> {
  const { rows } = await db.query<QuestionRow>(
    `update questions set status = 'closed', reason = $2, settled_at = countersign_now()
     where session_id = $1 and status = 'open' returning ${COLUMNS}`,
    [sessionId, reason],
  );
  return rows[0] ? toQuestion(rows[0]) : null;
}
