import { afterEach, expect, test, vi } from "vitest";
import * as authoring from "../../../src/core/authoring/index.ts";

const HOST = Symbol.for("opencomputer.agent-hooks");
const setHost = (host: object): void => void Object.assign(globalThis, { [HOST]: host });

afterEach(() => {
  delete (globalThis as Record<symbol, unknown>)[HOST];
});

const tool = authoring.defineTool({ name: "t", description: "d", run: () => null });
const connection = authoring.defineConnection({ id: "c", origin: "https://c.example" });
const server = authoring.defineMcpServer({ id: "m", url: "https://m.example/mcp", connection });

const calls: [string, () => unknown][] = [
  ["useInput", () => authoring.useInput()],
  ["useModel", () => authoring.useModel("anthropic/claude-sonnet-4.6")],
  ["useTool", () => authoring.useTool(tool)],
  ["useConnection", () => authoring.useConnection(connection)],
  ["useService", () => authoring.useService("github")],
  ["useMcpServer", () => authoring.useMcpServer(server)],
  ["useSessionData", () => authoring.useSessionData("key")],
];

test.each(calls)("%s outside a render throws one sentence that names it", (name, call) => {
  expect(call).toThrow(new RegExp(`^${name} was called outside a render; `));
});

test.each(calls)("%s says when the host of a test does not provide it", (name, call) => {
  setHost({});
  expect(call).toThrow(`${name} is not provided by what renders this agent.`);
});

test("hooks hand the host what the author gave them", () => {
  const host = {
    input: { source: "user", text: "hi" },
    useInput() {
      return this.input;
    },
    useModel: vi.fn(),
    useTool: vi.fn(),
    useConnection: vi.fn(),
    useService: vi.fn(),
    useMcpServer: vi.fn(),
    useSessionData: vi.fn(() => 7),
  };
  setHost(host);
  expect(authoring.useInput()).toBe(host.input);
  expect(authoring.useCurrentInput()).toBe(host.input);
  expect(authoring.useSessionData<number>("key")).toBe(7);
  for (const [, call] of calls) call();
  authoring.useTool("ask");
  expect(host.useTool.mock.calls).toEqual([[tool], ["ask"]]);
  expect(host.useModel).toHaveBeenCalledWith("anthropic/claude-sonnet-4.6");
  expect(host.useConnection).toHaveBeenCalledWith(connection);
  expect(host.useService).toHaveBeenCalledWith("github");
  expect(host.useMcpServer).toHaveBeenCalledWith(server);
});

test("useModel and useTool refuse what they cannot select", () => {
  setHost({ useModel: vi.fn(), useTool: vi.fn() });
  expect(() => authoring.useModel("claude")).toThrow("write provider/model");
  expect(() => authoring.useTool("")).toThrow("useTool takes what defineTool returns");
  expect(() => authoring.useTool({ name: "t" } as unknown as authoring.ToolDefinition)).toThrow(
    "useTool takes what defineTool returns",
  );
});

test("the API has every name of the contract", () => {
  const values =
    "defineTool defineConnection githubApp defineMcpServer defineSchedule useInput useCurrentInput useModel useTool useConnection useMcpServer useService useSecret secretHeader bearer callService listServices connection useSessionData NotApplied defineChannel registerChannel";
  const unsupported =
    "useSubagent defineMemory documentMemory httpMemory useMemory defineOutbox registerOutbox publishOutbox".split(" ");
  expect(Object.keys(authoring)).toEqual(expect.arrayContaining([...values.split(" "), ...unsupported]));
  for (const name of unsupported) {
    const call = (authoring as unknown as Record<string, () => void>)[name];
    expect(call, name).toThrow(`${name} is not supported by this version of Countersign`);
  }
});
