import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CountersignError } from "../../../src/core/domain/errors.ts";
import type { HistoryMessage } from "../../../src/core/domain/history.ts";
import { createModel, type ModelConfig } from "../../../src/core/model/model.ts";
import type { ModelRequest } from "../../../src/core/ports.ts";
import { type FakeModelServer, startFakeModelServer } from "../../helpers/fakeModelServer.ts";

let server: FakeModelServer;
const logged: string[] = [];
const note = (fields: object, message: string) => void logged.push(JSON.stringify({ fields, message }));
const log = { debug: note, info: note, warn: note, error: note };

beforeAll(async () => {
  server = await startFakeModelServer();
});
beforeEach(() => {
  logged.length = 0;
});
afterAll(() => server.close());

const seen = () => server.requests.length;
const lastBody = () => server.requests.at(-1)?.body ?? {};

function model(config: Partial<ModelConfig> = {}) {
  const provider = { apiKey: "sk-test-key", baseUrl: server.baseUrl };
  return createModel({ providers: { anthropic: provider, openai: provider }, log, retryPauseMs: 1, ...config });
}

const request = (over: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "anthropic/claude-sonnet-4.6",
  instructions: "Be brief.",
  history: [{ role: "user", text: "Hello" }],
  tools: [
    { name: "lookup", description: "Looks up.", input: { type: "object", properties: { id: { type: "string" } } } },
  ],
  signal: new AbortController().signal,
  ...over,
});

