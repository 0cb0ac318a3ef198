import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    environment: "node",
    include: ["test/redis/**/*.test.ts"],
    globalSetup: ["test/redis/setup.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
