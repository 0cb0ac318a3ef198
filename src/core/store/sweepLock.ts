import type { Pool } from "../db/pool.ts";

/** Any number that no other advisory lock of this database uses. */
const SWEEP_LOCK = 7_061_970;

/**
 * Runs `work` in one worker at a time. False: another worker sweeps now. The lock belongs to a transaction that waits
 * idly for the work, so that PostgreSQL itself takes it back (`idle_in_transaction_session_timeout`) from a worker that
 * is paused, or whose machine vanished without a word; two sweeps at once do no harm.
 */
export async function withSweepLock(pool: Pool, work: () => Promise<void>): Promise<boolean> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const { rows } = await client.query<{ got: boolean }>("select pg_try_advisory_xact_lock($1) as got", [SWEEP_LOCK]);
    const got = rows[0]?.got === true;
    if (got) await work();
    return got;
  } finally {
    // Given back also when the work failed: a connection that is only closed keeps the lock until PostgreSQL notices.
    const broken = await client.query("rollback").then(
      () => false,
      () => true,
    );
    client.release(broken);
  }
}
