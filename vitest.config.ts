import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    environment: "node",
    include: ["test/**/*.test.ts"],
    exclude: ["test/redis/**", "test/browser/**", "test/computer/**"],
    globalSetup: ["test/setup.ts"],
    pool: "forks",
    // Two cores, and every file has a database of its own: more workers only make each other slow.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
