import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeButton } from "../../../src/adapters/buttonValue.ts";
import { LIMITS } from "../../../src/adapters/slack/limits.ts";
import { renderSlack } from "../../../src/adapters/slack/render.ts";
import { findProblems } from "../../../src/adapters/slack/simulator/blocks/check.ts";
import { slackBodyProblems } from "../../../src/adapters/slack/validate.ts";
import { DECISION_STATUSES } from "../../../src/core/domain/decision.ts";
import type { AskedQuestion, Card, OutboundMessage, Person } from "../../../src/core/domain/message.ts";

const ada: Person = { provider: "slack", workspaceId: "T1", userId: "U1" };

const card: Card = {
  decisionId: "dec_1",
  tool: "attach",
  preview: {
    title: "Attach invoice 7 to order 42",
    summary: "The customer asked for it.",
    facts: [
      { label: "Order", value: "42" },
      { label: "Amount", value: "10 EUR" },
    ],
  },
  input: '{"order":42}',
  inputDigest: "3f2a9c1b0d4e5f60".repeat(4),
  cardDigest: "0123456789abcdef".repeat(4),
  status: "pending",
};

interface Shown {
  readonly type: string;
  readonly text: string;
}

/** Every text object of a body, and every button, in reading order. */
function shown(message: OutboundMessage) {
  const body = renderSlack(message);
  const texts: Shown[] = [];
  const buttons: { label: string; value: string; style: unknown; actionId: string }[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) walk(item);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return;
    const record: Record<string, unknown> = { ...value };
    if (record["type"] === "button") {
      const label = String(Object(record["text"]).text);
      buttons.push({
        label,
        value: String(record["value"]),
        style: record["style"],
        actionId: String(record["action_id"]),
      });
    } else if (typeof record["text"] === "string") texts.push({ type: String(record["type"]), text: record["text"] });
    else for (const nested of Object.values(record)) walk(nested);
  };
  walk(body.blocks ?? []);
  return { body, texts, buttons, all: texts.map(({ text }) => text).join("\n") };
}

/** By our own gate and by the simulator's, which was written from Slack's documentation apart from it. */
function expectLegal(message: OutboundMessage): void {
  const body = renderSlack(message);
  expect(slackBodyProblems(body)).toEqual([]);
  expect(findProblems(JSON.parse(JSON.stringify(body.blocks ?? [])), "message")).toEqual([]);
}

