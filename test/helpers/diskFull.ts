import type { Pool } from "../../src/core/db/pool.ts";

/**
 * PostgreSQL's disk is full as far as this table goes: what is written into it fails, at once or only when it is
 * committed, as PostgreSQL says it (53100).
 */
export async function fillDisk(
  pool: Pool,
  table: string,
  when: "at once" | "at the commit" = "at once",
): Promise<void> {
  await pool.query(`create or replace function no_room() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`);
  await pool.query(
    when === "at once"
      ? `create trigger full_disk before insert or update on ${table} for each row execute function no_room()`
      : `create constraint trigger full_disk after insert or update on ${table}
           deferrable initially deferred for each row execute function no_room()`,
  );
}

/** Somebody made room, for every table. */
export async function makeRoom(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ of: string }>(
    "select distinct tgrelid::regclass::text as of from pg_trigger where tgname = 'full_disk'",
  );
  for (const { of } of rows) await pool.query(`drop trigger full_disk on ${of}`);
}
