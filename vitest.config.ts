import { delimiter, join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { longTests } from "./scripts/verify/stages.ts";

const fast = [
  "packages/contract/**/*.test.ts",
  "packages/console/**/*.test.ts",
  "packages/testkit/src/packaging/**/*.test.ts",
  "bench/**/*.test.ts",
  "chaos/**/*.test.ts",
  "deploy/image/dockerfile.test.ts",
  "deploy/compose/**/*.test.ts",
  "deploy/helm/**/*.test.ts",
  "packages/server/src/api/console-routes.test.ts",
  "packages/server/src/operator/commands/usage.test.ts",
  "packages/server/src/config/**/*.test.ts",
  "packages/server/src/outbound/**/!(local-embedder|embedder-weights).test.ts", // those need the embedder's weights
  "packages/server/src/platform/**/*.test.ts",
  "packages/server/src/fairness/**/*.test.ts",
  "packages/server/src/compose/{dependency-watch,run-sweeps}.test.ts",
  "packages/server/src/**/*-rules.test.ts",
  "packages/server/src/**/*-token.test.ts",
  "packages/server/src/cache/epoch-cache.test.ts",
  "packages/server/src/limits/rates.test.ts",
  "packages/server/src/resources/webhooks/endpoint-limits.test.ts",
  "packages/server/test/guarantees/architecture.test.ts",
  "packages/server/test/guarantees/retrieval/retrieval-set.test.ts",
  "scripts/**/!(generated-files).test.ts", // that one needs a database
  "spec/audit-operations.test.ts",
  "spec/connection-attacks.test.ts",
  "spec/decisions.test.ts",
  "spec/documents.test.ts",
  "spec/requirements.test.ts",
  "spec/sdk-surfaces.test.ts",
];

/** A condition that a test waits for may take this long on a busy machine; a test that passes does not wait for it. */
const patientPoll = { expect: { poll: { timeout: 20_000 } } };

/** The required tier of `pnpm verify` sets this. */
const leftOut = ["**/node_modules/**", ...(process.env.TEST_WITHOUT_LONG ? longTests : [])];

/** Files that take a minute and more. Vitest starts large files first, and these are small. */
const slowFiles = [
  "spec/console/every-page.test.ts",
  "spec/console/overlays.test.ts",
  "spec/console/every-operation.test.ts",
  "spec/acceptance/guides.test.ts",
  "packages/cli/test/dev.test.ts",
];

class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) => slowFiles.some((name) => moduleId.endsWith(name));
    const sorted = await super.sort(files);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

const withServices = {
  exclude: [...fast, ...leftOut],
  globalSetup: "packages/server/test/support/template-database.ts",
  testTimeout: 90_000,
  hookTimeout: 60_000,
  ...patientPoll,
};

/**
 * No module of ours keeps state, so a test worker imports it once for all of its files (`isolate: false`).
 * fast needs nothing but python3; services, sdk and cli need `pnpm services up`; acceptance runs the server as its own process, from outside;
 * console opens the console in a real browser, on a server that it starts once for all files;
 * image builds the container image and runs it, where containers can be run.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: SlowFilesFirst },
    projects: [
      { test: { name: "fast", include: fast, isolate: false, testTimeout: 20_000, ...patientPoll } },
      {
        test: {
          name: "services",
          include: ["packages/server/**/*.test.ts", "scripts/generated-files.test.ts"],
          ...withServices,
          isolate: false,
        },
      },
      { test: { name: "sdk", include: ["packages/sdk/**/*.test.ts"], ...withServices, isolate: false } },
      {
        test: {
          name: "cli",
          include: ["packages/cli/test/**/*.test.ts"],
          ...withServices,
          env: {
            PATH: [join(import.meta.dirname, "packages/cli/test/bin"), process.env.PATH].join(delimiter),
            npm_command: "",
          },
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: "acceptance",
          include: [
            "spec/acceptance/**/*.test.ts",
            "site/**/*.test.ts",
            "packages/testkit/src/installation/**/*.test.ts",
          ],
          exclude: leftOut,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          ...patientPoll,
        },
      },
      {
        test: {
          name: "console",
          include: ["spec/console/**/*.test.ts"],
          exclude: leftOut,
          globalSetup: "spec/console/console-setup.ts",
          testTimeout: 120_000,
          hookTimeout: 120_000,
          ...patientPoll,
        },
      },
      {
        test: {
          name: "image",
          include: ["deploy/image/image.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 120_000,
          ...patientPoll,
        },
      },
    ],
  },
});
