import type { Db } from "../../src/core/db/pool.ts";

/** What is not at rest: work that waits, runs, or was claimed by somebody. */
const OPEN = `select
  exists (select 1 from decisions where status in ('approved', 'applying') or again_by is not null
    or (status = 'unconfirmed' and verified_at is null)) or
  exists (select 1 from deliveries where status in ('queued', 'sending', 'unknown')) or
  exists (select 1 from turns t where status = 'running' or (status = 'queued'
    and not exists (select 1 from questions q where q.session_id = t.session_id and q.status = 'open'))) as open`;

/** Whether anything of this database still waits for a worker. */
export async function openWork(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ open: boolean }>(OPEN);
  return rows[0]?.open ?? false;
}
