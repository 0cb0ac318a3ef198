import { rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildProject } from "../../../src/core/build/buildProject.ts";
import { DEFAULT_APPROVALS, ruleOf } from "../../../src/core/domain/manifest.ts";
import { oneAgent, toolModule, writeProject } from "./writeProject.ts";

const build = async (project: string, files = {}) =>
  buildProject({ dir: await writeProject(oneAgent(files, project)) });
const withApprovals = (approvals: string) =>
  build(`export default { name: "p", agents: ["support"], approvals: ${approvals} };`, {
    "attach.ts": toolModule('name: "attach", description: "d", preview() {}, apply() {}'),
    "look.ts": toolModule('name: "look", description: "d", run() {}'),
  });

test("the project is found in the folder itself and in its opencomputer/", async () => {
  const inner = await writeProject(oneAgent());
  const outer = await writeProject({ "README.md": "Not the project itself." });
  const first = await buildProject({ dir: inner });
  await rename(inner, join(outer, "opencomputer"));
  expect((await buildProject({ dir: outer })).id).toBe(first.id);
});

test("project.ts may be a const, and may say satisfies", async () => {
  const { manifest } = await build(
    'import type { ProjectDefinition } from "@opencomputer/agent";\nconst agents = ["support"];\nconst project = { name: "p", agents } satisfies ProjectDefinition;\nexport default project;\n',
  );
  expect(manifest).toMatchObject({ version: 1, project: "p", approvals: DEFAULT_APPROVALS, warnings: [] });
});

test.each([
  ["no default export", "export const project = {};", "project.ts: it has no default export"],
  ["a syntax error", "export default {", "project.ts:1: it cannot be parsed"],
  [
    "a computed project",
    "export default makeIt();",
    "project.ts:1: the default export holds a function call `makeIt()`",
  ],
  ["no name", 'export default { agents: ["support"] };', "project.ts:1: the project has no name"],
  ["no agents", 'export default { name: "p" };', "project.ts:1: agents is not a list of agents"],
  ["a path as an agent", 'export default { name: "p", agents: ["../x"] };', '"../x" is no agent\'s name'],
  [
    "a missing agent",
    'export default { name: "p", agents: ["nobody"] };',
    'the agent "nobody" has no folder agents/nobody',
  ],
])("%s fails the build", async (_title, project, message) => {
  await expect(build(project)).rejects.toMatchObject({
    code: "project_invalid",
    message: expect.stringContaining(message),
  });
});

test.each([
  ["an agent.ts that exports nothing", { "agent.ts": "" }, "agents/support/agent.ts: it has no default export"],
  [
    "an async agent",
    { "agent.ts": "export default async function Agent() { return ''; }" },
    "agents/support/agent.ts:1: the agent function is async",
  ],
  [
    "an agent that is no function",
    { "agent.ts": "export default { instructions: '' };" },
    "the default export is not a function",
  ],
  ["unparsable code", { "tools/x.ts": "export const x = ;" }, "agents/support/tools/x.ts:1: it cannot be parsed"],
  [
    "a missing import",
    { "agent.ts": "import './nowhere';\nexport default () => '';" },
    "agents/support/agent.ts:1: it cannot be bundled",
  ],
  [
    "a name the API does not have",
    { "agent.ts": 'import { useTols } from "@opencomputer/agent";\nexport default () => useTols();' },
    "agents/support/agent.ts:1: it cannot be bundled",
  ],
])("%s fails the build", async (_title, files, message) => {
  await expect(build('export default { name: "p", agents: ["support"] };', files)).rejects.toThrow(message);
});

test("a folder without agent.ts fails the build, and so does a folder without a project", async () => {
  const dir = await writeProject({
    "project.ts": 'export default { name: "p", agents: ["support"] };',
    "agents/support/notes.ts": "",
  });
  await expect(buildProject({ dir })).rejects.toThrow("agents/support: it has no agent.ts — ");
  await expect(buildProject({ dir: `${dir}/agents` })).rejects.toThrow(
    "it has no project.ts, and no opencomputer/ with one — ",
  );
  await expect(buildProject({ dir: `${dir}/nowhere` })).rejects.toThrow("it is not a folder — ");
});

test("everything wrong with a project is told at once", async () => {
  const failure = withApprovals('{ expiresAfter: "soon", applyTimeout: 0, tools: { attachh: {} } }');
  const lines = await failure.then(
    () => [],
    (error: Error) => error.message.split("\n"),
  );
  expect(lines).toEqual([
    expect.stringContaining('approvals.expiresAfter "soon" is no duration'),
    expect.stringContaining("approvals.applyTimeout 0 is no duration"),
    expect.stringContaining('approvals.tools names "attachh", which is no tool with preview and apply'),
  ]);
});

test("approvals are read with their defaults, and per tool from the project's own", async () => {
  const { manifest } = await withApprovals(
    `{ deciders: { slack: { users: ["U1"], usergroups: ["S1"] }, linear: { users: ["u-1"] } }, requesterMayDecide: false,
       expiresAfter: "7d", channel: "slack:C1",
       tools: { attach: { applyTimeout: 1500, deciders: "requester", requesterMayDecide: true } } }`,
  );
  const rule = { requesterMayDecide: false, expiresAfterMs: 604_800_000 };
  expect(manifest.approvals).toEqual({
    ...rule,
    deciders: { slack: { users: ["U1"], usergroups: ["S1"] }, linear: { users: ["u-1"] } },
    applyTimeoutMs: 60_000,
    channel: "slack:C1",
    tools: { attach: { ...rule, deciders: "requester", requesterMayDecide: true, applyTimeoutMs: 1500 } },
  });
});

