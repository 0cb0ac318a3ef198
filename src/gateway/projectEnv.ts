import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";

/** Values of the project's `.env.local`; none where there is no such file. */
export async function readLocalValues(projectFolder: string): Promise<Record<string, string>> {
  try {
    const values = parseEnv(await readFile(join(projectFolder, ".env.local"), "utf8"));
    return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "")) as Record<string, string>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}
