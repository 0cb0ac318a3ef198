import { expect, test } from "vitest";
import { type BuildOptions, buildProject } from "../../../src/core/build/buildProject.ts";
import { oneAgent, writeProject } from "./writeProject.ts";

const agent = (selected: string) =>
  `import { useTool } from "@opencomputer/agent";\nexport default function Agent() {\n  ${selected}\n  return "Help.";\n}\n`;
const build = async (selected: string, options: Partial<BuildOptions> = {}, project?: string) =>
  buildProject({ dir: await writeProject(oneAgent({ "agent.ts": agent(selected) }, project)), ...options });

test("T11 a built-in that this installation offers is recorded without a warning", async () => {
  const { manifest } = await build('useTool("ask"); useTool("sandbox_exec");', {
    availableBuiltins: ["ask", "sandbox_exec"],
  });
  expect(manifest.agents[0]?.builtins).toEqual(["ask", "sandbox_exec"]);
  expect(manifest.warnings).toEqual([]);
});

test("T11 one that it does not offer builds with a warning that names file and line", async () => {
  const { manifest } = await build('useTool("web-search");');
  expect(manifest.agents[0]?.builtins).toEqual(["web-search"]);
  expect(manifest.warnings).toEqual([
    'agents/support/agent.ts:3: "web-search" is not available in this installation and is not offered',
  ]);
});

test("T11 an id that nothing provides fails and names file and line", async () => {
  await expect(build('useTool("consult");')).rejects.toThrow(
    'agents/support/agent.ts:3: useTool("consult") selects a tool that nothing provides — ',
  );
  await expect(build('useTool(Math.random() > 1 ? "ask" : "aks");')).rejects.toThrow('useTool("aks")');
});

test("T11 an id listed under optionalTools builds", async () => {
  const { manifest } = await build(
    'useTool("consult");',
    {},
    'export default { name: "p", agents: ["support"], optionalTools: ["consult"] };',
  );
  expect(manifest.agents[0]?.builtins).toEqual([]);
  expect(manifest.warnings).toEqual([]);
});

test("B4 the deployment is the same whatever the installation offers", async () => {
  const here = await build('useTool("web-search");');
  const there = await build('useTool("web-search");', { availableBuiltins: ["ask", "web-search"] });
  expect(there.manifest.warnings).not.toEqual(here.manifest.warnings);
  expect(there.id).toBe(here.id);
});

test.each([
  "useSubagent",
  "defineMemory",
  "documentMemory",
  "httpMemory",
  "useMemory",
  "defineOutbox",
  "registerOutbox",
  "publishOutbox",
])("%s is importable and fails the build by name", async (name) => {
  const source = `import { ${name} } from "@opencomputer/agent";\nexport default function Agent() {\n  ${name}();\n  return "";\n}\n`;
  const dir = await writeProject(oneAgent({ "agent.ts": source }));
  await expect(buildProject({ dir })).rejects.toThrow(
    `agents/support/agent.ts:1: ${name} is not supported by this version of Countersign`,
  );
});