const failure = async (step: Promise<unknown>): Promise<CountersignError> => {
  const error = await step.then(
    () => new Error("it did not fail"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CountersignError);
  return error as CountersignError;
};

const BOTH = ["anthropic/claude-sonnet-4.6", "openai/gpt-5"];

describe("a step", () => {
  it.each(BOTH)("returns text, calls and usage of %s", async (name) => {
    server.script([{ text: "Looking.", calls: [{ id: "p1", name: "lookup", input: { id: "7" } }] }]);
    expect(await model().step(request({ model: name }))).toEqual({
      text: "Looking.",
      calls: [{ providerCallId: "p1", tool: "lookup", input: { id: "7" } }],
      usage: { inputTokens: 11, outputTokens: 7 },
      model: name,
    });
  });

  it("spells Anthropic's versions with dashes and leaves the others' as they are", async () => {
    server.script([{ text: "ok" }]);
    await model().step(request({ model: "anthropic/claude-sonnet-4.6" }));
    expect(lastBody()["model"]).toBe("claude-sonnet-4-6");
    await model().step(request({ model: "openai/gpt-5.1" }));
    expect(lastBody()["model"]).toBe("gpt-5.1");
  });

  it("takes the configured default, else the first configured provider's, when the agent names none", async () => {
    server.script([{ text: "ok" }]);
    const provider = { apiKey: "k", baseUrl: server.baseUrl };
    expect((await model().step(request({ model: null }))).model).toBe("anthropic/claude-sonnet-4.6");
    expect((await model({ providers: { openai: provider } }).step(request({ model: null }))).model).toBe(
      "openai/gpt-5",
    );
    expect((await model({ defaultModel: "openai/gpt-4.1" }).step(request({ model: null }))).model).toBe(
      "openai/gpt-4.1",
    );
  });

  it("T3 a model that repeats a call id still has each call's own arguments", async () => {
    server.script([
      {
        calls: [
          { id: "same", name: "lookup", input: { id: "1" } },
          { id: "same", name: "lookup", input: { id: "2" } },
        ],
      },
    ]);
    const { calls } = await model().step(request());
    expect(calls.map((call) => call.input)).toEqual([{ id: "1" }, { id: "2" }]);
  });

  it("arguments that are not JSON surface as malformed, and their history is accepted afterwards", async () => {
    server.script([{ calls: [{ name: "lookup", rawArguments: '{"id": "7' }] }, { text: "Sorry." }]);
    const { calls } = await model().step(request({ model: "openai/gpt-5" }));
    expect(calls[0]).toMatchObject({
      tool: "lookup",
      input: '{"id": "7',
      malformed: expect.stringContaining("not JSON"),
    });
    const history: HistoryMessage[] = [
      { role: "user", text: "Hello" },
      { role: "assistant", text: "", calls: [{ callId: "call_1", tool: "lookup", input: calls[0]?.input ?? null }] },
      {
        role: "tool",
        results: [{ callId: "call_1", tool: "lookup", failed: true, output: "The arguments are not JSON." }],
      },
    ];
    for (const name of BOTH) expect((await model().step(request({ model: name, history }))).text).toBe("Sorry.");
  });

  it("a call of a tool that was not offered is returned, not refused", async () => {
    server.script([{ calls: [{ name: "constructor", input: { a: 1 } }] }]);
    expect((await model().step(request({ tools: [] }))).calls).toMatchObject([
      { tool: "constructor", input: { a: 1 } },
    ]);
  });

  it("T4 arguments are kept as sent: not coerced, not defaulted, unknown ones not dropped", async () => {
    server.script([{ calls: [{ name: "lookup", input: { id: 7, more: null } }] }]);
    for (const name of BOTH)
      expect((await model().step(request({ model: name }))).calls[0]?.input).toEqual({ id: 7, more: null });
  });

  it.each(BOTH)("signed reasoning of %s comes back to it with the next step", async (name) => {
    server.script([
      { thinking: "The user wants 7.", calls: [{ name: "lookup", input: { id: "7" } }] },
      { text: "Done." },
    ]);
    const first = await model().step(request({ model: name }));
    const stored = JSON.parse(JSON.stringify(first.reasoning));
    const history: HistoryMessage[] = [
      { role: "user", text: "Hello" },
      {
        role: "assistant",
        text: first.text,
        calls: [{ callId: "call_1", tool: "lookup", input: { id: "7" } }],
        reasoning: stored,
      },
      { role: "tool", results: [{ callId: "call_1", tool: "lookup", failed: false, output: { found: true } }] },
    ];
    expect((await model().step(request({ model: name, history }))).text).toBe("Done.");
    expect(JSON.stringify(lastBody())).toContain("The user wants 7.");
    const other = BOTH.find((candidate) => candidate !== name) ?? name;
    expect((await model().step(request({ model: other, history }))).text).toBe("Done.");
    expect(JSON.stringify(lastBody())).not.toContain("The user wants 7.");
  });

  it("gives every schema what the providers demand of one", async () => {
    server.script([{ text: "ok" }]);
    const tools = [{ name: "bare", description: "No arguments.", input: {} }];
    for (const name of BOTH) await model().step(request({ model: name, tools }));
  });

  it("I10 the strict servers accept whatever legal history comes", async () => {
    server.script([{ text: "ok" }]);
    const text = fc.oneof(fc.string({ unit: "binary", maxLength: 8 }), fc.constantFrom("", "\ud800", "\u0000"));
    const turn = fc.record({
      user: text,
      said: text,
      calls: fc.array(fc.record({ tool: text, input: text }), { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 4 }), fc.constantFrom(...BOTH), async (turns, name) => {
        const history = turns.flatMap(({ user, said, calls }, at): HistoryMessage[] => {
          const named = calls.map((call, index) => ({ ...call, callId: `call_${at}_${index}` }));
          const results = named.map(({ callId, tool, input }) => ({
            callId,
            tool,
            failed: input === "",
            output: { input },
          }));
          return [
            { role: "user", text: user },
            { role: "assistant", text: said, calls: named },
            ...(calls.length > 0 ? [{ role: "tool" as const, results }] : []),
          ];
        });
        await model().step(request({ model: name, history: [...history, { role: "user", text: "And now?" }] }));
      }),
      { numRuns: 60 },
    );
  });
});

describe("a step that fails", () => {
  const cases = [
    ["rate_limited", "model_rate_limited", 3],
    ["overloaded", "model_unavailable", 3],
    ["error", "model_unavailable", 3],
    ["reset", "model_unavailable", 3],
    ["truncated", "model_unavailable", 3],
    ["garbage", "model_unavailable", 3],
    ["unauthorized", "model_refused", 1],
    ["not_found", "model_refused", 1],
    ["out_of_credit", "model_refused", 1],
  ] as const;

  describe.each(BOTH)("%s", (name) => {
    it.each(cases)("%s is %s after %i tries", async (fault, code, tries) => {
      server.script([{ fault }]);
      const before = seen();
      const error = await failure(model().step(request({ model: name })));
      expect(error.code).toBe(code);
      expect(seen() - before).toBe(tries);
    });

    it("recovers from a hiccup", async () => {
      server.script([{ fault: "overloaded" }, { fault: "reset" }, { text: "Here." }]);
      expect((await model().step(request({ model: name }))).text).toBe("Here.");
    });
  });

  it("waits as long as retry-after says, and not at all beyond 20 s", async () => {
    server.script([{ fault: "rate_limited", retryAfter: 0.05 }, { text: "ok" }]);
    const started = performance.now();
    await model().step(request());
    expect(performance.now() - started).toBeGreaterThanOrEqual(49);
    server.script([{ fault: "rate_limited", retryAfter: 21 }]);
    const before = seen();
    expect((await failure(model().step(request()))).code).toBe("model_rate_limited");
    expect(seen() - before).toBe(1);
  });

  it("names the variable to set for a provider without a key, and the providers for an unknown one", async () => {
    const missing = await failure(model().step(request({ model: "google/gemini-2.5-pro" })));
    expect([missing.code, missing.message]).toEqual([
      "model_refused",
      expect.stringContaining("GOOGLE_GENERATIVE_AI_API_KEY"),
    ]);
    for (const name of ["mistral/large", "claude", "anthropic/", ""]) {
      const unknown = await failure(model().step(request({ model: name })));
      expect([unknown.code, unknown.message]).toEqual(["model_refused", expect.stringContaining("ANTHROPIC_API_KEY")]);
    }
  });

  it("a refused key is named by its variable, an unknown model by its name", async () => {
    server.script([{ fault: "unauthorized" }]);
    expect((await failure(model().step(request()))).message).toContain("ANTHROPIC_API_KEY");
    server.script([{ fault: "not_found" }]);
    expect((await failure(model().step(request()))).message).toContain("claude-sonnet-4.6");
  });

  it("is unavailable when the provider never answers, without a second try", async () => {
    server.script([{ fault: "hang" }]);
    const before = seen();
    expect((await failure(model({ timeoutMs: 50 }).step(request()))).code).toBe("model_unavailable");
    expect(seen() - before).toBe(1);
  });

  it("is unavailable when nobody listens", async () => {
    const closed = await startFakeModelServer();
    await closed.close();
    const providers = { anthropic: { apiKey: "k", baseUrl: closed.baseUrl } };
    expect((await failure(model({ providers }).step(request()))).code).toBe("model_unavailable");
  });

  it("S4 an interrupt ends the call, and the pause before a retry, with the signal's reason", async () => {
    const reason = new Error("interrupted");
    const during = new AbortController();
    server.script(() => {
      during.abort(reason);
      return { fault: "hang" };
    });
    await expect(model().step(request({ signal: during.signal }))).rejects.toBe(reason);

    const paused = new AbortController();
    server.script([{ fault: "rate_limited", retryAfter: 20 }]);
    const pausing = { ...log, warn: () => setImmediate(() => paused.abort(reason)) };
    await expect(model({ log: pausing }).step(request({ signal: paused.signal }))).rejects.toBe(reason);

    const before = seen();
    await expect(model().step(request({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    expect(seen()).toBe(before);
  });

  it("S7 neither the conversation nor the key is in the error or the log", async () => {
    server.script([{ fault: "error" }]);
    const history = [{ role: "user" as const, text: "my-private-words" }];
    const error = await failure(model().step(request({ history })));
    const shown = [
      error.message,
      error.stack,
      JSON.stringify(error),
      String(error.cause),
      JSON.stringify(error.cause),
      ...logged,
    ].join();
    expect(logged).toHaveLength(3);
    expect(shown).toContain("500");
    expect(shown).toContain("req_fake");
    expect(shown).not.toMatch(/my-private-words|sk-test-key/);
  });
});

describe("no key at all", () => {
  it("the scripted demo model answers and says that it is one, whatever model the agent names", async () => {
    const step = await createModel({ providers: {}, log }).step(request());
    expect(step.model).toBe("demo/scripted");
    expect(step.text).toMatch(/^\[demo model\] .*ANTHROPIC_API_KEY/);
  });
});
