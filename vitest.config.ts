import { defineConfig } from "vitest/config";

const fast = [
  "packages/contract/**/*.test.ts",
  "chaos/**/*.test.ts",
  "packages/server/src/models/**/*.test.ts",
  "packages/server/src/platform/**/*.test.ts",
  "packages/server/src/tools/**/*.test.ts",
  "packages/server/src/**/*-rules.test.ts",
  "packages/server/src/**/*-token.test.ts",
  "packages/server/src/config.test.ts",
  "packages/server/src/gate/epoch-cache.test.ts",
  "packages/server/src/gate/rates.test.ts",
  "packages/server/test/architecture.test.ts",
  "spec/requirements.test.ts",
];

/** fast needs nothing; services needs `pnpm services up`; acceptance runs the server as its own process, from outside. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: "fast", include: fast } },
      {
        test: {
          name: "services",
          include: ["packages/server/**/*.test.ts"],
          exclude: [...fast, "**/node_modules/**"],
          globalSetup: "packages/server/test/template-database.ts",
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: "acceptance",
          include: ["spec/acceptance/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
