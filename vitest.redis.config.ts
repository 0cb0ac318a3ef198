import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    environment: "node",
    include: ["test/redis/**/*.test.ts"],
    globalSetup: ["test/redis/setup.ts", "test/setup.ts"],
    pool: "forks",
    maxWorkers: 1,
    // The end-to-end tests start five processes; one of them waits for a lease to run out.
    testTimeout: 240_000,
    hookTimeout: 60_000,
  },
});
