import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { migrate } from "../../../src/core/db/migrate.ts";
import { isCode } from "../../../src/core/domain/errors.ts";
import { packageRoot } from "../../../src/core/packageRoot.ts";
import { createEmptyDatabase, type TestDatabase } from "../../helpers/database.ts";

describe("migrate", () => {
  let db: TestDatabase;
  let newer: string;

  beforeEach(async () => {
    db = await createEmptyDatabase();
    newer = await mkdtemp(join(tmpdir(), "countersign-migrations-"));
    await cp(join(packageRoot(), "src/core/db/migrations"), newer, { recursive: true });
    await writeFile(join(newer, "9999_later.sql"), "create table later (id int8 primary key);");
  });

  afterEach(async () => {
    await db.drop();
    await rm(newer, { recursive: true });
  });

  it("runs each migration once, however many processes start together", async () => {
    const runs = await Promise.all(Array.from({ length: 20 }, () => migrate(db.url)));
    const { rows } = await db.pool.query("select name from schema_migrations order by id");
    expect(runs.flatMap((run) => run.applied)).toEqual(rows.map((row) => row.name));
    expect(rows.length).toBeGreaterThan(0);
  });

  it("runs only what is new", async () => {
    await migrate(db.url);
    expect(await migrate(db.url)).toEqual({ applied: [] });
    expect(await migrate(db.url, newer)).toEqual({ applied: ["9999_later"] });
  });

  it("refuses a database that a newer version has migrated, and leaves it alone", async () => {
    await migrate(db.url, newer);
    const error = await migrate(db.url).catch((reason: unknown) => reason);
    expect(isCode(error, "config_invalid")).toBe(true);
    expect(error).toHaveProperty("message", expect.stringContaining("newer version of Countersign (9999_later)"));
  });

  it("undoes everything when a migration fails", async () => {
    await writeFile(join(newer, "9999_later.sql"), "create table later (id int8); select 1 / 0;");
    await expect(migrate(db.url, newer)).rejects.toThrow("division by zero");
    const { rows } = await db.pool.query(
      "select to_regclass('later') as later, to_regclass('schema_migrations') as run",
    );
    expect(rows[0]).toEqual({ later: null, run: "schema_migrations" });
    expect((await migrate(db.url)).applied).toContain("0001_initial");
  });

  it("says what to check when there is no database", async () => {
    const error = await migrate("postgres://nobody@127.0.0.1:1/none").catch((reason: unknown) => reason);
    expect(isCode(error, "database_unreachable")).toBe(true);
  });
});