test.each([
  ["a channel without deciders", '{ channel: "slack:C1" }', "approvals.channel is given without deciders"],
  ["another channel", '{ channel: "#general", deciders: "requester" }', 'approvals.channel "#general" is no channel'],
  ["deciders that name nobody", "{ deciders: { slack: {} } }", "approvals.deciders names nobody"],
  ["another platform", '{ deciders: { teams: { users: ["x"] } } }', "approvals.deciders names teams"],
  ["an unknown field", '{ expires: "1h" }', "approvals.expires is not known"],
  ["a rule for a run tool", "{ tools: { look: {} } }", 'approvals.tools names "look"'],
  [
    "a bad duration",
    '{ tools: { attach: { applyTimeout: "60 seconds" } } }',
    'approvals.tools.attach.applyTimeout "60 seconds" is no duration',
  ],
])("%s fails the build", async (_title, approvals, message) => {
  await expect(withApprovals(approvals)).rejects.toThrow(message);
});

test.each([
  [
    "a handle for a group",
    '{ deciders: { slack: { usergroups: ["@finance"] } } }',
    'approvals.deciders.slack.usergroups names "@finance", which is no id — write the id at the end of the address',
  ],
  [
    "a name for a person, in a tool's own rule",
    '{ tools: { attach: { deciders: { slack: { users: ["U1", "ada"] } } } } }',
    'approvals.tools.attach.deciders.slack.users names "ada", which is no id — write the member id',
  ],
  ["a mention", '{ deciders: { slack: { users: ["<@U1>"] } } }', 'names "<@U1>", which is no id'],
  [
    "a tool that no agent declares, with those there are",
    "{ tools: { atach: {} } }",
    'project.ts:1: approvals.tools names "atach", which is no tool with preview and apply — write attach, or take it out',
  ],
  [
    "the requester alone, who may not",
    "{ requesterMayDecide: false }",
    "project.ts:1: approvals.requesterMayDecide is false where deciders names the requester alone, so that nobody could ever decide — name other people in approvals.deciders, or write true",
  ],
  [
    "the same of a tool alone",
    '{ deciders: { slack: { users: ["U1"] } }, requesterMayDecide: false, tools: { attach: { deciders: "requester" } } }',
    "approvals.tools.attach.requesterMayDecide is false where deciders names the requester alone, so that nobody could ever decide — name other people in approvals.tools.attach.deciders, or write true",
  ],
])("A7 %s fails the build", async (_title, approvals, message) => {
  await expect(withApprovals(approvals)).rejects.toThrow(message);
});

test("A7 the project's own rule may leave nobody where every tool that waits has one of its own", async () => {
  const { manifest } = await withApprovals(
    '{ requesterMayDecide: false, tools: { attach: { deciders: { slack: { users: ["W1", "T2/U2"] } } } } }',
  );
  expect(manifest.approvals.tools["attach"]).toMatchObject({ deciders: { slack: { users: ["W1", "T2/U2"] } } });
});

test("A7 a tool called like a property of every object has a rule, too", async () => {
  const files = { "c.ts": toolModule('name: "constructor", description: "d", preview() {}, apply() {}') };
  const { manifest } = await build('export default { name: "p", agents: ["support"] };', files);
  expect(ruleOf(manifest.approvals, "constructor")).toMatchObject({ deciders: "requester", requesterMayDecide: true });
});

test("names of .env files that useSecret does not use are runtime variables", async () => {
  const { manifest } = await buildProject({
    dir: await writeProject({
      ...oneAgent({
        "c.ts":
          'import { bearer, defineConnection, useSecret } from "@opencomputer/agent";\nexport const c = defineConnection({ id: "c", origin: "https://c.example", headers: { authorization: bearer(useSecret("C_KEY")) } });',
      }),
      ".env.example": "# names\nC_KEY=\nREGION=eu\n",
      ".env.local": "export LOCALE = de\nREGION=us\n",
    }),
  });
  expect(manifest.variables).toEqual(["LOCALE", "REGION"]);
  expect(JSON.stringify(manifest)).not.toContain("us");
});

test("an agent may be named id@alias, and lives in the folder of its id", async () => {
  const { manifest, files } = await build('export default { name: "p", agents: ["support@blue"] };');
  expect(manifest.agents).toMatchObject([{ id: "support@blue", module: "agents/support@blue/agent.js" }]);
  expect(files.map(({ path }) => path)).toEqual(["agents/support@blue/agent.js", "agents/support@blue/agent.js.map"]);
});

test("an agent that project.ts does not list is warned of", async () => {
  const dir = await writeProject({ ...oneAgent(), "agents/draft/agent.ts": "export default () => '';" });
  expect((await buildProject({ dir })).manifest.warnings).toEqual([
    "agents/draft: project.ts does not list it, so it is not deployed",
  ]);
});
