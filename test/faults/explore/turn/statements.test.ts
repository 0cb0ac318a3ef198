import { afterAll, beforeAll, expect, it } from "vitest";
import type { Pool } from "../../../../src/core/db/pool.ts";
import * as questions from "../../../../src/core/store/questions.ts";
import * as turns from "../../../../src/core/store/turns.ts";
import { insertSessionRow, insertTurnRow } from "../../../core/store/rows.ts";
import { createTestDatabase, type TestDatabase } from "../../../helpers/database.ts";
import { type Row, type Session, STATEMENTS } from "./statements.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** The fences of the claims of the two workers; a new claim has a higher one. */
const FENCES = [40, 41] as const;

interface Ids {
  readonly session: string;
  readonly turns: readonly string[];
  readonly question: string;
}

/** A statement as the store has it, about the session's first turn where it is about one, and as the model says it again. */
interface Pair {
  readonly sql: (pool: Pool, ids: Ids) => Promise<unknown>;
  readonly model: (session: Session) => Session | null;
}

const first = ({ turns: [id = ""] }: Ids) => id;
const held = (ids: Ids) => ({ id: first(ids), fence: FENCES[0] });

const PAIRS: Readonly<Record<string, Pair>> = {
  "claims the next": {
    async sql(pool, { session }) {
      const claimed = await turns.claimNextTurn(pool, session, 60_000);
      // In the model, the claim of the first worker.
      if (claimed) await pool.query("update turns set fence = $2 where id = $1", [claimed.id, FENCES[0]]);
    },
    model: (session) => STATEMENTS.claim(session, 0),
  },
  completes: {
    sql: (pool, ids) => turns.settleTurn(pool, held(ids), { status: "completed", outcome: "text" }),
    model: (session) => STATEMENTS.settle(session, 0, 0, "completed"),
  },
  fails: {
    sql: (pool, ids) => turns.settleTurn(pool, held(ids), { status: "failed" }),
    model: (session) => STATEMENTS.settle(session, 0, 0, "failed"),
  },
  "hands back": {
    sql: (pool, ids) => turns.handBackTurn(pool, held(ids)),
    model: (session) => STATEMENTS.handBack(session, 0, 0),
  },
  "takes from a lost worker": {
    sql: (pool, ids) => turns.requeueLostTurn(pool, first(ids)),
    model: (session) => STATEMENTS.requeueLost(session, 0),
  },
  "gives up what is queued": {
    sql: (pool, ids) => turns.settleQueuedTurn(pool, first(ids), { status: "failed" }),
    model: (session) => STATEMENTS.settleQueued(session, 0, "failed"),
  },
  "cancels all that is queued": {
    sql: (pool, { session }) => turns.cancelQueued(pool, session, "all"),
    model: STATEMENTS.cancelAll,
  },
  "makes steering of chat that is queued": {
    sql: (pool, { session }) => turns.cancelQueued(pool, session, "chat"),
    model: STATEMENTS.cancelChat,
  },
  "asks the running one to stop": {
    sql: (pool, { session }) => turns.requestCancel(pool, session),
    model: STATEMENTS.requestCancel,
  },
  "answers the question": {
    sql: (pool, { question }) => questions.answerQuestion(pool, question, { text: "yes" }),
    model: STATEMENTS.answer,
  },
  "closes the question": {
    sql: (pool, { session }) => questions.closeOpenQuestion(pool, session, "superseded"),
    model: STATEMENTS.close,
  },
};

it.each(Object.entries(PAIRS))("S2 Q2 the model %s where the SQL does, in every session there is", async (_, pair) => {
  const sessions = everySession();
  const after = await Promise.all(
    sessions.map(async (session) => {
      const ids = await insert(session);
      await pair.sql(db.pool, ids);
      return [session, await read(ids)];
    }),
  );
  expect(after).toEqual(sessions.map((session) => [session, pair.model(session) ?? session]));
});

/** Every pair of turns that may stand in one session, under every question, alive and ended. */
function everySession(): Session[] {
  const row = (status: Row["status"], over: Partial<Row> = {}): Row => ({
    ...{ status, answers: false, source: "channel", holder: null, lease: null, cancel: false },
    ...over,
  });
  const rows = [
    row("queued"),
    row("queued", { answers: true }),
    row("queued", { source: "user" }),
    row("running", { holder: 0, lease: "ahead" }),
    row("running", { holder: 0, lease: "past", cancel: true }),
    row("running", { holder: 1, lease: "past" }),
    row("completed", { holder: 0 }),
  ];
  return rows.flatMap((one) =>
    rows
      .filter((other) => one.status !== "running" || other.status !== "running")
      .flatMap((other) =>
        ([null, "open", "closed"] as const).map((question) => ({
          // What has ended has no open question.
          open: question !== "closed",
          question,
          turns: [one, other],
        })),
      ),
  );
}

async function insert({ open, question, turns: rows }: Session): Promise<Ids> {
  const session = await insertSessionRow(db.pool, open ? "idle" : "ended");
  const ids: string[] = [];
  for (const { status, answers, source, holder, lease, cancel } of rows) {
    const id = await insertTurnRow(db.pool, status, session);
    await db.pool.query(
      `update turns set answers = $2, source = $3, fence = $4::bigint, cancel_requested = $5,
         lease_until = countersign_now() + $6::interval where id = $1`,
      [
        id,
        answers,
        source,
        holder === null ? null : FENCES[holder],
        cancel,
        lease && (lease === "ahead" ? "1 hour" : "-1 hour"),
      ],
    );
    ids.push(id);
  }
  if (question) {
    await db.pool.query(
      `insert into questions (id, session_id, turn_id, call_id, text, options, status)
       values ($1, $1, $2, 'call', '"Which?"', '[]', $3)`,
      [session, ids[0], question],
    );
  }
  return { session, turns: ids, question: session };
}

async function read({ session }: Ids): Promise<Session> {
  const { rows } = await db.pool.query<Session>(
    `select s.status <> 'ended' as open, (select status from questions where session_id = s.id) as question,
       (select json_agg(json_build_object('status', status, 'answers', answers, 'source', source,
          'holder', case fence when $2 then 0 when $3 then 1 end,
          'lease', case when lease_until > countersign_now() then 'ahead' when lease_until is not null then 'past' end,
          'cancel', cancel_requested) order by position) from turns where session_id = s.id) as turns
     from sessions s where s.id = $1`,
    [session, ...FENCES],
  );
  if (!rows[0]) throw new Error("a session is gone");
  return rows[0];
}
