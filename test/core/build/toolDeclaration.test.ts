import { expect, test } from "vitest";
import { buildProject } from "../../../src/core/build/buildProject.ts";
import { oneAgent, type ProjectFiles, toolModule, writeProject } from "./writeProject.ts";

const build = async (files: ProjectFiles) => buildProject({ dir: await writeProject(files) });
const buildTool = (fields: string, top?: string) => build(oneAgent({ "tools/t.ts": toolModule(fields, top) }));

const RUN = "run: () => null";
const TOOL = `name: "t", description: "Does it.", ${RUN}`;
const RESULT = `${TOOL}, result: true`;
const SCHEMA = '{ type: "object", properties: { pr: { type: "string" } } }';

const refusals: [string, string, string | undefined, string][] = [
  ["T1 no name", `description: "d", ${RUN}`, undefined, "the tool has no name"],
  [
    "T1 a space in the name",
    `name: "a b", description: "d", ${RUN}`,
    undefined,
    'the tool name "a b" has other characters',
  ],
  ["T1 no description", `name: "t", ${RUN}`, undefined, "the tool has no description"],
  ["T1 a blank description", `name: "t", description: "  ", ${RUN}`, undefined, "the tool has no description"],
  ["T1 ask", `name: "ask", description: "d", ${RUN}`, undefined, '"ask" is the id of a built-in tool'],
  [
    "T1 web-search",
    `name: "web-search", description: "d", ${RUN}`,
    undefined,
    '"web-search" is the id of a built-in tool',
  ],
  ["T1 a broken input schema", `${TOOL}, input: { type: "objekt" }`, undefined, "input of t is not a JSON Schema"],
  ["T2 neither", 'name: "t", description: "d"', undefined, "the tool has neither run nor preview and apply"],
  ["T2 all three", `${TOOL}, preview() {}, apply() {}`, undefined, "the tool has run beside preview and apply"],
  ["T2 run and preview", `${TOOL}, preview() {}`, undefined, "the tool has run beside preview"],
  ["T2 run and apply", `${TOOL}, apply() {}`, undefined, "the tool has run beside apply"],
  ["T2 preview alone", 'name: "t", description: "d", preview() {}', undefined, "the tool has preview without apply"],
  ["T2 apply alone", 'name: "t", description: "d", apply() {}', undefined, "the tool has apply without preview"],
  ["B1 a spread", `${TOOL}, ...more`, "const more = {};", "a spread `...more` in defineTool()"],
  ["B1 a computed name", `${TOOL}, [key]: 1`, 'const key = "x";', "a computed property name `key` in defineTool()"],
  ["B1 an accessor", `${TOOL}, get output() { return {}; }`, undefined, "the accessor output in defineTool()"],
  [
    "B1 a computed tool name",
    `name: makeName(), description: "d", ${RUN}`,
    "declare function makeName(): string;",
    "name is a function call `makeName()`",
  ],
  ["B1 result by name", `${TOOL}, result: yes`, "const yes = true;", "result is the name yes"],
  ["B1 result by operator", `${TOOL}, result: !0`, undefined, "result is the expression `!0`"],
  ["B1 result of another kind", `${TOOL}, result: 1`, undefined, "result is `1`"],
  [
    "B2 a function call",
    `${RESULT}, output: make()`,
    "const make = () => ({});",
    "output of a result tool is a function call `make()`",
  ],
  [
    "B2 a let",
    `${RESULT}, output: schema`,
    `let schema = ${SCHEMA};`,
    "output of a result tool is the `let` binding schema",
  ],
  [
    "B2 a spread inside",
    `${RESULT}, output: { ...base }`,
    "const base = {};",
    "output of a result tool is a spread `...base`",
  ],
  [
    "B2 a package import",
    `${RESULT}, output: schema`,
    'import { schema } from "zod";',
    'a package import (schema from "zod")',
  ],
  [
    "B2 a namespace member",
    `${RESULT}, output: s.report`,
    'import * as s from "../schemas";',
    "the namespace member `s.report`",
  ],
  [
    "B2 a re-export",
    `${RESULT}, output: report`,
    'import { report } from "../again";',
    "a re-export of agents/support/again.ts",
  ],
  ["B2 a default import", `${RESULT}, output: report`, 'import report from "../schemas";', "the default import report"],
  [
    "B2 from outside the agent",
    `${RESULT}, output: report`,
    'import { report } from "../../../shared";',
    "an import from outside the agent's folder",
  ],
  ["B2 a destructured const", `${RESULT}, output: a`, "const { a } = { a: {} };", "the destructured binding a"],
  ["B3 no output", RESULT, undefined, "a result tool has no output"],
  [
    "B3 a result that waits",
    `name: "t", description: "d", preview() {}, apply() {}, result: true, output: ${SCHEMA}`,
    undefined,
    "a result tool waits for a person",
  ],
];

