import { expect, test, vi } from "vitest";
import {
  defineTool,
  NotApplied,
  type ToolExecutionContext,
  type ToolInput,
} from "../../../src/core/authoring/index.ts";
import { RESERVED_TOOL_IDS } from "../../../src/core/authoring/toolShape.ts";

const RUN = { name: "t", description: "Does it.", run: () => null };
const APPROVAL = { name: "t", description: "Does it.", preview: () => ({ title: "t" }), apply: () => null };

/** What JavaScript callers can pass, whatever the types say. */
const define = (tool: object) => () => defineTool(tool as ToolInput);

const context = (): ToolExecutionContext => ({
  input: { a: 1 },
  sessionId: "ses_1",
  messageId: "msg_1",
  toolCallId: "call_1",
  agentId: "support",
  reportProgress: async () => {},
});

test("T1 a definition is frozen data with the tool's name as its id", () => {
  const tool = defineTool({ ...RUN, input: { type: "object" }, output: { type: "null" } });
  expect(tool).toMatchObject({ kind: "tool", version: 1, id: "t", name: "t", description: "Does it.", result: false });
  expect(Object.isFrozen(tool)).toBe(true);
  expect((tool as unknown as Record<symbol, unknown>)[Symbol.for("countersign.kind")]).toBe("tool");
  expect(Object.getOwnPropertySymbols({ ...tool })).toEqual([]);
});

test.each([
  ["no name", { ...RUN, name: undefined }, "the tool has no name"],
  [
    "a space in the name",
    { ...RUN, name: "look up" },
    'the tool name "look up" has other characters than letters, digits, _ and -',
  ],
  ["an endless name", { ...RUN, name: "a".repeat(65) }, "is longer than 64 characters"],
  ["no description", { ...RUN, description: undefined }, "the tool has no description"],
  ["a blank description", { ...RUN, description: " \n" }, "the tool has no description"],
  ["an array as input", { ...RUN, input: [] }, "input is not a JSON Schema object"],
  ["text as output", { ...RUN, output: "string" }, "output is not a JSON Schema object"],
])("T1 refuses %s", (_title, tool, message) => {
  expect(define(tool)).toThrow(message);
});

test.each(RESERVED_TOOL_IDS)("T1 refuses the built-in id %s", (name) => {
  expect(define({ ...RUN, name })).toThrow(`defineTool "${name}": "${name}" is the id of a built-in tool`);
});

const wrongShapes: [string, object, string][] = [
  ["nothing at all", { name: "t", description: "d" }, "the tool has neither run nor preview and apply"],
  ["all three", { ...RUN, ...APPROVAL }, "the tool has run beside preview and apply"],
  ["run and preview", { ...RUN, preview: APPROVAL.preview }, "the tool has run beside preview;"],
  ["run and apply", { ...RUN, apply: APPROVAL.apply }, "the tool has run beside apply;"],
  ["preview alone", { ...APPROVAL, apply: undefined }, "the tool has preview without apply"],
  ["apply alone", { ...APPROVAL, preview: undefined }, "the tool has apply without preview"],
  ["verify beside run", { ...RUN, verify: () => ({ applied: true }) }, "the tool has verify without apply"],
  ["run that is no function", { ...RUN, run: "now" }, "run is not a function"],
  ["apply that is no function", { ...APPROVAL, apply: {} }, "apply is not a function"],
];

test.each(wrongShapes)("T2 refuses %s", (_title, tool, message) => {
  expect(define(tool)).toThrow(message);
});

test("T2 each wrong shape has a message of its own", () => {
  expect(new Set(wrongShapes.map(([, , message]) => message)).size).toBe(wrongShapes.length);
});

test.each([
  ["result without output", { ...RUN, result: true }, "a result tool has no output"],
  ["a result that waits for a person", { ...APPROVAL, result: true, output: {} }, "a result tool waits for a person"],
  ["result as text", { ...RUN, result: "true", output: {} }, "result is neither true nor false"],
])("T6 refuses %s", (_title, tool, message) => {
  expect(define(tool)).toThrow(message);
});

test("T2 the run written for an approval tool says that its call is recorded for approval", () => {
  const tool = defineTool(APPROVAL);
  expect(() => tool.run(context())).toThrow("t waits for a person: the gateway records its call for approval");
  expect(tool.preview).toBeTypeOf("function");
  expect(tool.apply).toBeTypeOf("function");
  expect(tool.verify).toBeUndefined();
});

test("T3 run gets the caller's context, and a signal where the caller brings none", async () => {
  const run = vi.fn(async ({ input, signal }: { input: unknown; signal: AbortSignal }) => ({
    input,
    aborted: signal.aborted,
  }));
  const tool = defineTool({ ...RUN, run });
  expect(await tool.run(context())).toEqual({ input: { a: 1 }, aborted: false });
  const aborted = { ...context(), signal: AbortSignal.abort() };
  expect(await tool.run(aborted)).toEqual({ input: { a: 1 }, aborted: true });
  expect(run.mock.lastCall?.[0]).toMatchObject({
    sessionId: "ses_1",
    toolCallId: "call_1",
    agentId: "support",
    messageId: "msg_1",
  });
});

test("a tool's functions keep the object they were written on", () => {
  const tool = defineTool({
    ...RUN,
    run() {
      return this.name;
    },
  });
  expect(tool.run(context())).toBe("t");
});

test("A5 NotApplied is an error that the runtime knows across bundles", () => {
  const cause = new Error("full");
  const error = new NotApplied("The quota is used up", { cause });
  expect(error).toMatchObject({ name: "NotApplied", message: "The quota is used up", cause });
  expect((error as unknown as Record<symbol, unknown>)[Symbol.for("countersign.kind")]).toBe("not-applied");
});
