import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../src/core/packageRoot.ts";

describe("the npm package", () => {
  const packed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: packageRoot(),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const files = (JSON.parse(packed) as { files: { path: string }[] }[])[0]?.files.map(({ path }) => path) ?? [];

  it.each([
    "dist/gateway/cli.js",
    "dist/core/runtime/child/main.js",
    "dist/core/authoring/index.js",
    "src/core/authoring/index.ts",
    "src/core/db/migrations/0001_initial.sql",
    "examples/support/opencomputer/project.ts",
    "examples/support/opencomputer/.env.example",
    "manifests/slack.json",
    "LICENSE",
  ])("holds %s, which an installed countersign reads or its user looks for", (file) => {
    expect(files).toContain(file);
  });

  it("holds no test, no bench, no source that its bundles hold, and nobody's local values", () => {
    const others = files.filter((file) =>
      /^(test|bench|dist\/bench|src\/(?!core\/(authoring|db)\/))|\.env\.local$/.test(file),
    );
    expect(others).toEqual([]);
  });
});
