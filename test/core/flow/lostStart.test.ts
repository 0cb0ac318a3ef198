import { afterAll, beforeAll, expect, it } from "vitest";
import { withTx } from "../../../src/core/db/withTx.ts";
import { applyDecision } from "../../../src/core/flow/applyDecision.ts";
import { sweep } from "../../../src/core/flow/sweep.ts";
import { listAttempts } from "../../../src/core/store/attempts.ts";
import { findDecision } from "../../../src/core/store/decisions.ts";
import { clickCard, createTestCore, newThread, post, type TestCore } from "../../helpers/core.ts";

let t: TestCore;
beforeAll(async () => {
  t = await createTestCore();
  await t.reset();
});
afterAll(() => t.close());

/**
 * The database is the standby now, and had not got the start: its row, its attempt, its event and its entry in the
 * record were never there.
 */
const failOver = (id: string): Promise<void> =>
  withTx(t.core.pool, async (db) => {
    // What a standby does not replay fires no trigger.
    await db.query("set local session_replication_role = replica");
    await db.query("delete from decision_attempts where decision_id = $1", [id]);
    await db.query("delete from events where type = 'approval.applying'");
    await db.query("update sessions s set last_seq = (select max(seq) from events e where e.session_id = s.id)");
    await db.query(`delete from decision_record where (entry::json)->>'event' = 'applying'`);
    await db.query(
      `with last as (update decision_record_head set (seq, hash) =
         (select seq, hash from decision_record order by seq desc limit 1) returning seq, hash)
       update decisions set status = 'approved', attempt = 0, fence = null, lease_until = null,
         record_seq = last.seq, record_hash = last.hash
       from last where id = $1`,
      [id],
    );
  });

it("19 A3 a start that a failover lost is made again, under the same key, and the target's key makes it one effect", async () => {
  const thread = newThread();
  t.model.script({ calls: [{ tool: "attach", input: {} }] });
  await t.receive(post(thread, "go"));
  await t.drain();
  const card = t.lastCard();
  const id = card.decisionId;
  await t.receive(clickCard(thread, card, "approve"));
  t.wakes.lose();

  /** What the target did, by the key it was asked under. */
  const effects = new Map<string | undefined, object>();
  const asked: (string | undefined)[] = [];
  t.runtime.tools.set("attach", {
    ...t.runtime.tools.get("attach"),
    apply: async ({ decision }) => {
      asked.push(decision?.id);
      if (!effects.has(decision?.id)) effects.set(decision?.id, { note: 7 });
      if (asked.length === 1) await failOver(id);
      return { attached: true };
    },
  });
  await applyDecision(t.core, id);
  expect((await findDecision(t.core.pool, id))?.status).toBe("approved");

  await t.passTime(4_000);
  await sweep(t.core);
  await t.drain();
  expect(await findDecision(t.core.pool, id)).toMatchObject({ status: "applied", attempt: 1 });
  expect(await listAttempts(t.core.pool, id)).toMatchObject([{ attempt: 1, outcome: "applied" }]);
  expect(asked).toEqual([id, id]);
  expect([...effects.keys()]).toEqual([id]);
});
