import type { Db } from "../db/pool.ts";

/** Boxes are ciphertext; what opens them is in core/egress. */
export async function writeSecret(db: Db, name: string, scope: string, box: string): Promise<void> {
  await db.query(
    `insert into secrets (name, scope, box) values ($1, $2, $3)
     on conflict (name, scope) do update set box = excluded.box, updated_at = countersign_now()`,
    [name, scope, box],
  );
}

/** The box of this scope, else of no scope. */
export async function readSecret(db: Db, name: string, scope: string): Promise<{ box: string; scope: string } | null> {
  const { rows } = await db.query<{ box: string; scope: string }>(
    "select box, scope from secrets where name = $1 and scope in ($2, '') order by scope desc limit 1",
    [name, scope],
  );
  return rows[0] ?? null;
}

export async function removeSecret(db: Db, name: string, scope: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from secrets where name = $1 and scope = $2", [name, scope]);
  return rowCount === 1;
}

export async function listSecrets(db: Db): Promise<{ name: string; scope: string; updatedAt: string }[]> {
  const { rows } = await db.query<{ name: string; scope: string; updated_at: Date }>(
    "select name, scope, updated_at from secrets order by name, scope",
  );
  return rows.map((r) => ({ name: r.name, scope: r.scope, updatedAt: r.updated_at.toISOString() }));
}
