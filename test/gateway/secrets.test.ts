import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createSecrets } from "../../src/gateway/secrets.ts";
import { createTestDatabase, type TestDatabase } from "../helpers/database.ts";

const key = () => randomBytes(32).toString("base64");

describe("C3 secrets of the gateway", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    await database.pool.query("truncate secrets");
  });
  afterAll(() => database.drop());

  it("C3 what was set under the previous master key is read under the new one, and set anew needs the new one alone", async () => {
    const [old, current] = [key(), key()];
    await createSecrets(database.pool, old, [], {}).write("BILLING_KEY", "before");
    const rotated = createSecrets(database.pool, current, [old], {});
    expect(await rotated.read("BILLING_KEY")).toBe("before");
    await expect(createSecrets(database.pool, current, [], {}).read("BILLING_KEY")).rejects.toThrow(
      /BILLING_KEY.*COUNTERSIGN_MASTER_KEY_PREVIOUS/,
    );
    await rotated.write("BILLING_KEY", "after");
    expect(await createSecrets(database.pool, current, [], {}).read("BILLING_KEY")).toBe("after");
  });

  it("C3 a row moved to another name or scope by hand does not open", async () => {
    const secrets = createSecrets(database.pool, key(), [], {});
    await secrets.write("BILLING_KEY", "s3cret", "eu");
    await database.pool.query("update secrets set name = 'OTHER_KEY'");
    await expect(secrets.read("OTHER_KEY", "eu")).rejects.toThrow(/altered or moved/);
    await database.pool.query("update secrets set name = 'BILLING_KEY', scope = ''");
    await expect(secrets.read("BILLING_KEY", "eu")).rejects.toThrow(/altered or moved/);
  });

  it("C3 a scope's own value goes before the one of none, and both before the project's local one", async () => {
    const secrets = createSecrets(database.pool, key(), [], { BILLING_KEY: "local" });
    expect(await secrets.read("BILLING_KEY", "eu")).toBe("local");
    expect(await secrets.read("OTHER_KEY", "eu")).toBeNull();
    await secrets.write("BILLING_KEY", "of none");
    expect(await secrets.read("BILLING_KEY", "eu")).toBe("of none");
    await secrets.write("BILLING_KEY", "of eu", "eu");
    expect(await secrets.read("BILLING_KEY", "eu")).toBe("of eu");
    expect(await secrets.read("BILLING_KEY")).toBe("of none");
  });

  it("C3 the value is in no row", async () => {
    await createSecrets(database.pool, key(), [], {}).write("BILLING_KEY", "sk-live-in-no-row");
    const { rows } = await database.pool.query("select * from secrets");
    expect(JSON.stringify(rows)).toContain("BILLING_KEY");
    expect(JSON.stringify(rows)).not.toContain("sk-live");
  });
});
