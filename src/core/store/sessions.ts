import type { Db } from "../db/pool.ts";
import type { InputSource } from "../domain/input.ts";
import type { Json } from "../domain/json.ts";
import { type Conversation, threadKey } from "../domain/message.ts";
import type { Session, SessionStatus } from "../domain/session.ts";

const COLUMNS =
  "id, agent_id, deployment_id, source, status, conversation, data, result, last_seq, created_at, updated_at";

interface SessionRow {
  id: string;
  agent_id: string;
  deployment_id: string;
  source: InputSource;
  status: SessionStatus;
  conversation: Conversation | null;
  data: Record<string, Json>;
  result: Json;
  last_seq: number;
  created_at: Date;
  updated_at: Date;
}

const toSession = (row: SessionRow): Session => ({
  id: row.id,
  agentId: row.agent_id,
  deploymentId: row.deployment_id,
  source: row.source,
  status: row.status,
  conversation: row.conversation,
  data: row.data,
  result: row.result,
  revision: Number(row.last_seq),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export interface NewSession {
  readonly id: string;
  /** Null: the project's first agent. */
  readonly agentId: string | null;
  readonly source: InputSource;
  readonly conversation: Conversation | null;
}

/**
 * Opens a session, and its log. False: the active deployment has no such agent. Undoes the transaction, to be done
 * again, when the thread has an open session in the meantime (S1).
 */
export async function insertSession(db: Db, session: NewSession): Promise<boolean> {
  const { rows } = await db.query<{ opened: boolean }>("select open_session($1, $2, $3, $4, $5) as opened", [
    session.id,
    session.agentId,
    session.source,
    session.conversation && JSON.stringify(session.conversation),
    session.conversation && threadKey(session.conversation),
  ]);
  return rows[0]?.opened ?? false;
}

/** Locks the session for this transaction. Every flow takes this lock before it touches a row of the session. */
export async function lockSession(db: Db, id: string): Promise<Session | null> {
  const { rows } = await db.query<SessionRow>({
    name: "lock-session",
    text: `select ${COLUMNS} from sessions where id = $1 for update`,
    values: [id],
  });
  return rows[0] ? toSession(rows[0]) : null;
}

export async function findSession(db: Db, id: string): Promise<Session | null> {
  const { rows } = await db.query<SessionRow>({
    name: "find-session",
    text: `select ${COLUMNS} from sessions where id = $1`,
    values: [id],
  });
  return rows[0] ? toSession(rows[0]) : null;
}

/** The open session of a thread, locked. */
export async function lockOpenThread(db: Db, thread: Conversation): Promise<Session | null> {
  const { rows } = await db.query<SessionRow>(
    `select ${COLUMNS} from sessions
     where thread_key = $1 and status in ('idle', 'running', 'stopping')
     for update`,
    [threadKey(thread)],
  );
  return rows[0] ? toSession(rows[0]) : null;
}

export async function insertPerson(db: Db, sessionId: string, personKey: string): Promise<void> {
  await db.query("insert into session_people (session_id, person_key) values ($1, $2) on conflict do nothing", [
    sessionId,
    personKey,
  ]);
}

/** Open sessions end; anything else is unchanged and answers false. */
export async function endSession(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update sessions set status = 'ended', updated_at = countersign_now()
     where id = $1 and status in ('idle', 'running', 'stopping')`,
    [id],
  );
  return rowCount === 1;
}

/** Whether a post is one of those of a thread's open session: something it sent, or a message it received. */
export async function ownsPost(db: Db, thread: Conversation, ref: string, inboxKey: string): Promise<boolean> {
  const { rows } = await db.query<{ own: boolean }>(
    `select exists (select 1 from deliveries where ref = $2 and session_id = s.id)
         or exists (select 1 from inbox where key = $3 and session_id = s.id) as own
     from sessions s where s.thread_key = $1 and s.status in ('idle', 'running', 'stopping')`,
    [threadKey(thread), ref, inboxKey],
  );
  return rows[0]?.own ?? false;
}

export async function setLabels(db: Db, id: string, set: Readonly<Record<string, string>>): Promise<void> {
  await db.query(
    `insert into session_labels (session_id, key, value)
     select $1, l.key, l.value from unnest($2::text[], $3::text[]) as l (key, value)
     on conflict (session_id, key) do update set value = excluded.value`,
    [id, Object.keys(set), Object.values(set)],
  );
}

export async function readLabels(db: Db, id: string): Promise<Record<string, string>> {
  const { rows } = await db.query<{ key: string; value: string }>(
    "select key, value from session_labels where session_id = $1 order by key",
    [id],
  );
  return Object.fromEntries(rows.map((r) => [r.key, r.value]));
}

/** The labels of several sessions, by session; one without labels is missing. */
export async function readLabelsOf(db: Db, ids: readonly string[]): Promise<Map<string, Record<string, string>>> {
  const { rows } = await db.query<{ session_id: string; labels: Record<string, string> }>(
    `select session_id, json_object_agg(key, value order by key) as labels
     from session_labels where session_id = any ($1::text[]) group by session_id`,
    [ids],
  );
  return new Map(rows.map((r) => [r.session_id, r.labels]));
}

export interface SessionFilter {
  readonly agentId?: string;
  readonly status?: SessionStatus;
  readonly labels?: Readonly<Record<string, string>>;
  /** Where the last page ended; sessions before it, newest first. */
  readonly before?: { readonly createdAt: string; readonly id: string };
  readonly limit: number;
}

/** Newest first; the order never changes because neither key of it does. */
export async function listSessions(db: Db, filter: SessionFilter): Promise<Session[]> {
  const labels = Object.entries(filter.labels ?? {});
  const { rows } = await db.query<SessionRow>(
    `select ${COLUMNS} from sessions s
     where ($1::text is null or agent_id = $1)
       and ($2::text is null or status = $2)
       and not exists (
         select 1 from unnest($3::text[], $4::text[]) as l (key, value)
         where not exists (
           select 1 from session_labels x where x.session_id = s.id and x.key = l.key and x.value = l.value))
       and ($5::timestamptz is null or (created_at, id) < ($5::timestamptz, $6::text))
     order by created_at desc, id desc
     limit $7`,
    [
      filter.agentId ?? null,
      filter.status ?? null,
      labels.map(([key]) => key),
      labels.map(([, value]) => value),
      filter.before?.createdAt ?? null,
      filter.before?.id ?? null,
      filter.limit,
    ],
  );
  return rows.map(toSession);
}
