import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { digest } from "../../../src/core/digest.ts";
import type { Json } from "../../../src/core/domain/json.ts";
import type { Card } from "../../../src/core/domain/message.ts";
import { exportRecord } from "../../../src/core/flow/exportRecord.ts";
import { signRecord } from "../../../src/core/flow/signRecord.ts";
import { sweep } from "../../../src/core/flow/sweep.ts";
import { parseRecordLine, type RecordEntry } from "../../../src/core/record/entry.ts";
import { createHeadKey } from "../../../src/core/record/headKey.ts";
import { verifyRecord } from "../../../src/core/record/verifyRecord.ts";
import { findDecision } from "../../../src/core/store/decisions.ts";
import { readRecordEnd } from "../../../src/core/store/record.ts";
import {
  ANA,
  BEN,
  clickCard,
  createTestCore,
  EndsWith,
  newThread,
  post,
  type TestCore,
  TOOLS,
} from "../../helpers/core.ts";

describe("the decision record", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterAll(() => t.close());

  async function proposed(input: Json = {}) {
    const thread = newThread();
    t.model.script({ calls: [{ tool: "attach", input }] });
    await t.receive(post(thread, "go"));
    await t.drain();
    return { thread, card: t.lastCard() };
  }
  async function exported(): Promise<string[]> {
    const lines: string[] = [];
    for await (const line of exportRecord(t.core)) lines.push(line.trimEnd());
    return lines;
  }
  async function entriesOf({ decisionId }: Card): Promise<RecordEntry[]> {
    const lines = (await exported()).map(parseRecordLine);
    return lines.filter((line) => line !== null && "decision" in line).filter((line) => line.decision === decisionId);
  }
  const storyOf = async (card: Card) => (await entriesOf(card)).map((entry) => entry.event);
  const verify = async () => verifyRecord(await exported(), { keys: [t.core.headKey.publicKey] });

  it("A4 I9 tells who proposed, showed, approved and started a write, and what became of it", async () => {
    const { thread, card } = await proposed({ note: "line\nbreak \u0000 \u2028" });
    await t.receive(clickCard(thread, card, "approve"));
    await t.drain();
    const [first, shown, approved, applying, applied, ...more] = await entriesOf(card);
    expect(more).toEqual([]);
    const { inputDigest, cardDigest } = card;
    expect(first).toMatchObject({
      event: "proposed",
      details: { tool: "attach", inputDigest, cardDigest, requester: ANA, rule: { deciders: "requester" } },
    });
    expect(shown).toMatchObject({ event: "shown", details: { expiresAt: expect.stringMatching(/Z$/) } });
    expect(approved).toMatchObject({
      event: "approved",
      details: { by: ANA, right: { via: "requester" }, inputDigest, cardDigest },
    });
    expect(applying).toMatchObject({ event: "applying", details: { by: ANA, attempt: 1, inputDigest } });
    expect(applied).toMatchObject({ event: "applied", details: { attempt: 1, code: null } });
    expect(applied?.details["resultDigest"]).toBe(digest('{"attached":true}'));
    expect((await verify()).problems).toEqual([]);
  });

  it("A9 the final card names its entry, and the whole digest of the arguments", async () => {
    const { thread, card } = await proposed();
    expect(card.record).toBeUndefined();
    await t.receive(clickCard(thread, card, "approve"));
    await t.drain();
    const final = t.lastCard();
    expect(final.status).toBe("applied");
    const lines = await exported();
    const own = lines.find((line) => line.startsWith(`{"seq" : ${final.record?.seq},`));
    expect(final.record?.hash).toBe(digest(own ?? ""));
    expect((await findDecision(t.core.pool, card.decisionId))?.record).toEqual(final.record);
    const { problems } = await verifyRecord(lines, {
      keys: [t.core.headKey.publicKey],
      witnesses: [final.record?.hash ?? ""],
    });
    expect(problems).toEqual([]);
  });

  it("A4 A6 a click that changes nothing is no entry, nor is a call proposed twice", async () => {
    const { thread, card } = await proposed();
    await t.receive(clickCard(thread, card, "reject", BEN));
    await t.receive(clickCard(thread, card, "reject"));
    await t.receive(clickCard(thread, card, "approve"));
    await t.drain();
    expect(await storyOf(card)).toEqual(["proposed", "shown", "rejected"]);
  });

  it("A5 tells of a lost attempt, who had it run again, and what came late", async () => {
    const { thread, card } = await proposed();
    const lost = () => {
      throw new EndsWith({ kind: "lost", reason: "gone" });
    };
    t.runtime.tools.set("attach", { ...TOOLS["attach"], apply: lost });
    await t.receive(clickCard(thread, card, "approve"));
    await t.drain();
    t.runtime.tools.set("attach", { ...TOOLS["attach"], apply: () => ({ attached: true }) });
    await t.receive(clickCard(thread, card, "run-again"));
    await t.drain();
    const story = ["proposed", "shown", "approved", "applying", "unconfirmed", "run_again", "applying", "applied"];
    expect(await storyOf(card)).toEqual(story);
    const { problems, decisions } = await verify();
    expect(problems).toEqual([]);
    expect(decisions).toBeGreaterThan(0);
  });

  it("A4 tells that nobody decided in time", async () => {
    const { card } = await proposed();
    await t.passTime(25 * 3_600_000);
    await sweep(t.core);
    expect(await storyOf(card)).toEqual(["proposed", "shown", "expired"]);
  });

  it("30 no arrow is taken where its entry cannot be written", async () => {
    const { thread, card } = await proposed();
    await t.core.pool.query(`
      create function no_room() returns trigger language plpgsql as
        $$ begin raise exception 'no space left on device' using errcode = '53100'; end $$;
      create trigger no_room before insert on decision_record for each row execute function no_room()`);
    try {
      await expect(t.receive(clickCard(thread, card, "approve"))).rejects.toThrow("no space left on device");
      expect((await findDecision(t.core.pool, card.decisionId))?.status).toBe("pending");
    } finally {
      await t.core.pool.query("drop function no_room cascade");
    }
    await t.receive(clickCard(thread, card, "approve"));
    await t.drain();
    expect((await findDecision(t.core.pool, card.decisionId))?.status).toBe("applied");
    expect((await verify()).problems).toEqual([]);
  });

  it.each([
    "update decision_record set entry = entry",
    "delete from decision_record",
    "truncate decision_record cascade",
    "delete from decision_record_signatures",
  ])("I9 refuses to %s", async (statement) => {
    await proposed();
    await signRecord(t.core);
    await expect(t.core.pool.query(statement)).rejects.toThrow("is only ever appended to");
  });

  it("signs its end with every sweep that finds it grown, or signed with another key", async () => {
    await proposed();
    await sweep(t.core);
    const end = await readRecordEnd(t.core.pool);
    expect(end.signed).toMatchObject({ ...end.head, key: t.core.headKey.publicKey });
    await sweep(t.core);
    expect((await readRecordEnd(t.core.pool)).signed).toEqual(end.signed);

    const next = createHeadKey(Buffer.alloc(32, 8).toString("base64"));
    await t.passTime(1_000);
    await signRecord({ ...t.core, headKey: next });
    expect((await readRecordEnd(t.core.pool)).signed).toMatchObject({ ...end.head, key: next.publicKey });
    // Either of the two vouches for the whole: the chain carries what a later key says back to the first entry.
    const lines = await exported();
    for (const { publicKey } of [t.core.headKey, next])
      expect((await verifyRecord(lines, { keys: [publicKey] })).problems).toEqual([]);
  });

  it("S2 writers in different sessions never wait for each other in a circle", async () => {
    const cards = [];
    for (let n = 0; n < 6; n++) cards.push(await proposed());
    await Promise.all(
      cards.flatMap(({ thread, card }) => [
        t.receive(clickCard(thread, card, "approve")),
        t.receive(clickCard(thread, card, "reject")),
      ]),
    );
    await t.drain();
    const { rows } = await t.core.pool.query("select status from decisions");
    expect(rows.filter(({ status }) => status === "applied" || status === "rejected")).toHaveLength(6);
    expect((await verify()).problems).toEqual([]);
  });
});
