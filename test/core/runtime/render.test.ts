import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isCode } from "../../../src/core/domain/errors.ts";
import type { AgentInput } from "../../../src/core/domain/input.ts";
import type { Json } from "../../../src/core/domain/json.ts";
import type { RuntimeHost } from "../../../src/core/runtime/host.ts";
import { recordingLog } from "../../helpers/log.ts";
import { type Bundle, bundle, createHarness, fixture, type Harness, invocation, withLease } from "./harness.ts";

const HOOKS = 'const hooks = globalThis[Symbol.for("opencomputer.agent-hooks")];';
const TOOL = 'const tool = (t) => Object.defineProperty(t, Symbol.for("countersign.kind"), { value: "tool" });';

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness();
});
afterAll(() => harness.close());

describe("a render", () => {
  let host: RuntimeHost;
  beforeAll(async () => {
    host = harness.host({ agent: await fixture("support") });
  });

  const render = (input: AgentInput, sessionData: Record<string, Json> = {}) =>
    withLease(host, "ses_render", (runtime) => runtime.render({ input, sessionData }));

  test("T10 selects tools, built-ins and the model, in the order of their selection", async () => {
    expect(await render({ source: "user", text: "refunds" }, { verified: true })).toEqual({
      instructions: "Help with refunds.",
      model: "anthropic/claude-sonnet-4.6",
      tools: [
        { kind: "builtin", id: "ask" },
        {
          kind: "approval",
          name: "attach",
          description: "Move a customer onto a plan",
          input: { type: "object" },
          verifies: true,
        },
        {
          kind: "run",
          name: "lookup_order",
          description: "Look up an order",
          input: { type: "object", properties: { orderId: { type: "string" } } },
          verifies: false,
        },
      ],
    });
  });

  test("T10 is made anew at every step", async () => {
    const names = async (data: Record<string, Json>) =>
      (await render({ source: "user" }, data)).tools.map((tool) => (tool.kind === "builtin" ? tool.id : tool.name));
    expect(await names({ verified: true })).toContain("attach");
    expect(await names({ verified: false })).not.toContain("attach");
  });

  test("its input is frozen at every depth", async () => {
    await expect(render({ source: "user", payload: { mutate: {} } })).rejects.toSatisfy((error) =>
      reasonOf(error).includes("object is not extensible"),
    );
  });
});

describe("a render that fails", () => {
  const cases: [string, string, string][] = [
    ["an exception", "export default () => { throw new Error('no such plan') };", "no such plan"],
    ["a promise", "export default async () => 'later';", "must be synchronous"],
    ["no text", "export default () => 42;", "must return its instructions as a string"],
    ["an exit", "export default () => process.exit(3);", "exited with code"],
    ["useSubagent", `${HOOKS} export default () => hooks.useSubagent("x");`, "useSubagent is not offered"],
    [
      "something that is no tool",
      `${HOOKS} export default () => hooks.useTool({ name: "x", run() {} });`,
      "useTool takes what defineTool returns",
    ],
    [
      "two tools of one name",
      `${HOOKS} ${TOOL} const make = () => tool({ name: "twin", description: "d", run() {} });
       export default () => { hooks.useTool(make()); hooks.useTool(make()); return ""; };`,
      'Two tools named "twin"',
    ],
    [
      "an input schema that is not JSON",
      `${HOOKS} ${TOOL} const t = tool({ name: "odd", description: "d", input: { type: undefined }, run() {} });
       export default () => { hooks.useTool(t); return ""; };`,
      "tool odd is not JSON, at $.type",
    ],
  ];

  test.each(cases)("by %s has the stable code and a reason for its author", async (_, source, reason) => {
    const log = recordingLog();
    const error = await failureOf(bundle(source), log);
    expect(isCode(error, "agent_render_failed")).toBe(true);
    expect(reasonOf(error)).toContain(reason);
    expect(log.lines.find(({ level }) => level === "warn")?.message).toBe("agent did not render");
  });

  test("by blocking is ended at its timeout, and the lease goes on with another child", async () => {
    const source = `${HOOKS} export default () => { while (hooks.useInput().text === "block"); return "fine"; };`;
    const host = harness.host({ agent: bundle(source) }, { renderTimeoutMs: 300 });
    await withLease(host, "ses_block", async (runtime) => {
      await expect(runtime.render({ input: { source: "user", text: "block" }, sessionData: {} })).rejects.toMatchObject(
        {
          code: "agent_render_failed",
        },
      );
      expect((await runtime.render({ input: { source: "user" }, sessionData: {} })).instructions).toBe("fine");
    });
  });

  test("hooks outside a render throw", async () => {
    const source = `${HOOKS} ${TOOL} const t = tool({ name: "late", description: "d", run: () => hooks.useInput() });
      export const modules = [{ t }]; export default () => "";`;
    const host = harness.host({ agent: bundle(source, [{ name: "late", kind: "run" }]) });
    const result = await withLease(host, "ses_late", (runtime) => runtime.invoke(invocation("late")));
    expect(result).toMatchObject({ kind: "threw", message: expect.stringContaining("outside a render") });
  });
});

describe("a bundle that does not load", () => {
  const cases: [string, Bundle, string][] = [
    ["throws", bundle("throw new Error('no configuration');"), "no configuration"],
    ["is not JavaScript", bundle("export default ("), "Unexpected end of input"],
    ["has no agent function", bundle("export const modules = [];"), "no default export that is a function"],
    ["exits", bundle("process.exit(1);"), "exited with code"],
    [
      "names what is missing without paths of this machine",
      bundle("import './absent.js';"),
      "Cannot find module 'absent.js'",
    ],
    [
      "B4 declares a tool that the manifest has not",
      bundle(
        `${TOOL} const t = tool({ name: "extra", description: "d", run() {} }); export const modules = [{ t }]; export default () => "";`,
      ),
      'The tool "extra" is not in the deployment\'s manifest',
    ],
    [
      "B4 runs at once what the manifest calls an approval",
      bundle(
        `${TOOL} const t = tool({ name: "pay", description: "d", run() {} }); export const modules = [{ t }]; export default () => "";`,
        [{ name: "pay", kind: "approval" }],
      ),
      'The tool "pay" is not the approval tool of the manifest',
    ],
  ];

  test.each(cases)("%s", async (_, broken, reason) => {
    const error = await failureOf(broken);
    expect(isCode(error, "agent_load_failed")).toBe(true);
    expect(reasonOf(error)).toContain(reason);
    expect(reasonOf(error)).not.toContain(harness.data);
  });

  test("never finishes", async () => {
    const endless = bundle("await new Promise((resolve) => setTimeout(resolve, 1e6)); export default () => '';");
    const error = await failureOf(endless, recordingLog(), 1_000);
    expect(isCode(error, "agent_load_failed")).toBe(true);
    expect(reasonOf(error)).toContain("did not finish loading");
  });

  test("an agent that the deployment has not is a load that failed", async () => {
    const host = harness.host({ agent: bundle("export default () => '';") });
    await expect(withLease(host, "ses_1", async () => {}, "stranger")).rejects.toMatchObject({
      code: "agent_load_failed",
    });
  });
});

async function failureOf(broken: Bundle, log = recordingLog(), loadTimeoutMs = 10_000): Promise<unknown> {
  const host = harness.host({ agent: broken }, { log, loadTimeoutMs });
  return withLease(host, "ses_broken", (runtime) =>
    runtime.render({ input: { source: "user" }, sessionData: {} }),
  ).then(
    () => null,
    (error: unknown) => error,
  );
}

const reasonOf = (error: unknown): string =>
  error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
