import { describe, expect, it } from "vitest";
import type { HistoryMessage } from "../../../src/core/domain/history.ts";
import { inputText } from "../../../src/core/domain/input.ts";
import type { Json } from "../../../src/core/domain/json.ts";
import { createDemoModel, demoStep } from "../../../src/core/model/demo.ts";

const SUPPORT = ["lookup_order", "ask", "attach"];
const user = (text: string): HistoryMessage => ({ role: "user", text });
const call = (tool: string, input: Json): HistoryMessage => ({
  role: "assistant",
  text: "",
  calls: [{ callId: `c_${tool}`, tool, input }],
});
const result = (tool: string, output: Json, failed = false): HistoryMessage => ({
  role: "tool",
  results: [{ callId: `c_${tool}`, tool, failed, output }],
});

const answer = (history: HistoryMessage[], offered: string[] = SUPPORT) =>
  demoStep({ history, tools: offered.map((name) => ({ name, description: "", input: {} })) });

const asked: HistoryMessage[] = [
  user("Move customer cus_7 to the team plan"),
  call("ask", {
    text: "…",
    options: [
      { label: "Monthly", value: "team-monthly" },
      { label: "Yearly", value: "team-yearly" },
    ],
  }),
  result("ask", "asked"),
];

describe("the demo model", () => {
  it("labels everything it says, the question's text included, and spends nothing", () => {
    const steps = [
      answer([user("Hi")]),
      answer([user("Move cus_7 to the pro plan")]),
      answer([...asked, user("Yearly")]),
    ];
    for (const step of steps) {
      expect(step).toMatchObject({ model: "demo/scripted", usage: { inputTokens: 0, outputTokens: 0 } });
      if (step.text) expect(step.text).toMatch(/^\[demo model\] /);
    }
    expect(steps[1]?.calls[0]?.input).toMatchObject({
      text: expect.stringMatching(/^\[demo model\] .*cus_7.*pro plan/),
    });
  });

  it("asks before it changes a plan", () => {
    for (const text of ["Move customer cus_42 to the team plan", "please upgrade us", "a new plan?"]) {
      expect(answer([user(text)]).calls).toMatchObject([
        {
          tool: "ask",
          input: {
            options: [
              { label: "Monthly", value: "team-monthly" },
              { label: "Yearly", value: "team-yearly" },
            ],
          },
        },
      ]);
    }
  });

  it("its question does not contain the words it takes for an answer", () => {
    const question = JSON.stringify(answer([user("upgrade")]).calls[0]?.input);
    const echoed = `Answer to ${question.split('"options"')[0]}: Yearly (team-yearly)`;
    expect(answer([...asked, user(echoed)]).calls).toMatchObject([
      { tool: "attach", input: { planId: "team-yearly" } },
    ]);
  });

  it.each([
    [
      inputText({ source: "channel", answer: { questionId: "q", text: "Monthly", value: "team-monthly" } }),
      "team-monthly",
    ],
    ["team-yearly", "team-yearly"],
    ["yearly, please", "team-yearly"],
  ])("takes %j for an answer and proposes the change", (text, planId) => {
    expect(answer([...asked, user(text)]).calls).toMatchObject([
      { tool: "attach", input: { customerId: "cus_7", planId } },
    ]);
  });

  it("an answer is taken once, and other words are no answer", () => {
    expect(answer([...asked, user("Hello?")]).text).toContain("scripted demo model");
    expect(
      answer([...asked, user("Hello?"), { role: "assistant", text: "…", calls: [] }, user("monthly")]).calls,
    ).toEqual([]);
  });

  it("says that a proposal waits, and why one failed", () => {
    const proposed = [...asked, user("Yearly"), call("attach", {})];
    expect(answer([...proposed, result("attach", "recorded for approval")]).text).toContain("waits for approval");
    expect(answer([...proposed, result("attach", "no such customer", true)]).text).toContain("no such customer");
  });

  it.each([
    ["applied", "was approved and applied. Result: {}", "approved and applied"],
    ["failed", "was approved, but it was not applied.", "failed, and nothing was written"],
    ["rejected", "was rejected. Reason: applied elsewhere", "was rejected"],
    ["expired", "was not decided in time and expired.", "Nobody decided in time"],
    ["unconfirmed", "was approved and started, but never reported back.", "never reported back"],
  ])("A9 reports the outcome of a proposal: %s", (outcome, sentence, words) => {
    const system = {
      source: "system" as const,
      text: `The proposed change "Plan" ${sentence}`,
      payload: { decisionId: "dec_1", outcome },
    };
    const step = answer([
      ...asked,
      user("Yearly"),
      call("attach", {}),
      result("attach", "recorded"),
      user(inputText(system)),
    ]);
    expect(step.calls).toEqual([]);
    expect(step.text).toContain(words);
  });

  it.each([
    ["Where is ord_7?", "ord_7"],
    ["where is order 1042", "1042"],
    ["Order #A77 please", "A77"],
  ])("looks up the order of %j and reports it", (text, orderId) => {
    expect(answer([user(text)]).calls).toMatchObject([{ tool: "lookup_order", input: { orderId } }]);
    const told = answer([
      user(text),
      call("lookup_order", { orderId }),
      result("lookup_order", { status: "shipped", items: 2 }),
    ]);
    expect(told.text).toContain("status: shipped, items: 2");
  });

  it("T10 calls only what is offered", () => {
    expect(answer([user("Move cus_1 to the team plan")], ["attach"]).calls).toMatchObject([
      { tool: "attach", input: { customerId: "cus_1" } },
    ]);
    for (const text of ["Move cus_1 to the team plan", "order 7"])
      expect(answer([user(text)], ["ask"]).calls).toEqual([]);
  });

  it("for an agent it does not know it says what it is, how to get a real one, and what is offered", () => {
    const { text } = answer([user("Write a poem")], ["compose", "publish"]);
    expect(text).toMatch(/scripted demo model.*ANTHROPIC_API_KEY.*compose, publish/);
    expect(answer([], []).text).toContain("no tools");
  });

  it("stops with the signal's reason", async () => {
    const reason = new Error("stop");
    const stopped = createDemoModel().step({
      model: null,
      instructions: "",
      history: [],
      tools: [],
      signal: AbortSignal.abort(reason),
    });
    await expect(stopped).rejects.toBe(reason);
  });
});
