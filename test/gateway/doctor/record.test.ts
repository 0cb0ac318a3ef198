import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decideByApi } from "../../../src/core/flow/decide.ts";
import { exportRecord } from "../../../src/core/flow/exportRecord.ts";
import { signRecord } from "../../../src/core/flow/signRecord.ts";
import { createHeadKey } from "../../../src/core/record/headKey.ts";
import { verifyRecord } from "../../../src/core/record/verifyRecord.ts";
import { checkRecord } from "../../../src/gateway/doctor/record.ts";
import { clickCard, createTestCore, newThread, post, type TestCore } from "../../helpers/core.ts";

const KEY = Buffer.alloc(32, 7).toString("base64");

describe("I9 countersign doctor on the decision record", () => {
  let t: TestCore;
  let decisionId: string;
  beforeAll(async () => {
    t = await createTestCore();
    await t.reset();
  });
  afterAll(() => t.close());
  const look = (key = KEY) => checkRecord(t.core.pool, key);
  /** Past the triggers, as only the database's owner can. */
  const behindItsBack = async (statement: string) => {
    await t.core.pool.query(`begin; set local session_replication_role = replica; ${statement}; commit`);
  };

  it("finds nothing to say before anything was proposed", async () => {
    expect(await look()).toMatchObject({ level: "ok", says: "Nothing was proposed yet." });
  });

  it("is content with a record that is signed and says what the decisions say", async () => {
    const thread = newThread();
    t.model.script({ calls: [{ tool: "attach", input: {} }] });
    await t.receive(post(thread, "go"));
    await t.drain();
    ({ decisionId } = t.lastCard());
    expect(await look()).toMatchObject({ level: "ok", says: "2 entries, signed up to 0." });
    await t.receive(clickCard(thread, t.lastCard(), "approve"));
    await t.drain();
    await signRecord(t.core);
    expect(await look()).toMatchObject({ level: "ok", says: "5 entries, signed up to 5." });
  });

  it("G6 reads entries about people and reasons of any kind", async () => {
    const thread = newThread();
    t.model.script({ calls: [{ tool: "attach", input: { note: "\u0000 \ud800" } }] });
    await t.receive(post(thread, "go"));
    await t.drain();
    const { decisionId: id } = t.lastCard();
    const name = 'Ana" , "event" : "applied\u0000\u001b[2J\ud800\n\u2028';
    const by = { provider: "api", workspaceId: "api", userId: name, name } as const;
    const { wakes } = await decideByApi(t.core, { decisionId: id, verb: "reject", by, reason: name });
    await t.wakes.ring(wakes);
    await t.drain();
    await signRecord(t.core);
    expect(await look()).toMatchObject({ level: "ok", says: "8 entries, signed up to 8." });
    const lines: string[] = [];
    for await (const line of exportRecord(t.core)) lines.push(line.trimEnd());
    const { problems } = await verifyRecord(lines, { keys: [t.core.headKey.publicKey] });
    expect(problems).toEqual([]);
  });

  it("warns of another key than the one that signed", async () => {
    const other = Buffer.alloc(32, 8).toString("base64");
    const { level, says } = await look(other);
    expect(level).toBe("warning");
    expect(says).toContain(t.core.headKey.publicKey);
    expect(says).toContain(createHeadKey(other).publicKey);
  });

  it("names a decision that was changed past the triggers", async () => {
    await behindItsBack(`update decisions set status = 'failed' where id = '${decisionId}'`);
    const { level, says } = await look();
    expect(level).toBe("problem");
    expect(says).toContain(decisionId);
    await behindItsBack(`update decisions set status = 'applied' where id = '${decisionId}'`);
    expect((await look()).level).toBe("ok");
  });

  it("finds the end of the chain cut off", async () => {
    const cut = `delete from decision_record_signatures; delete from decision_record where seq >= 5;
      delete from deliveries where decision_id <> '${decisionId}'; delete from decisions where id <> '${decisionId}';
      update decisions set status = 'applying', lease_until = countersign_now()`;
    await behindItsBack(cut);
    expect(await look()).toMatchObject({
      level: "problem",
      says: expect.stringContaining("The end of the decision record is gone or was replaced"),
    });
  });
});
