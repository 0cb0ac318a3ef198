import type { Pool } from "../db/pool.ts";

/** Any number that no other advisory lock of this database uses. */
const SWEEP_LOCK = 7_061_970;

/** Runs `work` in one worker at a time. False: another worker sweeps now. */
export async function withSweepLock(pool: Pool, work: () => Promise<void>): Promise<boolean> {
  const client = await pool.connect();
  let broken = false;
  try {
    const { rows } = await client.query<{ got: boolean }>("select pg_try_advisory_lock($1) as got", [SWEEP_LOCK]);
    if (!rows[0]?.got) return false;
    try {
      await work();
    } finally {
      // A connection that cannot unlock is dropped, and the lock with it.
      await client.query("select pg_advisory_unlock($1)", [SWEEP_LOCK]).catch(() => {
        broken = true;
      });
    }
    return true;
  } finally {
    client.release(broken);
  }
}
