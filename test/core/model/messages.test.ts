import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HistoryMessage } from "../../../src/core/domain/history.ts";
import type { Json } from "../../../src/core/domain/json.ts";
import { toPrompt } from "../../../src/core/model/messages.ts";
import type { SdkPrompt } from "../../../src/core/model/providers.ts";

const user = (text: string): HistoryMessage => ({ role: "user", text });
const said = (text: string): HistoryMessage => ({ role: "assistant", text, calls: [] });

describe("a history as the providers take it", () => {
  it("opens with the user and holds no empty texts", () => {
    const prompt = toPrompt("", [said("Hi"), said("  "), user(" \n")], "anthropic");
    expect(prompt.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
    expect(JSON.stringify(prompt)).not.toContain('"text":""');
    expect(toPrompt("", [], "openai")).toHaveLength(1);
  });

  it("puts the instructions first, and none when there are none", () => {
    expect(toPrompt("Be kind.", [user("Hi")], "openai")[0]).toEqual({ role: "system", content: "Be kind." });
    expect(toPrompt(" ", [user("Hi")], "openai")[0]?.role).toBe("user");
  });

  it("G6 NUL and lone surrogates never reach a provider, pairs stay as they are", () => {
    const broken = "a\u0000b\ud800c\udc00😀";
    const prompt = toPrompt(
      broken,
      [
        user(broken),
        { role: "assistant", text: broken, calls: [{ callId: "c1", tool: "t", input: { [broken]: [broken] } }] },
        { role: "tool", results: [{ callId: "c1", tool: "t", failed: false, output: { nested: { text: broken } } }] },
      ],
      "anthropic",
    );
    const texts = JSON.stringify(prompt);
    expect(texts).not.toMatch(/\\u0000|\\ud/i);
    expect(texts.split("a\ufffdb\ufffdc\ufffd😀")).toHaveLength(7);
  });

  it("tells a failed result from a good one, text from JSON", () => {
    const outputs = (output: Json, failed: boolean) =>
      toPrompt(
        "",
        [
          user("x"),
          { role: "assistant", text: "", calls: [{ callId: "c1", tool: "t", input: {} }] },
          { role: "tool", results: [{ callId: "c1", tool: "t", failed, output }] },
        ],
        "openai",
      ).at(-1)?.content[0];
    expect(outputs("fine", false)).toMatchObject({ output: { type: "text", value: "fine" } });
    expect(outputs("broke", true)).toMatchObject({ output: { type: "error-text", value: "broke" } });
    expect(outputs({ a: [1] }, false)).toMatchObject({ output: { type: "json", value: { a: [1] } } });
    expect(outputs({ a: [1] }, true)).toMatchObject({ output: { type: "error-json", value: { a: [1] } } });
  });

  it("wraps arguments that are no object, and sends no tool name a provider refuses", () => {
    const history: HistoryMessage[] = [
      user("x"),
      { role: "assistant", text: "", calls: [{ callId: "über id", tool: "no such.tool", input: '{"broken' }] },
      { role: "tool", results: [{ callId: "über id", tool: "no such.tool", failed: true, output: "not JSON" }] },
    ];
    const [, call, result] = toPrompt("", history, "anthropic");
    expect(call?.content[0]).toMatchObject({ toolName: "no_such_tool", input: { arguments: '{"broken' } });
    const id = /"toolCallId":"(call_[0-9a-f]{40})"/.exec(JSON.stringify(call))?.[1];
    expect(result?.content[0]).toMatchObject({ toolCallId: id, toolName: "no_such_tool" });
  });

  it.each(["toString", "constructor", "__proto__", "hasOwnProperty"])("I10 sends %s as a name of nothing", (tool) => {
    const history: HistoryMessage[] = [
      user("x"),
      { role: "assistant", text: "", calls: [{ callId: "c", tool, input: {} }] },
    ];
    expect(toPrompt("", history, "anthropic")[1]?.content[0]).toMatchObject({ toolName: `${tool}_` });
  });

  it("sends reasoning only to the provider that signed it", () => {
    const reasoning = {
      provider: "anthropic",
      parts: [{ text: "hm", metadata: { anthropic: { signature: "s" } } }],
      calls: [],
    };
    const history: HistoryMessage[] = [user("x"), { role: "assistant", text: "y", calls: [], reasoning }, user("z")];
    expect(toPrompt("", history, "anthropic")[1]?.content).toEqual([
      { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "s" } } },
      { type: "text", text: "y" },
    ]);
    expect(toPrompt("", history, "openai")[1]?.content).toEqual([{ type: "text", text: "y" }]);
  });
});

const json = fc.jsonValue({ maxDepth: 3 }).map((value): Json => JSON.parse(JSON.stringify(value)));
const anyText = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("", " ", "\ud800", "\u0000"));
const step = fc.record({
  before: fc.array(anyText, { maxLength: 2 }),
  text: anyText,
  calls: fc.array(fc.record({ tool: anyText, input: json, output: json, failed: fc.boolean() }), { maxLength: 4 }),
});

/** Any legal history: call ids unique, every assistant message with calls followed by its results, in any order. */
const legalHistory = fc.array(step, { maxLength: 6 }).chain((steps) =>
  fc
    .tuple(fc.constant(steps), fc.boolean(), fc.constantFrom("call_", "über ", "x".repeat(80)))
    .map(([made, reversed, prefix]) =>
      made.flatMap(({ before, text, calls }, at): HistoryMessage[] => {
        const named = calls.map((call, index) => ({ ...call, callId: `${prefix}${at}_${index}` }));
        const results = named.map(({ callId, tool, failed, output }) => ({ callId, tool, failed, output }));
        return [
          ...before.map(user),
          { role: "assistant", text, calls: named.map(({ callId, tool, input }) => ({ callId, tool, input })) },
          ...(calls.length > 0 ? [{ role: "tool" as const, results: reversed ? results.toReversed() : results }] : []),
        ];
      }),
    ),
);

/** The rule both providers enforce: between two model messages, exactly the results of the first one's calls. */
function unansweredOrForeign(prompt: SdkPrompt): string[] {
  const faults: string[] = [];
  let open = new Set<string>();
  for (const message of prompt) {
    if (message.role === "tool") {
      for (const part of message.content) {
        if (part.type === "tool-result" && !open.delete(part.toolCallId)) faults.push(`foreign ${part.toolCallId}`);
      }
      continue;
    }
    faults.push(...[...open].map((id) => `unanswered ${id}`));
    open = new Set();
    if (message.role !== "assistant") continue;
    for (const part of message.content) {
      if (part.type !== "tool-call") continue;
      if (open.has(part.toolCallId)) faults.push(`repeated ${part.toolCallId}`);
      open.add(part.toolCallId);
    }
  }
  return [...faults, ...[...open].map((id) => `unanswered ${id}`)];
}

describe("I10", () => {
  it("I10 every call of any legal history has exactly one result before the next model message", () => {
    fc.assert(
      fc.property(
        legalHistory,
        fc.constantFrom("anthropic" as const, "openai" as const, "google" as const),
        (history, provider) => {
          const prompt = toPrompt("", history, provider);
          expect(unansweredOrForeign(prompt)).toEqual([]);
          expect(prompt[0]?.role).toBe("user");
          for (const message of prompt) {
            expect(message.content.length).toBeGreaterThan(0);
            for (const part of message.role === "system" ? [] : message.content) {
              if (part.type === "text") expect(part.text.trim()).not.toBe("");
              if (part.type === "tool-call") expect(part.toolCallId).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
              if (part.type === "tool-call") expect(part.toolName).toMatch(/^[a-zA-Z0-9_-]{1,128}$/);
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
