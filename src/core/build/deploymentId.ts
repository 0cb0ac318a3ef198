import { digest } from "../digest.ts";
import type { DeploymentFile, Manifest } from "../domain/manifest.ts";

/** JSON with the keys of every object in order, so that equal values have equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, nested: unknown) =>
    typeof nested === "object" && nested !== null && !Array.isArray(nested)
      ? Object.fromEntries(Object.entries(nested).sort(([a], [b]) => (a < b ? -1 : 1)))
      : nested,
  );
}

/**
 * The id of a deployment: the digest of what would run (B4). Warnings stay out, because they tell of the installation
 * that built it (which built-ins it offers), and the same project is the same deployment everywhere. It is computed again
 * from what was kept before any of it runs: computing it otherwise would orphan every deployment there is.
 */
export function deploymentId({ warnings: _, ...manifest }: Manifest, files: readonly DeploymentFile[]): string {
  const contents = files.map(({ path, content }) => ({ path, content: Buffer.from(content).toString("base64") }));
  const sorted = contents.sort((a, b) => (a.path < b.path ? -1 : 1));
  return `dpl_${digest(canonicalJson({ manifest, files: sorted })).slice(0, 32)}`;
}
