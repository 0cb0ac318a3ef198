import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The folder of this package: the nearest one above this module whose package.json is named `countersign`. The same
 * answer from `src` and from the bundles in `dist`, at whatever depth they lie.
 */
export function packageRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).name === "countersign") return folder;
    if (folder === dirname(folder)) throw new Error("The package countersign is not installed whole: no package.json.");
  }
}
