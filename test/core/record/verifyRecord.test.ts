import { describe, expect, it } from "vitest";
import { digest } from "../../../src/core/digest.ts";
import type { Json } from "../../../src/core/domain/json.ts";
import { NOTHING_BEFORE, type RecordEvent } from "../../../src/core/record/entry.ts";
import { createHeadKey, isPublicKey } from "../../../src/core/record/headKey.ts";
import { splitLines } from "../../../src/core/record/lines.ts";
import { verifyRecord } from "../../../src/core/record/verifyRecord.ts";

const key = createHeadKey(Buffer.alloc(32, 1).toString("base64"));
const stranger = createHeadKey(Buffer.alloc(32, 2).toString("base64"));
const AT = "2026-12-02T10:00:00.000Z";

type Told = readonly [decision: string, event: RecordEvent, details?: { readonly [name: string]: Json }];

/** A record that holds together, whatever it tells: what somebody with the database and the key could write. */
function record(told: readonly Told[], by = key): string[] {
  let head = { seq: 0, hash: NOTHING_BEFORE };
  const lines = told.map(([decision, event, details = {}]) => {
    const line = JSON.stringify({ seq: head.seq + 1, previous: head.hash, at: AT, decision, event, details });
    head = { seq: head.seq + 1, hash: digest(line) };
    return line;
  });
  return [...lines, JSON.stringify({ signed: by.sign({ ...head, signedAt: AT }) })];
}

const problems = async (lines: readonly string[], keys = [key.publicKey]) =>
  (await verifyRecord(lines, { keys })).problems;

const OF = { inputDigest: "in", cardDigest: "card" };
const STORY: readonly Told[] = [
  ["a", "proposed", OF],
  ["a", "shown"],
  ["b", "proposed", OF],
  ["a", "approved", OF],
  ["b", "rejected", OF],
  ["a", "applying", { attempt: 1 }],
  ["a", "unconfirmed", { attempt: 1 }],
  ["a", "run_again", { attempt: 1 }],
  ["a", "applying", { attempt: 2 }],
  ["a", "evidence", { attempt: 1 }],
  ["a", "applied", { attempt: 2 }],
];

