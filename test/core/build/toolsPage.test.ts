import { expect, test } from "vitest";
import { buildProject } from "../../../src/core/build/buildProject.ts";
import { readFixture, writeProject } from "./writeProject.ts";

test("the tools page's own code builds unchanged", async () => {
  const dir = await writeProject(await readFixture("tools-page"));
  const { manifest } = await buildProject({ dir });
  const agents = Object.fromEntries(manifest.agents.map((agent) => [agent.id, agent]));

  expect(agents["support"]?.tools.map(({ name, kind }) => [name, kind])).toEqual([
    ["import_catalog", "run"],
    ["lookup_order", "run"],
  ]);
  expect(agents["results"]?.tools).toMatchObject([
    {
      name: "check_url",
      result: true,
      output: {
        type: "object",
        properties: { url: { type: "string" }, status: { type: "integer" } },
        required: ["url", "status"],
        additionalProperties: false,
      },
    },
  ]);
  expect(agents["billing"]?.tools).toMatchObject([
    { name: "attach", kind: "approval", declaredAt: "agents/billing/attach.ts:3" },
  ]);
  expect(agents["refunds"]?.tools.map(({ name }) => name)).toEqual(["issue_refund"]);
  expect(agents["sandbox"]?.builtins).toEqual(["sandbox_exec"]);
  expect(agents["asking"]?.builtins).toEqual(["ask"]);
  expect(manifest.warnings).toEqual([
    'agents/sandbox/agent.ts:3: "sandbox_exec" is not available in this installation and is not offered',
  ]);
});
