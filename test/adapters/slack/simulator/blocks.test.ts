import { describe, expect, test } from "vitest";
import { findProblems } from "../../../../src/adapters/slack/simulator/blocks/check.ts";
import { button, createSetting, refused, section } from "./setting.ts";

const actions = (...elements: object[]) => ({ type: "actions", elements });
const field = (text: string) => ({ type: "plain_text", text });
const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

describe("each limit holds at its edge and breaks one beyond (SLACK.md 1.5)", () => {
  test.each<[string, unknown[], unknown[]]>([
    ["50 blocks", many(50, () => ({ type: "divider" })), many(51, () => ({ type: "divider" }))],
    ["section text 1..3000", [section("x".repeat(3_000))], [section("x".repeat(3_001))]],
    ["section text is not empty", [section("x")], [section("")]],
    [
      "10 fields",
      [{ type: "section", fields: many(10, () => field("f")) }],
      [{ type: "section", fields: many(11, () => field("f")) }],
    ],
    [
      "field text 2000",
      [{ type: "section", fields: [field("x".repeat(2_000))] }],
      [{ type: "section", fields: [field("x".repeat(2_001))] }],
    ],
    [
      "header 150",
      [{ type: "header", text: field("x".repeat(150)) }],
      [{ type: "header", text: field("x".repeat(151)) }],
    ],
    ["header is plain text", [{ type: "header", text: field("x") }], [{ type: "header", text: section("x").text }]],
    [
      "10 context elements",
      [{ type: "context", elements: many(10, () => field("c")) }],
      [{ type: "context", elements: many(11, () => field("c")) }],
    ],
    ["25 elements of actions", [actions(...many(25, () => button("b")))], [actions(...many(26, () => button("b")))]],
    ["button text 75", [actions(button("x".repeat(75)))], [actions(button("x".repeat(76)))]],
    [
      "button text is plain",
      [actions(button("b"))],
      [actions({ type: "button", text: { type: "mrkdwn", text: "b" } })],
    ],
    [
      "button value 2000",
      [actions(button("b", { value: "x".repeat(2_000) }))],
      [actions(button("b", { value: "x".repeat(2_001) }))],
    ],
    [
      "action_id 255",
      [actions(button("b", { action_id: "x".repeat(255) }))],
      [actions(button("b", { action_id: "x".repeat(256) }))],
    ],
    [
      "action_id unique in its block",
      [actions(button("a", { action_id: "1" })), actions(button("b", { action_id: "1" }))],
      [actions(button("a", { action_id: "1" }), button("b", { action_id: "1" }))],
    ],
    [
      "block_id unique in the message",
      [
        { ...section("a"), block_id: "1" },
        { ...section("b"), block_id: "2" },
      ],
      [
        { ...section("a"), block_id: "1" },
        { ...section("b"), block_id: "1" },
      ],
    ],
    [
      "block_id 255",
      [{ ...section("a"), block_id: "x".repeat(255) }],
      [{ ...section("a"), block_id: "x".repeat(256) }],
    ],
    ["button style", [actions(button("b", { style: "primary" }))], [actions(button("b", { style: "blue" }))]],
    [
      "confirm text 300",
      [actions(button("b", { confirm: { text: field("x".repeat(300)) } }))],
      [actions(button("b", { confirm: { text: field("x".repeat(301)) } }))],
    ],
    [
      "markdown 12000 together",
      [{ type: "markdown", text: "x".repeat(12_000) }],
      [
        { type: "markdown", text: "x".repeat(6_000) },
        { type: "markdown", text: "x".repeat(6_001) },
      ],
    ],
    [
      "card body 200",
      [{ type: "card", body: section("x".repeat(200)).text }],
      [{ type: "card", body: section("x".repeat(201)).text }],
    ],
    [
      "option value 150",
      [actions({ type: "static_select", options: [{ text: field("o"), value: "x".repeat(150) }] })],
      [actions({ type: "static_select", options: [{ text: field("o"), value: "x".repeat(151) }] })],
    ],
    ["known types", [{ type: "divider" }], [{ type: "marquee" }]],
  ])("%s", (_name, edge, beyond) => {
    expect(findProblems(edge, "message")).toEqual([]);
    expect(findProblems(beyond, "message")).toHaveLength(1);
  });
});

test.each([
  [[null]],
  [["text"]],
  [[{}]],
  [[{ type: "section" }]],
  [[{ type: "section", text: "bare" }]],
  [[{ type: "actions", elements: {} }]],
  [[{ type: "actions", elements: [] }]],
  [[{ type: "actions", elements: [null] }]],
  [[{ type: "section", text: { type: "plain_text", text: 7 } }]],
])("malformed blocks are problems, never an exception: %j", (blocks) => {
  expect(findProblems(blocks, "message")).not.toEqual([]);
});

test("the answer names the place in Slack's words", async () => {
  const { web, sim, close } = await createSetting();
  try {
    const blocks = [section("fine"), section("x".repeat(3_001))];
    const answer = await refused(web.chat.postMessage({ channel: sim.general, text: "t", blocks }));
    const message = "must be less than 3001 characters [json-pointer:/blocks/1/text/text]";
    expect(answer).toMatchObject({ error: "invalid_blocks", errors: [message] });
    expect(answer.response_metadata.messages).toEqual([`[ERROR] ${message}`]);
    expect(sim.violations).toMatchObject([{ error: "invalid_blocks", messages: [message] }]);
  } finally {
    await close();
  }
});
