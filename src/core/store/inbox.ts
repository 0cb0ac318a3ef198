import type { Db } from "../db/pool.ts";
import { type Conversation, type Person, personKey, threadKey } from "../domain/message.ts";
import type { NewTurn } from "./turns.ts";

/**
 * Records every key of one received thing (G3). False: at least one of them was here before, so it is a repeat; the
 * keys that were new are kept all the same.
 */
export async function recordReceived(db: Db, keys: readonly string[], sessionId: string | null): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "record-received",
    // Sorted, so that two deliveries of one post take the same locks in the same order.
    text: "insert into inbox (key, session_id) select k, $2 from unnest($1::text[]) as k order by k on conflict do nothing",
    values: [[...new Set(keys)], sessionId],
  });
  return rowCount === new Set(keys).size;
}

export interface TakeMessage {
  readonly keys: readonly string[];
  readonly conversation: Conversation;
  readonly person: Person;
  /** It counts only in a thread that has a session, and only from somebody who talks in it. */
  readonly followUp: boolean;
  /** Of the session, if one has to be opened. */
  readonly newSessionId: string;
  readonly turn: Omit<NewTurn, "sessionId">;
}

export type Taken =
  | { readonly outcome: "queued" | "question"; readonly sessionId: string }
  | { readonly outcome: "duplicate" | "unbound" | "stranger" };

/**
 * Makes a message a turn of its thread's session, in one round trip that is a transaction of its own. With a question
 * open in that session nothing is written: it may be the answer. Undone where `again` has to do it again.
 */
export async function takeMessage(db: Db, message: TakeMessage): Promise<Taken> {
  const { conversation, person, turn } = message;
  const { rows } = await db.query<{ outcome: Taken["outcome"]; session: string | null }>({
    name: "take-message",
    text: `select outcome, session
           from take_message($1::text[], $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    values: [
      [...new Set(message.keys)],
      threadKey(conversation),
      personKey(person),
      message.followUp,
      message.newSessionId,
      JSON.stringify(conversation),
      turn.id,
      JSON.stringify(turn.input),
      turn.inputDigest,
      JSON.stringify(person),
      JSON.stringify(turn.received),
    ],
  });
  const { outcome, session } = rows[0] ?? { outcome: "unbound", session: null };
  return outcome === "queued" || outcome === "question" ? { outcome, sessionId: session ?? "" } : { outcome };
}

/** The session that was recorded with a key; null: the key was never received, or with no session. */
export async function findReceived(db: Db, key: string): Promise<string | null> {
  const { rows } = await db.query<{ session_id: string | null }>("select session_id from inbox where key = $1", [key]);
  return rows[0]?.session_id ?? null;
}

/** Forgets what is older than any platform redelivers. Returns how many went. */
export async function pruneReceived(db: Db): Promise<number> {
  const { rowCount } = await db.query("delete from inbox where received_at < countersign_now() - interval '72 hours'");
  return rowCount ?? 0;
}
