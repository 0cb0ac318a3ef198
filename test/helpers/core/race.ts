import type { Pool } from "../../../src/core/db/pool.ts";
import { waitForLock } from "../database.ts";

/**
 * Starts everyone while somebody else holds what `hold` locks, and lets go once all of them wait for it: from there on
 * PostgreSQL alone says who is first.
 */
export async function race<T>(
  pool: Pool,
  hold: { readonly text: string; readonly values: readonly unknown[] },
  ...racers: readonly (() => Promise<T>)[]
): Promise<T[]> {
  const holder = await pool.connect();
  try {
    await holder.query("begin");
    await holder.query(hold.text, [...hold.values]);
    const running = racers.map((start) => start());
    await waitForLock(pool, racers.length);
    await holder.query("rollback");
    return await Promise.all(running);
  } finally {
    holder.release();
  }
}

/** Holds a session's row: every flow that touches the session waits here first. */
export const holdSession = (sessionId: string) => ({
  text: "select from sessions where id = $1 for update",
  values: [sessionId],
});

/** Holds a key of the inbox, as if somebody were just receiving it. */
export const holdReceived = (key: string) => ({ text: "insert into inbox (key) values ($1)", values: [key] });

/** Holds a thread, as if somebody were just opening a session in it. */
export const holdThread = (threadKey: string) => ({
  text: `insert into sessions (id, agent_id, deployment_id, source, thread_key)
         values ('ses_held', 'support', 'dpl_1', 'channel', $1)`,
  values: [threadKey],
});
