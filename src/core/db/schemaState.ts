import { readdir } from "node:fs/promises";
import { MIGRATIONS, TABLE } from "./migrate.ts";
import type { Pool } from "./pool.ts";

/** How the schema stands against this code, by names of migrations. */
export interface SchemaState {
  /** Still to be run; all of them where nobody ever ran any. */
  readonly pending: readonly string[];
  /** Run by a newer version, and unknown here. */
  readonly newer: readonly string[];
}

/** Looks, and changes nothing. */
export async function readSchemaState(pool: Pool): Promise<SchemaState> {
  const known = (await readdir(MIGRATIONS)).map((file) => file.replace(/\.sql$/, "")).sort();
  const { rows } = await pool.query<{ there: boolean }>("select to_regclass($1) is not null as there", [
    `public.${TABLE}`,
  ]);
  const ran = rows[0]?.there
    ? (await pool.query<{ name: string }>(`select name from public.${TABLE} order by id`)).rows.map(({ name }) => name)
    : [];
  return { pending: known.filter((name) => !ran.includes(name)), newer: ran.filter((name) => !known.includes(name)) };
}