describe("verifyRecord", () => {
  it("I9 finds nothing wrong with a whole record, and says what is in it", async () => {
    const lines = record(STORY);
    const report = await verifyRecord(lines, { keys: [key.publicKey] });
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({ entries: 11, decisions: 2, head: { seq: 11 }, signed: { seq: 11, signedAt: AT } });
    expect(report.head?.hash).toBe(digest(lines[10] ?? ""));
  });

  it("I9 finds nothing wrong with a record that has no entry yet", async () => {
    expect(await verifyRecord([], { keys: [key.publicKey] })).toMatchObject({ problems: [], head: null, signed: null });
  });

  for (let at = 0; at < STORY.length; at++) {
    it(`I9 finds entry ${at + 1} changed, removed, doubled, and swapped with its neighbour`, async () => {
      const lines = record(STORY);
      const line = lines[at] ?? "";
      const changed = lines.with(at, line.replace(AT, "2026-12-02T10:00:00.001Z"));
      const next =
        at + 1 < STORY.length ? `entry ${at + 2} does not follow entry ${at + 1} as it stands` : "what was signed";
      expect((await problems(changed))[0]).toContain(next);
      const removed = lines.toSpliced(at, 1);
      expect((await problems(removed))[0]).toContain(
        at + 1 < STORY.length ? `entry ${at + 2} stands where` : "what was signed",
      );
      expect((await problems(lines.toSpliced(at, 0, line)))[0]).toContain(
        `entry ${at + 1} stands where entry ${at + 2} belongs`,
      );
      if (at + 1 === STORY.length) return;
      const swapped = lines.with(at, lines[at + 1] ?? "").with(at + 1, line);
      expect((await problems(swapped))[0]).toContain(`entry ${at + 2} stands where entry ${at + 1} belongs`);
    });
  }

  it("I9 finds an end cut off with its signature when somebody kept the hash of a card", async () => {
    const whole = record(STORY);
    const cut = record(STORY.slice(0, 5));
    const hash = digest(whole[10] ?? "");
    const report = await verifyRecord(cut, { keys: [key.publicKey], witnesses: [hash] });
    expect(report.problems).toEqual([`no entry has the hash ${hash}`]);
    expect((await verifyRecord(whole, { keys: [key.publicKey], witnesses: [hash] })).problems).toEqual([]);
  });

  it("I9 takes nobody's word but that of a given key", async () => {
    const lines = record(STORY, stranger);
    expect(await problems(lines)).toEqual([
      `no given key vouches for any of it; ${stranger.publicKey}, which was not given, signed entry 11`,
    ]);
    const claimed = lines.with(11, (lines[11] ?? "").replace(stranger.publicKey, key.publicKey));
    expect((await problems(claimed))[0]).toBe("the signature of entry 11 is false");
    expect((await problems(record(STORY).slice(0, 11)))[0]).toBe("no given key vouches for any of it");
  });

  it("I9 finds what was added behind the last signature", async () => {
    const lines = record(STORY);
    const more = JSON.stringify({
      seq: 12,
      previous: digest(lines[10] ?? ""),
      at: AT,
      decision: "c",
      event: "proposed",
      details: OF,
    });
    expect(await problems([...lines, more])).toEqual(["no given key vouches for what stands behind entry 11"]);
  });

  it("says which line it cannot read, and goes on", async () => {
    const lines = record(STORY);
    expect(await problems(lines.toSpliced(3, 0, "not json", '{"seq":"4"}'))).toEqual([
      "line 4 is neither an entry nor a signature",
      "line 5 is neither an entry nor a signature",
    ]);
  });

  const IMPOSSIBLE: readonly (readonly [string, readonly Told[], string])[] = [
    [
      "A4 a start nobody approved",
      [
        ["a", "proposed", OF],
        ["a", "applying"],
      ],
      "entry 2: a goes from pending to applying",
    ],
    [
      "A4 a second decision",
      [...STORY.slice(0, 5), ["a", "rejected", OF]],
      "entry 6: a goes from approved to rejected",
    ],
    [
      "A5 a second start that nobody authorised",
      [...STORY.slice(0, 7), ["a", "applying", { attempt: 2 }]],
      "entry 8: a is started 2 times and was authorised 1 times",
    ],
    [
      "A5 failed after unconfirmed",
      [...STORY.slice(0, 7), ["a", "failed"]],
      "entry 8: a goes from unconfirmed to failed",
    ],
    [
      "A2 other arguments than those on the card",
      [
        ["a", "proposed", OF],
        ["a", "approved", { ...OF, inputDigest: "other" }],
      ],
      "entry 2: a is approved with another inputDigest than it was proposed with",
    ],
    ["A1 a decision out of nowhere", [["a", "approved", OF]], "entry 1: a is approved and was never proposed"],
    [
      "A1 one proposed twice",
      [
        ["a", "proposed", OF],
        ["a", "proposed", OF],
      ],
      "entry 2: a is proposed a second time",
    ],
  ];
  it.each(IMPOSSIBLE)("%s is found in a chain that holds", async (_, told, problem) => {
    expect((await problems(record(told)))[0]).toContain(problem);
  });

  it("A4 takes up a decision from before there was a record where it stood", async () => {
    const imported: Told = ["a", "imported", { ...OF, status: "unconfirmed", attempt: 1 }];
    expect(await problems(record([imported, ["a", "run_again"], ["a", "applying"], ["a", "applied"]]))).toEqual([]);
    expect((await problems(record([imported, ["a", "applying"]])))[0]).toContain("was authorised 1 times");
  });
});

describe("the key of the record", () => {
  it("is the same for the same master key, and another for another", () => {
    expect(createHeadKey(Buffer.alloc(32, 1).toString("base64")).publicKey).toBe(key.publicKey);
    expect(stranger.publicKey).not.toBe(key.publicKey);
    expect(isPublicKey(key.publicKey)).toBe(true);
    for (const wrong of ["", "ed25519:", "ed25519:AAAA", key.publicKey.slice(8)])
      expect(isPublicKey(wrong)).toBe(false);
  });
});

describe("splitLines", () => {
  it("splits at line feeds alone, wherever the chunks end", async () => {
    const text = 'a\u2028b\u2029\nc\r\n\n"é"';
    async function* chunks() {
      yield* text;
    }
    const lines = [];
    for await (const line of splitLines(chunks())) lines.push(line);
    expect(lines).toEqual(["a\u2028b\u2029", "c\r", "", '"é"']);
  });
});
