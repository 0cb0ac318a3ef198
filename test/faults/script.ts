import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { packageRoot } from "../../src/core/packageRoot.ts";

export interface Script {
  readonly file: string;
  remove(): Promise<void>;
}

/** Bundles a TypeScript file of this repository so that Node runs it as a process; `remove` deletes the bundle. */
export async function bundleScript(entry: string): Promise<Script> {
  // Inside the package, so that it finds its dependencies.
  const folder = await mkdtemp(join(packageRoot(), "node_modules/.countersign-script-"));
  const file = join(folder, "script.mjs");
  await build({
    entryPoints: [join(packageRoot(), entry)],
    outfile: file,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
  });
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}

export const spawnScript = (script: Script, stdio: StdioOptions): ChildProcess =>
  spawn(process.execPath, [script.file], { stdio });
