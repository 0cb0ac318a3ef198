import type { Db } from "../db/pool.ts";

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

/** Corrects the session of keys just recorded: the one they were recorded with came second and was never opened. */
export async function assignReceived(db: Db, keys: readonly string[], sessionId: string): Promise<void> {
  await db.query("update inbox set session_id = $2 where key = any ($1::text[])", [keys, sessionId]);
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
