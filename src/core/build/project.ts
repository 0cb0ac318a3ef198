import { existsSync, realpathSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Expression } from "oxc-parser";
import { CountersignError } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import type { ApprovalSettings } from "../domain/manifest.ts";
import { type RefuseApproval, readApprovals } from "./approvals.ts";
import type { Place, Problems } from "./problems.ts";
import { readModule } from "./sourceModule.ts";
import { readStatic } from "./staticValue.ts";

/** project.ts as it is written. */
export interface Project {
  readonly name: string;
  readonly agents: readonly string[];
  readonly optionalTools: readonly string[];
  readonly approvals: ApprovalSettings;
  readonly place: Place;
}

const FILES = ["project.ts", "project.js", "project.mjs"];
const KNOWN = ["name", "agents", "approvals", "optionalTools"];

/**
 * The folder that holds project.ts: `dir` itself, or `opencomputer/` in it. Without symbolic links, since the bundler
 * looks through them and would name the modules by paths that lead out of the project and back.
 */
export function findProject(dir: string): string {
  const root = resolve(dir);
  const found = [root, join(root, "opencomputer")].find((folder) => projectFile(folder) !== undefined);
  if (found !== undefined) return realpathSync(found);
  const why =
    existsSync(root) && statSync(root).isDirectory()
      ? "has no project.ts, and no opencomputer/ with one"
      : "is not a folder";
  throw new CountersignError(
    "project_invalid",
    `${dir}: it ${why} — name a project's folder with --project, or write project.ts and agents/<id>/agent.ts as examples/support has them`,
  );
}

const projectFile = (folder: string): string | undefined => FILES.find((name) => existsSync(join(folder, name)));

/** Reads the default export of project.ts without running it. Null when nothing can be built from it. */
export async function readProject(folder: string, problems: Problems, warnings: string[]): Promise<Project | null> {
  const file = projectFile(folder) ?? "project.ts";
  const module = await readModule(join(folder, file), file, problems);
  if (!module) return null;
  const exported = module.exports.get("default");
  const node = exported?.kind === "expression" ? exported.node : null;
  const variable = exported?.kind === "local" ? module.variables.get(exported.name)?.init : null;
  const value = node ?? variable;
  if (!value) {
    problems.add({ file }, "it has no default export", 'write export default { name: "…", agents: ["…"] }');
    return null;
  }
  const place = module.at(value);
  const read = readStatic(value as Expression, module, () => "an import");
  if (!read.ok || typeof read.value !== "object" || read.value === null || Array.isArray(read.value)) {
    const form = read.ok ? "is not an object" : `holds ${read.form}`;
    problems.add(
      read.ok ? place : module.at(read.node),
      `the default export ${form}`,
      "write it as literals: it is read without running code",
    );
    return null;
  }
  return readFields(read.value as { readonly [key: string]: Json }, place, problems, warnings);
}

function readFields(
  fields: { readonly [key: string]: Json },
  place: Place,
  problems: Problems,
  warnings: string[],
): Project | null {
  const { name, agents, optionalTools = [] } = fields;
  for (const field of Object.keys(fields)) {
    if (!KNOWN.includes(field)) warnings.push(`${place.file}: ${field} is not known here and has no effect`);
  }
  const approvals = readApprovals(fields["approvals"], refuseApproval(place, problems));
  if (typeof name !== "string" || name.trim() === "")
    problems.add(place, "the project has no name", 'write name: "support"');
  if (!isNames(optionalTools))
    problems.add(place, "optionalTools is not a list of ids", 'write optionalTools: ["web-search"]');
  if (!isNames(agents) || agents.length === 0) {
    problems.add(place, "agents is not a list of agents", 'write agents: ["support"], the names of folders in agents/');
    return null;
  }
  for (const id of agents) {
    if (!AGENT_ID.test(id))
      problems.add(
        place,
        `${JSON.stringify(id)} is no agent's name`,
        "use letters, digits, - and _, and after them @alias if you like",
      );
    if (agents.indexOf(id) !== agents.lastIndexOf(id))
      problems.add(place, `agents names "${id}" twice`, "name it once");
  }
  return {
    name: typeof name === "string" ? name : "",
    agents: agents.filter((id) => AGENT_ID.test(id)),
    optionalTools: isNames(optionalTools) ? optionalTools : [],
    approvals,
    place,
  };
}

/** Names what is wrong with `approvals` by its field. */
export const refuseApproval =
  (place: Place, problems: Problems): RefuseApproval =>
  (field, what, instead) =>
    problems.add(place, `${field ? `approvals.${field}` : "approvals"} ${what}`, instead);

const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9_-]*(?:@[A-Za-z0-9][A-Za-z0-9_.-]*)?$/;

const isNames = (value: Json | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every((name) => typeof name === "string");

/** The folder of an agent: its whole name, or what stands before `@alias`. */
export function agentFolder(project: string, id: string): string | null {
  const names = [id, id.split("@")[0] ?? id];
  const found = names.map((name) => join(project, "agents", name)).find((folder) => existsSync(folder));
  return found ?? null;
}

/** The names in `.env.example` and `.env.local`; their values stay where they are. */
export async function environmentNames(project: string): Promise<string[]> {
  const texts = await Promise.all(
    [".env.example", ".env.local"].map((file) => readFile(join(project, file), "utf8").catch(() => "")),
  );
  const names = texts.flatMap((text) =>
    [...text.matchAll(/^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=/gm)].map((match) => match[1] ?? ""),
  );
  return [...new Set(names)].sort();
}
