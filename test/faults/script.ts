import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { packageRoot } from "../../src/core/packageRoot.ts";

export interface Script {
  readonly file: string;
  remove(): Promise<void>;
}

/**
 * Bundles a TypeScript file of this repository so that Node runs it as a process; `remove` deletes the bundle. With its
 * packages inside it starts in half the time (0.30 s of CPU instead of 0.55 s, of which Node itself takes 0.10 s).
 */
export async function bundleScript(entry: string): Promise<Script> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-script-"));
  const file = join(folder, "script.cjs");
  await build({
    entryPoints: [join(packageRoot(), entry)],
    outfile: file,
    bundle: true,
    platform: "node",
    // Packages that call `require` cannot stand in an ES module.
    format: "cjs",
    minify: true,
    external: ["pg-native"],
    define: { "import.meta.url": "moduleUrl" },
    banner: { js: 'const moduleUrl = require("node:url").pathToFileURL(__filename).href;' },
    target: "node20",
    logLevel: "error",
  });
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}

export const spawnScript = (script: Script, stdio: StdioOptions): ChildProcess =>
  spawn(process.execPath, [script.file], { stdio });
