import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** Files by path relative to the project's folder. */
export type ProjectFiles = Readonly<Record<string, string>>;

/** Writes a project into a folder that goes with the test; returns the folder. */
export async function writeProject(files: ProjectFiles): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-project-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** A project of one agent, `support`, with these files in the agent's folder and `project.ts` as given. */
export function oneAgent(
  files: ProjectFiles = {},
  project = 'export default { name: "p", agents: ["support"] };',
): ProjectFiles {
  const agent = 'export default function Agent() { return "Help."; }\n';
  const inAgent = Object.entries({ "agent.ts": agent, ...files }).map(([path, text]) => [
    `agents/support/${path}`,
    text,
  ]);
  return { "project.ts": project, ...Object.fromEntries(inAgent) };
}

/** A module that declares one tool with these fields, after what else stands at its top. */
export const toolModule = (fields: string, top = ""): string =>
  `import { defineTool } from "@opencomputer/agent";\n${top}\nexport const tool = defineTool({ ${fields} });\n`;

/** The files of a project kept as Markdown: a heading names each, a block of code holds it. */
export async function readFixture(name: string): Promise<ProjectFiles> {
  const text = await readFile(new URL(`../../fixtures/projects/${name}.md`, import.meta.url), "utf8");
  const blocks = text.matchAll(/^## (\S+).*\n\n```ts\n([\s\S]*?)\n```$/gm);
  return Object.fromEntries([...blocks].map(([, path, code]) => [path, `${code}\n`]));
}
