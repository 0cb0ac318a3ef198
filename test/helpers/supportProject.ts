import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "../../src/core/packageRoot.ts";

export interface SupportProject {
  /** For `--project`. */
  readonly dir: string;
  /** Replaces a file, named from the `opencomputer` folder. */
  write(file: string, content: string): Promise<void>;
  /** Replaces one piece of a file; throws when it is not there. */
  change(file: string, from: string, to: string): Promise<void>;
}

/** A copy of examples/support in `dir` whose billing server is elsewhere. */
export async function copySupportProject(
  dir: string,
  billing: { readonly origin: string; readonly key: string },
): Promise<SupportProject> {
  const root = join(dir, "opencomputer");
  await cp(join(packageRoot(), "examples/support/opencomputer"), root, { recursive: true });
  const write = (file: string, content: string): Promise<void> => writeFile(join(root, file), content);
  const change = async (file: string, from: string, to: string): Promise<void> => {
    const before = await readFile(join(root, file), "utf8");
    if (!before.includes(from)) throw new Error(`${file} does not hold ${from}`);
    await write(file, before.replace(from, to));
  };
  await change("agents/support/connections/billing.ts", "http://127.0.0.1:4010", billing.origin);
  await write(".env.local", `BILLING_API_KEY=${billing.key}\n`);
  return { dir, write, change };
}
