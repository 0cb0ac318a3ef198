import { expect, it } from "vitest";
import type { Pool } from "../../../src/core/db/pool.ts";

/** One store function that writes a status, and the domain's inputs it stands for. */
export interface Verb<Input extends string, Status extends string> {
  readonly name: string;
  readonly inputs: readonly Input[];
  /** Statuses in which it writes other columns and moves nothing. */
  readonly keeps?: readonly Status[];
  /** Brings about what else it waits for. */
  readonly prepare?: (db: Pool, id: string) => Promise<unknown>;
  /** Does it on the row of this id; answers whether it says that it changed something. */
  readonly run: (db: Pool, id: string) => Promise<boolean>;
}

export interface Aggregate<Input extends string, Status extends string> {
  readonly table: string;
  readonly statuses: readonly Status[];
  readonly inputs: readonly Input[];
  readonly step: (status: Status, input: Input) => Status | null;
  readonly verbs: readonly Verb<Input, Status>[];
  /** A row in this status on which every verb's other conditions hold. */
  readonly insert: (status: Status) => Promise<string>;
}

/** Every store function on a row in every status: it moves the row exactly where the domain has an arrow for it. */
export function followsItsTable<Input extends string, Status extends string>(
  pool: () => Pool,
  rule: string,
  of: Aggregate<Input, Status>,
): void {
  it(`${rule} has a store function for every input of ${of.table}`, () => {
    expect(of.inputs.filter((input) => !of.verbs.some((verb) => verb.inputs.includes(input)))).toEqual([]);
  });

  for (const verb of of.verbs) {
    for (const status of of.statuses) {
      const [to = null, ...others] = new Set(verb.inputs.flatMap((input) => of.step(status, input) ?? []));
      it(`${rule} ${verb.name} ${to === null ? `leaves ${status} alone` : `moves ${status} to ${to}`}`, async () => {
        expect(others).toEqual([]);
        const id = await of.insert(status);
        await verb.prepare?.(pool(), id);
        const before = await row(pool(), of.table, id);
        const changed = await verb.run(pool(), id);
        const after = await row(pool(), of.table, id);
        expect(after?.status).toBe(to ?? status);
        if (verb.keeps?.includes(status)) return;
        expect(changed).toBe(to !== null);
        if (to === null) expect(after).toEqual(before);
      });
    }
  }
}

async function row(pool: Pool, table: string, id: string): Promise<Record<string, unknown> | undefined> {
  return (await pool.query<Record<string, unknown>>(`select * from ${table} where id = $1`, [id])).rows[0];
}