test.each(refusals)("%s fails the build with file, line and form", async (_title, fields, top, message) => {
  const files = {
    ...oneAgent({
      "tools/t.ts": toolModule(fields, top),
      "schemas.ts": `export const report = ${SCHEMA};\nexport default report;\n`,
      "again.ts": 'export { report } from "./schemas";\n',
    }),
    "shared.ts": `export const report = ${SCHEMA};\n`,
  };
  await expect(build(files)).rejects.toMatchObject({
    code: "project_invalid",
    message: expect.stringContaining(message),
  });
  await expect(build(files)).rejects.toThrow(/^agents\/support\/[\w/]+\.ts:\d+: .+ — .+/);
});

test.each([
  ["an object literal", SCHEMA, ""],
  ["a const of the module", "schema", `const schema = ${SCHEMA} as const;`],
  ["a const behind satisfies", "schema", `const schema = ${SCHEMA} satisfies object;`],
  ["a named import", "report", 'import { report } from "../schemas";'],
  ["an import under another name", "mine", 'import { report as mine } from "../schemas.js";'],
])("B2 output may be %s", async (_form, output, top) => {
  const files = oneAgent({
    "tools/t.ts": toolModule(`${RESULT}, output: ${output}`, top),
    "schemas.ts": `const report = ${SCHEMA} as const;\nexport { report };\n`,
  });
  const { manifest } = await build(files);
  expect(manifest.agents[0]?.tools[0]?.output).toEqual({ type: "object", properties: { pr: { type: "string" } } });
});

test("B2 input may be constructed when the module loads", async () => {
  const { manifest } = await buildTool(`${TOOL}, input: make()`, 'const make = () => ({ type: "object" });');
  expect(manifest.agents[0]?.tools[0]).toMatchObject({ name: "t", result: false });
});

test("B3 a second result tool names the first", async () => {
  const files = oneAgent({
    "a.ts": toolModule(`name: "a", description: "d", ${RUN}, result: true, output: ${SCHEMA}`),
    "b.ts": toolModule(`name: "b", description: "d", ${RUN}, result: true, output: ${SCHEMA}`),
  });
  await expect(build(files)).rejects.toThrow(
    'agents/support/b.ts:3: "b" is a second result tool — an agent has one; the first is "a" at agents/support/a.ts:3',
  );
});

test("two tools of one name fail, in different agents they do not", async () => {
  const twice = oneAgent({ "a.ts": toolModule(TOOL), "b.ts": toolModule(TOOL) });
  await expect(build(twice)).rejects.toThrow('agents/support/b.ts:3: the tool "t" is declared a second time');
  const { manifest } = await build({
    ...oneAgent({ "a.ts": toolModule(TOOL) }, 'export default { name: "p", agents: ["support", "other"] };'),
    "agents/other/agent.ts": 'export default () => "Help.";',
    "agents/other/a.ts": toolModule(TOOL),
  });
  expect(manifest.agents.map(({ tools }) => tools.length)).toEqual([1, 1]);
});

test("A2 a tool that waits for a person has to be exported, so that it is found after the render", async () => {
  const hidden =
    'import { defineTool } from "@opencomputer/agent";\nconst t = defineTool({ name: "t", description: "d", preview() {}, apply() {} });\nvoid t;\n';
  await expect(build(oneAgent({ "t.ts": hidden }))).rejects.toThrow(
    'the tool "t" waits for a person but is not exported',
  );
  const shown = `${hidden}export { t as another };\n`;
  expect((await build(oneAgent({ "t.ts": shown }))).manifest.agents[0]?.tools[0]?.kind).toBe("approval");
});

test("a tool is found under an alias and through a namespace import", async () => {
  const files = oneAgent({
    "a.ts": `import { defineTool as tool } from "countersign/agent";\nexport const a = tool({ name: "a", description: "d", ${RUN} });\n`,
    "b.ts": `import * as oc from "@opencomputer/agent";\nexport default oc.defineTool({ name: "b", description: "d", ${RUN} });\n`,
    "c.ts": `const defineTool = (tool: object) => tool;\nexport const c = defineTool({ name: "c" });\n`,
  });
  expect((await build(files)).manifest.agents[0]?.tools.map(({ name }) => name)).toEqual(["a", "b"]);
});

test("files named *.test.ts are not modules of the agent", async () => {
  const files = oneAgent({ "tools/t.test.ts": "this is not even TypeScript", "tools/t.ts": toolModule(TOOL) });
  expect((await build(files)).manifest.agents[0]?.tools.map(({ name }) => name)).toEqual(["t"]);
});

test("B4 a tool's digest follows its module and nothing else", async () => {
  const digest = async (files: ProjectFiles) => (await build(files)).manifest.agents[0]?.tools[0]?.digest;
  const files = oneAgent({ "t.ts": toolModule(TOOL) });
  const first = await digest(files);
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(await digest({ ...files, "agents/support/other.ts": "export const x = 1;\n" })).toBe(first);
  expect(await digest(oneAgent({ "t.ts": toolModule(`${TOOL}, input: { type: "object" }`) }))).not.toBe(first);
});
