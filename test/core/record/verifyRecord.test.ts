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
const CODE = { deploymentId: "dpl", toolDigest: "tool" };
const BY = { by: { provider: "slack", workspaceId: "T1", userId: "U_ANA" } };
const start = (attempt: number) => ({ ...BY, attempt, ...CODE, inputDigest: "in" });
const STORY: readonly Told[] = [
  ["a", "proposed", { ...OF, ...CODE }],
  ["a", "shown"],
  ["b", "proposed", { ...OF, ...CODE }],
  ["a", "approved", { ...BY, ...OF }],
  ["b", "rejected", { ...BY, ...OF }],
  ["a", "applying", start(1)],
  ["a", "unconfirmed", { attempt: 1 }],
  ["a", "run_again", { ...BY, attempt: 1 }],
  ["a", "applying", start(2)],
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

  it("I9 finds nothing wrong with a record that has no entry yet, where somebody says so", async () => {
    const empty = await verifyRecord(record([]), { keys: [key.publicKey] });
    expect(empty).toMatchObject({ problems: [], entries: 0, head: null, signed: { seq: 0 } });
    expect(await problems([])).toEqual(["no given key vouches for any of it"]);
    expect((await problems([...record([]), ...record(STORY).slice(0, 11)])).length).toBe(1);
  });

  it("I9 is not led astray by how a line is written", async () => {
    const lines = record(STORY);
    const at = (n: number) => lines[n] ?? "";
    const odd: Record<string, readonly (string | Buffer)[]> = {
      "a member twice": lines.with(3, at(3).replace('"details":{', '"details":{"by":"U_EVE",')),
      "a number in other letters": lines.with(0, at(0).replace('"seq":1', '"seq":1e0')),
      "a prototype": lines.with(0, at(0).replace('"details":{', '"details":{"__proto__":{"by":1},')),
      "white space": lines.with(5, `${at(5)} `),
      "a carriage return": lines.with(10, `${at(10)}\r`),
      "a mark of byte order": lines.with(0, `\uFEFF${at(0)}`),
      "half of the last entry": lines.with(10, at(10).slice(0, -9)),
      "half of the signature": lines.with(11, at(11).slice(0, -9)),
      "the record twice": [...lines, ...lines],
      "another record behind it": [...lines, ...record([["c", "proposed", { ...OF, ...CODE }]])],
      "its signature in front": [at(11), ...lines.slice(0, 11)],
      "an entry that says it is signed": lines.with(3, at(3).replace('{"seq"', '{"signed":1,"seq"')),
      "a signature that says more": lines.with(11, at(11).replace(/}$/, ',"event":"approved"}')),
      "a signature in place of an entry": lines.with(10, at(11)),
      "a signature of a shorter record": [...lines.slice(0, 11), ...record(STORY.slice(0, 9)).slice(9)],
    };
    const passed = [];
    for (const [how, told] of Object.entries(odd)) {
      if ((await verifyRecord(told, { keys: [key.publicKey] })).problems.length === 0) passed.push(how);
    }
    expect(passed).toEqual([]);
  });

  it("I9 hashes the bytes of a line: what is no UTF-8 is not what it looks like", async () => {
    const lines = record([["a", "proposed", { ...OF, ...CODE, note: "\uFFFD" }], ...STORY.slice(1)]).map((l) =>
      Buffer.from(l),
    );
    const whole = lines[0] ?? Buffer.alloc(0);
    const mark = whole.indexOf(Buffer.from("\uFFFD"));
    const doctored = Buffer.concat([whole.subarray(0, mark), Buffer.from([0xff]), whole.subarray(mark + 3)]);
    expect(doctored.toString()).toBe(whole.toString());
    expect((await verifyRecord(lines, { keys: [key.publicKey] })).problems).toEqual([]);
    const report = await verifyRecord(lines.with(0, doctored), { keys: [key.publicKey] });
    expect(report.problems).toEqual(["entry 2 does not follow entry 1 as it stands: one of them was changed"]);
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
        ["a", "proposed", { ...OF, ...CODE }],
        ["a", "applying", start(1)],
      ],
      "entry 2: a goes from pending to applying",
    ],
    [
      "A4 a second decision",
      [...STORY.slice(0, 5), ["a", "rejected", { ...BY, ...OF }]],
      "entry 6: a goes from approved to rejected",
    ],
    [
      "A5 a second start that nobody authorised",
      [...STORY.slice(0, 7), ["a", "applying", start(2)]],
      "entry 8: a is started 2 times and was authorised 1 times",
    ],
    [
      "A5 failed after unconfirmed",
      [...STORY.slice(0, 7), ["a", "failed", { attempt: 1 }]],
      "entry 8: a goes from unconfirmed to failed",
    ],
    [
      "A2 other arguments than those on the card",
      [
        ["a", "proposed", { ...OF, ...CODE }],
        ["a", "approved", { ...BY, ...OF, inputDigest: "other" }],
      ],
      "entry 2: a is approved with another inputDigest than it was proposed with",
    ],
    [
      "A2 a start that does not say with which arguments",
      [...STORY.slice(0, 5), ["a", "applying", { ...BY, ...CODE, attempt: 1 }]],
      "entry 6: a is applying with another inputDigest than it was proposed with",
    ],
    [
      "A2 a start of other code than was approved",
      [...STORY.slice(0, 5), ["a", "applying", { ...start(1), deploymentId: "other" }]],
      "entry 6: a is applying with another deploymentId than it was proposed with",
    ],
    [
      "A7 an approval by nobody",
      [
        ["a", "proposed", { ...OF, ...CODE }],
        ["a", "approved", OF],
      ],
      "entry 2: a is approved by nobody",
    ],
    [
      "A5 a start authorised before anything was in doubt",
      [...STORY.slice(0, 2), ["a", "run_again", { ...BY, attempt: 0 }]],
      "entry 3: a is authorised to run again while it is pending",
    ],
    [
      "A5 a start authorised by two people",
      [...STORY.slice(0, 8), ["a", "run_again", { ...BY, attempt: 1 }]],
      "entry 9: a is authorised to run again while it is unconfirmed, or a second time",
    ],
    [
      "A5 the refusal of what nobody asked for",
      [...STORY.slice(0, 7), ["a", "refused", { attempt: 1 }]],
      "entry 8: a is refused and nobody had it run again",
    ],
    [
      "A5 the outcome of another attempt",
      [...STORY.slice(0, 6), ["a", "applied", { attempt: 2 }]],
      "entry 7: a is applied in attempt 2, and had 1",
    ],
    ["A4 more time to decide", [...STORY.slice(0, 3), ["a", "shown"]], "entry 4: a is shown again"],
    [
      "A1 a decision slipped in as if it were older than the record",
      [...STORY.slice(0, 1), ["c", "imported", { ...OF, ...CODE, status: "approved", attempt: 0 }]],
      "entry 2: c is imported into a record that had begun",
    ],
    [
      "A4 a decision in no status there is",
      [["a", "imported", { ...OF, status: "constructor", attempt: 0 }]],
      "entry 1: a is imported in no status there is",
    ],
    ["A1 a decision out of nowhere", [["a", "approved", OF]], "entry 1: a is approved and was never proposed"],
    [
      "A1 one proposed twice",
      [
        ["a", "proposed", { ...OF, ...CODE }],
        ["a", "proposed", { ...OF, ...CODE }],
      ],
      "entry 2: a is proposed a second time",
    ],
  ];
  it.each(IMPOSSIBLE)("%s is found in a chain that holds", async (_, told, problem) => {
    expect((await problems(record(told)))[0]).toContain(problem);
  });

  it("A4 takes up a decision from before there was a record where it stood", async () => {
    const imported = (more: { readonly [name: string]: Json } = {}): Told => [
      "a",
      "imported",
      { ...OF, ...CODE, status: "unconfirmed", attempt: 1, ...more },
    ];
    const again: readonly Told[] = [
      ["a", "applying", start(2)],
      ["a", "applied", { attempt: 2 }],
    ];
    expect(await problems(record([imported(), ["a", "run_again", { ...BY, attempt: 1 }], ...again]))).toEqual([]);
    expect((await problems(record([imported(), ...again])))[0]).toContain("was authorised 1 times");
    expect(await problems(record([imported({ againBy: BY.by }), ...again]))).toEqual([]);
  });
});

describe("the key of the record", () => {
  it("is the same for the same master key, and another for another", () => {
    expect(createHeadKey(Buffer.alloc(32, 1).toString("base64")).publicKey).toBe(key.publicKey);
    expect(stranger.publicKey).not.toBe(key.publicKey);
    expect(isPublicKey(key.publicKey)).toBe(true);
    for (const wrong of ["", "ed25519:", "ed25519:AAAA", key.publicKey.slice(8), `${key.publicKey}\u001b[2J`])
      expect(isPublicKey(wrong)).toBe(false);
  });
});

describe("splitLines", () => {
  it.each([1, 2, 3, 100])("splits at line feeds alone, wherever the chunks of %i bytes end", async (size) => {
    const bytes = Buffer.from('a\u2028b\u2029\nc\r\n\n"é"');
    async function* chunks() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }
    const lines = [];
    for await (const line of splitLines(chunks())) lines.push(line.toString());
    expect(lines).toEqual(["a\u2028b\u2029", "c\r", "", '"é"']);
  });
});
