import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { packageRoot } from "../../src/core/packageRoot.ts";

export interface Script {
  readonly child: ChildProcess;
  readonly firstLine: string;
}

/** Runs a TypeScript file as a process of its own, bundled as our build does it; resolves at its first line of output. */
export async function runScript(file: string, ...args: readonly string[]): Promise<Script> {
  // Inside the package, so that it finds its dependencies.
  const folder = await mkdtemp(join(packageRoot(), "node_modules/.countersign-script-"));
  try {
    const outfile = join(folder, "script.mjs");
    await build({
      entryPoints: [join(packageRoot(), file)],
      outfile,
      bundle: true,
      packages: "external",
      platform: "node",
      format: "esm",
      logLevel: "error",
    });
    const child = spawn(process.execPath, [outfile, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`${file} ended with ${code} before it said anything.`);
    });
    const [firstLine] = await Promise.race([once(createInterface(child.stdout), "line"), ended]);
    ended.catch(() => {});
    return { child, firstLine };
  } finally {
    await rm(folder, { recursive: true });
  }
}