describe("a text", () => {
  it("is mrkdwn without blocks", () => {
    expect(renderSlack({ kind: "text", text: "**Done** & <!here>" })).toEqual({ text: "*Done* &amp; &lt;!here&gt;" });
  });

  it("G6 empty is still words", () => {
    expect(renderSlack({ kind: "text", text: " \n" }).text).toMatch(/\w/);
  });

  it("too long for one message is cut where everyone sees it", () => {
    const { text } = renderSlack({ kind: "text", text: `\`\`\`\n${"<line>\n".repeat(2_000)}` });
    expect(text.length).toBeLessThanOrEqual(LIMITS.text);
    expect(text).toMatch(/```\n_… cut/);
  });

  it("a notice pings nobody", () => {
    expect(renderSlack({ kind: "notice", to: ada, text: "<!channel> no" }).text).toBe("&lt;!channel&gt; no");
  });
});

describe("a question", () => {
  const question: AskedQuestion = {
    id: "qst_1",
    text: "Which **order**?",
    options: [
      { label: "The first", value: "1" },
      { label: "The second", value: "2" },
    ],
  };
  const ask = (changes: Partial<AskedQuestion> = {}, text = "I found two."): OutboundMessage => ({
    kind: "question",
    text,
    question: { ...question, ...changes },
  });
  const options = (...labels: string[]) => labels.map((label, i) => ({ label, value: `v${i}` }));

  it("Q4 is one message: the turn's text, the question, one button per option", () => {
    const { body, texts, buttons } = shown(ask());
    expect(texts.map(({ text }) => text)).toEqual(["I found two.", "Which *order*?"]);
    expect(buttons.map(({ label }) => label)).toEqual(["The first", "The second"]);
    expect(buttons.map(({ value }) => decodeButton(value))).toEqual([
      { for: "question", questionId: "qst_1", option: 0 },
      { for: "question", questionId: "qst_1", option: 1 },
    ]);
    expect(new Set(buttons.map(({ actionId }) => actionId)).size).toBe(2);
    expect(body.text).toContain("Which **order**?");
    expectLegal(ask());
  });

  it("Q4 without words of the turn or options is the question alone", () => {
    expect(shown(ask({ options: [] }, "")).body.blocks).toHaveLength(1);
    expectLegal(ask({ options: [] }, ""));
  });

  it("Q6 labels that are long, or equal at the cut, are numbered and listed whole", () => {
    const long = `${"Refund the customer of order number ".repeat(3)}`;
    const labels = [`${long}A`, `${long}B`].map((label) => label.slice(-80));
    const { buttons, all } = shown(ask({ options: options(...labels) }));
    expect(buttons.map(({ label }) => label.slice(0, 3))).toEqual(["1. ", "2. "]);
    expect(buttons.every(({ label }) => label.length <= LIMITS.buttonText)).toBe(true);
    for (const label of labels) expect(all).toContain(label.trim());
  });

  it("Q6 equal labels are told apart by numbers", () => {
    expect(shown(ask({ options: options("Yes", "Yes") })).buttons.map(({ label }) => label)).toEqual([
      "1. Yes",
      "2. Yes",
    ]);
  });

  it("Q6 emoji and other scripts are shown as they are, never torn", () => {
    const family = "👩‍👩‍👧‍👦";
    const { buttons } = shown(ask({ options: options(family, "日本語", "می‌خواهم") }));
    expect(buttons.map(({ label }) => label)).toEqual([family, "日本語", "می‌خواهم"]);
    const torn = shown(ask({ options: options(family.repeat(8)) })).buttons[0]?.label ?? "";
    expect(torn).toMatch(/^1\. (👩‍👩‍👧‍👦)+…$/u);
  });

  it("Q4 after the answer the choice stands where the buttons were", () => {
    const { buttons, all } = shown({
      ...ask(),
      outcome: { kind: "answered", text: "The <second>", by: ada },
    } as OutboundMessage);
    expect(buttons).toEqual([]);
    expect(all).toContain("<@U1> answered: *The &lt;second&gt;*");
  });

  it("Q4 a closed question says why", () => {
    const message = { ...ask(), outcome: { kind: "closed", reason: "superseded" } } as OutboundMessage;
    expect(shown(message).buttons).toEqual([]);
    expect(shown(message).all).toContain("closed (superseded)");
    expect(renderSlack(message).text).toContain("closed (superseded)");
    expectLegal(message);
  });

  it("Q1 the largest question is legal, and whole", () => {
    const text = "&".repeat(4_000);
    const wide = "👩‍👩‍👧".repeat(16);
    const message = ask(
      { text, options: options(wide, wide, `${wide}`, " ", "\u0000", "a\ud83d") },
      "<".repeat(50_000),
    );
    expectLegal(message);
    expect(shown(message).all.match(/&/g)?.length).toBeGreaterThanOrEqual(4_000);
    expect(shown(message).all).toContain("cut: the rest did not fit");
  });
});

describe("a card", () => {
  const of = (changes: Partial<Card>): OutboundMessage => ({ kind: "card", card: { ...card, ...changes } });
  const decided = { decidedBy: ada, decidedAt: "2026-01-03T02:16:53.000Z" };

  it("A8 pending shows the whole preview, the tool, the digest, and asks", () => {
    const { all, buttons } = shown(of({}));
    for (const part of [
      "Attach invoice 7",
      "The customer",
      "Order",
      "42",
      "Amount",
      "10 EUR",
      "attach",
      "3f2a9c1b0d4e5f60",
    ]) {
      expect(all).toContain(part);
    }
    expect(buttons.map(({ label, style }) => [label, style])).toEqual([
      ["Approve", "primary"],
      ["Reject", "danger"],
    ]);
    expect(buttons.map(({ value }) => decodeButton(value))).toEqual([
      { for: "decision", decisionId: "dec_1", card: "0123456789abcdef", verb: "approve" },
      { for: "decision", decisionId: "dec_1", card: "0123456789abcdef", verb: "reject" },
    ]);
    expectLegal(of({}));
  });

  it.each([
    ["approved", "*being applied* · approved by <@U1>"],
    ["applying", "*being applied* · approved by <@U1>"],
    ["applied", "*applied* · approved by <@U1>"],
    ["failed", "*failed* · approved by <@U1>"],
    ["rejected", "*rejected* · rejected by <@U1>"],
    ["expired", "*expired* · nobody decided in time"],
    ["unconfirmed", "*unconfirmed* · approved by <@U1>"],
  ] as const)("A9 %s says so, who and when", (status, line) => {
    const { all, buttons, body } = shown(of({ ...decided, status }));
    expect(all).toContain(`${line} · <!date^1767406613^{date_short_pretty} {time}|2026-01-03 02:16 UTC>`);
    expect(body.text).toContain("Attach invoice 7");
    expect(buttons.map(({ label }) => label)).toEqual(status === "unconfirmed" ? ["Run again"] : []);
    expectLegal(of({ ...decided, status }));
  });

  it("A9 unconfirmed warns that it may have been written", () => {
    expect(shown(of({ ...decided, status: "unconfirmed" })).all).toContain("It may have been written.");
  });

  it("A9 somebody Slack does not know is a name that pings nobody", () => {
    const by: Person = { provider: "api", workspaceId: "", userId: "k1", name: "<!channel> \u202eeve" };
    const { all } = shown(of({ ...decided, decidedBy: by, status: "applied" }));
    expect(all).toContain("approved by &lt;!channel&gt; ⟨U+202E⟩eve");
    expect(all).not.toContain("<!channel>");
    const forged: Person = { provider: "slack", workspaceId: "T1", userId: "U1> <!channel" };
    expect(shown(of({ ...decided, decidedBy: forged, status: "applied" })).all).not.toContain("<!channel");
  });

  it("A8 nothing a tool wrote is anything but plain text", () => {
    const evil = "<!channel> <https://evil|x> *b* :white_check_mark: \u202e";
    const message = of({
      tool: evil,
      note: evil,
      status: "rejected",
      ...decided,
      preview: { title: evil, summary: evil, facts: [{ label: evil, value: evil }] },
    });
    const { texts, body } = shown(message);
    for (const { type, text } of texts) if (text.includes("evil")) expect(type).toBe("plain_text");
    expect(JSON.stringify(body)).not.toContain('"emoji":true');
    expect(JSON.stringify(body)).not.toContain("\u202e");
    expect(body.text).not.toMatch(/[<>]/);
  });

  it("A8 no value can pose as another fact", () => {
    const forged = `${"x".repeat(2_998)}Amount: 5 EUR${"y".repeat(2_000)}`;
    const { texts } = shown(
      of({
        preview: {
          title: "t",
          facts: [
            { label: "Note", value: forged },
            { label: "Amount", value: "1\nApproved" },
          ],
        },
      }),
    );
    expect(texts.filter(({ text }) => text.startsWith("Amount:") || text.includes("\nApproved"))).toEqual([]);
  });

  it("A8 a preview too long for one message is reviewed before it can be approved", () => {
    const message = of({ preview: { title: "t", facts: [{ label: "Body", value: "z".repeat(20_000) }] } });
    const { all, buttons } = shown(message);
    expect(buttons.map(({ label }) => label)).toEqual(["Review full", "Reject"]);
    expect(decodeButton(buttons[0]?.value ?? "")).toMatchObject({ verb: "review" });
    expect(all).toContain("This is not the whole change");
    expectLegal(message);
  });

  it("A8 whatever is shown with Approve is shown whole", () => {
    const texts = fc.string({ unit: "grapheme", minLength: 1, maxLength: 3_000 });
    const facts = fc.array(fc.record({ label: fc.string({ minLength: 1, maxLength: 100 }), value: texts }), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(facts, fc.integer({ min: 1, max: 6 }), (some, times) => {
        const preview = { title: "t", facts: some.map(({ label, value }) => ({ label, value: value.repeat(times) })) };
        const { buttons, all } = shown(of({ preview }));
        if (buttons[0]?.label === "Approve") expect(all).not.toContain("… (cut)");
        expectLegal(of({ preview }));
      }),
      { numRuns: 150 },
    );
  });

  it("A8 the worst preview is legal in every state", () => {
    const wide = "\u202e";
    const preview = {
      title: wide.repeat(200),
      summary: "a\n".repeat(1_000),
      facts: Array.from({ length: 20 }, () => ({ label: wide.repeat(100), value: wide.repeat(60_000) })),
    };
    for (const status of DECISION_STATUSES) {
      expectLegal(of({ ...decided, status, preview, note: `${wide.repeat(5_000)}\ud83d`, tool: wide.repeat(300) }));
    }
  });
});

describe("the gate before a post", () => {
  const button = (id: string) => ({
    type: "button",
    action_id: id,
    value: "v",
    text: { type: "plain_text", text: "b" },
  });
  const section = (text: string) => ({ type: "section", text: { type: "plain_text", text } });

  it.each([
    ["an empty text", { text: "" }],
    ["a long text", { text: "x".repeat(LIMITS.text + 1) }],
    ["an empty section", { text: "t", blocks: [section("")] }],
    ["a long section", { text: "t", blocks: [section("x".repeat(3_001))] }],
    ["too many blocks", { text: "t", blocks: Array(51).fill({ type: "divider" }) }],
    ["too much in all", { text: "t", blocks: Array(5).fill(section("x".repeat(2_900))) }],
    ["one action id twice", { text: "t", blocks: [{ type: "actions", elements: [button("a"), button("a")] }] }],
    [
      "one block id twice",
      {
        text: "t",
        blocks: [
          { type: "divider", block_id: "b" },
          { type: "divider", block_id: "b" },
        ],
      },
    ],
    ["an empty actions block", { text: "t", blocks: [{ type: "actions", elements: [] }] }],
    ["mrkdwn in a header", { text: "t", blocks: [{ type: "header", text: { type: "mrkdwn", text: "x" } }] }],
    ["a lone surrogate", { text: "a\ud83d" }],
    ["an unknown block", { text: "t", blocks: [{ type: "marquee" }] }],
  ])("G5 stops %s", (_what, body) => {
    expect(slackBodyProblems(body).length).toBeGreaterThan(0);
  });

  it("lets a plain post through", () => {
    expect(slackBodyProblems({ text: "t", blocks: [section("x"), { type: "divider" }] })).toEqual([]);
  });
});
