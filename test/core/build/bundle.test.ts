import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { buildProject } from "../../../src/core/build/buildProject.ts";
import { oneAgent, toolModule, writeProject } from "./writeProject.ts";

const EXAMPLE = fileURLToPath(new URL("../../../examples/support", import.meta.url));

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "countersign-deployment-"));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** Runs a script as an ES module in a plain node with nothing but a PATH; its output as JSON. */
async function inNode(script: string): Promise<unknown> {
  const args = ["--input-type=module", "-e", script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH: process.env["PATH"] } });
  return JSON.parse(stdout);
}

const load = (outDir: string) =>
  `const { default: agent, modules } = await import(${JSON.stringify(`${outDir}/agents/support/agent.js`)});`;

test("B4 the example's bundle loads in plain node, renders, and shows its tools and connection by their marks", async () => {
  const outDir = await folder();
  await buildProject({ dir: EXAMPLE, allowLoopback: true, outDir });
  const seen = await inNode(`${load(outDir)}
    const kind = Symbol.for("countersign.kind");
    const marked = modules.flatMap((module) => Object.values(module)).filter((value) => value?.[kind]);
    const tools = [];
    let model;
    globalThis[Symbol.for("opencomputer.agent-hooks")] = {
      useInput: () => ({ source: "user", text: "hi" }),
      useModel: (name) => { model = name; },
      useTool: (tool) => tools.push(typeof tool === "string" ? tool : tool.id),
    };
    const instructions = agent();
    console.log(JSON.stringify({ marked: marked.map((value) => value[kind] + ":" + value.id), tools, model, instructions: typeof instructions }));`);
  expect(seen).toEqual({
    marked: ["connection:billing", "tool:attach", "tool:lookup_order"],
    tools: ["lookup_order", "attach", "ask"],
    model: "anthropic/claude-sonnet-4.6",
    instructions: "string",
  });
});

test("B4 the same project is the same deployment in another folder", async () => {
  const elsewhere = join(await folder(), "deep/er");
  await cp(EXAMPLE, elsewhere, { recursive: true });
  const here = await buildProject({ dir: EXAMPLE, allowLoopback: true });
  const there = await buildProject({ dir: elsewhere, allowLoopback: true });
  expect(here.id).toMatch(/^dpl_[0-9a-f]{32}$/);
  expect(there).toEqual(here);
  for (const { content } of here.files) expect(Buffer.from(content).toString()).not.toContain(join(EXAMPLE, ".."));
});

test("B4 any change of the code is another deployment", async () => {
  const id = async (text: string) =>
    (await buildProject({ dir: await writeProject(oneAgent({ "agent.ts": `export default () => "${text}";` })) })).id;
  expect(await id("one")).not.toBe(await id("two"));
  expect(await id("one")).toBe(await id("one"));
});

test("the build runs no project code", async () => {
  const dir = await writeProject(
    oneAgent({ "t.ts": toolModule('name: "t", description: "d", run() {}', 'throw new Error("ran");') }),
  );
  await expect(buildProject({ dir })).resolves.toMatchObject({ manifest: { project: "p" } });
});

test("packages are bundled, those that require Node's modules too, beside code that makes its own require", async () => {
  const dir = await writeProject({
    ...oneAgent({
      "agent.ts":
        'import { defineTool } from "@opencomputer/agent";\nimport { createRequire } from "node:module";\nimport old from "old";\nconst require = createRequire(import.meta.url);\nexport default function Agent() { return [old.join("a", "b"), require("node:path").basename("x/y")].join(" "); }\n',
    }),
    "node_modules/old/package.json": '{ "name": "old", "version": "1.0.0", "main": "index.js" }',
    "node_modules/old/index.js": 'const path = require("path"); module.exports = { join: path.join };',
  });
  const outDir = await folder();
  await buildProject({ dir, outDir });
  expect(await inNode(`${load(outDir)} console.log(JSON.stringify(agent()));`)).toBe("a/b y");
});

test("a tool in a module outside the agent's folder is declared and exported as well", async () => {
  const dir = await writeProject({
    ...oneAgent({
      "agent.ts":
        'import { tool } from "../../shared/tool.js";\nimport { useTool } from "@opencomputer/agent";\nexport default function Agent() { useTool(tool); return ""; }\n',
    }),
    "shared/tool.ts": toolModule('name: "shared", description: "d", preview() { return { title: "t" }; }, apply() {}'),
  });
  const outDir = await folder();
  const { manifest } = await buildProject({ dir, outDir });
  expect(manifest.agents[0]?.tools).toMatchObject([{ name: "shared", declaredAt: "shared/tool.ts:3" }]);
  expect(
    await inNode(`${load(outDir)} console.log(JSON.stringify(modules.map((module) => Object.keys(module))));`),
  ).toEqual([["tool"]]);
});

test("a stack names the author's file and line", async () => {
  const dir = await writeProject(
    oneAgent({ "agent.ts": 'export default function Agent(): string {\n  throw new Error("no");\n}\n' }),
  );
  const outDir = await folder();
  await buildProject({ dir, outDir });
  const stack = await inNode(
    `process.setSourceMapsEnabled(true); ${load(outDir)} try { agent(); } catch (error) { console.log(JSON.stringify(error.stack)); }`,
  );
  expect(stack).toContain("agents/support/agent.ts:2:");
});
