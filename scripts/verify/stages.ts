/** The stages of `pnpm verify`, as data. The order is the order in which they start. */

export type Tier = "required" | "full";

/** The requirements that are prepared before a stage starts. */
export type Need = "console" | "services" | "bundle" | "containers" | "parts" | "root";

export type Check =
  | {
      readonly tests: readonly string[];
      readonly workers: number;
      /** Only these files. */
      readonly only?: readonly string[];
      /** All files except `longTests`. */
      readonly withoutLong?: true;
      /** Settings that the tests and their processes have besides the usual ones. */
      readonly env?: Readonly<Record<string, string>>;
    }
  | { readonly tool: string; readonly args: readonly string[] }
  /** A program of ours. It counts as one check, or as many as its last line counts. */
  | { readonly script: string; readonly args?: readonly string[] };

export interface Stage {
  readonly name: string;
  readonly tier: Tier;
  /** Paths whose change can change the result. */
  readonly inputs: readonly string[];
  /** The budget, in seconds of processor time of the processes that the stage starts and waits for. */
  readonly cpuSeconds: number;
  /** How many cores the stage uses. Stages run beside each other while there are cores for them. */
  readonly cores: 1 | 2;
  readonly needs: readonly Need[];
  readonly checks: readonly Check[];
  /** Into how many jobs a hosted runner divides it. */
  readonly shards?: number;
}

/** Inputs of every stage. */
export const commonInputs = [
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "**/package.json",
  "tsconfig.json",
  "vitest.config.ts",
  ".ci/**",
  "scripts/verify.ts",
  "scripts/verify/**",
  "packages/contract/**",
  "packages/testkit/**",
];

const server = ["packages/server/**", "packages/console/public/**"];
const clients = ["packages/sdk/**", "packages/cli/**"];
const console = ["packages/console/**", "spec/console/**"];

/**
 * Tests that only the full tier runs: each repeats at another level what the required tier tests, or measures something
 * that seldom changes. The comment names the counterpart in the required tier.
 */
export const longTests = [
  "packages/server/test/loss/releases.test.ts", // worker-rollout and chaos; `--upgrade` in the full tier
  "packages/server/test/loss/migration-kills.test.ts", // migrations run for every test database
  "packages/server/test/loss/tracing-loss.test.ts", // tracing-settings
  "packages/server/test/guarantees/tracing.test.ts", // tracing-settings, and trace headers in the tests of tools
  "packages/server/test/guarantees/start-order.test.ts", // server-process and bundled-roles start every role
  "packages/server/test/loss/last-step.test.ts", // worker-loss and chaos
  "packages/server/test/loss/two-processes.test.ts", // bundled-roles runs `all`, and worker-loss kills workers
  "packages/server/test/loss/webhook-faults.test.ts", // delivery-retries and run-deliveries
  "packages/server/test/loss/engine-task-loss.test.ts", // engine-tasks
  "packages/server/test/hostile/slow-receivers.test.ts", // endpoint-limits; `chaos --neighbour` in the full tier
  "packages/server/test/hostile/waiting-runs.test.ts", // shares; `chaos --neighbour` in the full tier
  "packages/server/test/guarantees/deployment-storm.test.ts", // rollback and the tests of deployments
  "packages/server/test/loss/telemetry-loss.test.ts", // tracing-settings
  "packages/server/test/guarantees/retrieval/retrieval-quality.test.ts", // recall-runs; quality changes with the model only
  "packages/server/src/resources/memory/change-embedder.test.ts", // embedder tests of memory
  "packages/server/test/guarantees/systemd-units.test.ts", // server-process
  "spec/acceptance/docs-page.test.ts", // the contract's examples
  "spec/acceptance/operator-metrics.test.ts", // the alerts' names in the fast project
  "spec/acceptance/restart-of-everything.test.ts", // chaos
  "spec/acceptance/generated-client.test.ts", // openapi.json is compared with the contract, and both SDKs are generated
  "spec/acceptance/prepare-database.test.ts", // run-prepare-database
  "spec/acceptance/connect-accounts-example.test.ts", // connected-runs, and the guides
  "spec/acceptance/remote-agent-examples.test.ts", // remote-runs, and the Python client's example
  "site/documentation-site.test.ts", // documents in the fast project
  "spec/console/perch-dev.test.ts", // the command line's dev.test.ts
  "spec/console/node-killed.test.ts", // interrupted-work
  "spec/console/installation.test.ts", // get-installation, and every-page
  "spec/console/metrics.test.ts", // the tests of metrics, and every-page
  "spec/console/whole-story.test.ts", // first-day, ship and decide
];

/** Where a run of one step differs, with and without the engine's SDK. */
const endsOfRuns = ["packages/server/test/loss/last-step.test.ts", "packages/server/test/loss/worker-loss.test.ts"];

const chaos = (mode: string, cpuSeconds: number, inputs: readonly string[] = []): Stage => ({
  name: mode === "" ? "chaos" : `chaos-${mode}`,
  tier: mode === "" ? "required" : "full",
  inputs: ["chaos/**", "packages/server/**", ...inputs],
  cpuSeconds,
  cores: 2,
  needs: ["services", "bundle", "root"],
  checks: [{ script: "chaos/main.ts", args: ["--short", ...(mode === "" ? [] : [`--${mode}`]), "--json"] }],
});

export const stages: readonly Stage[] = [
  {
    name: "static",
    tier: "required",
    inputs: ["**/*.{ts,tsx,json,css}"],
    cpuSeconds: 100,
    cores: 1,
    needs: [],
    checks: [
      { tool: "biome", args: ["ci", "."] },
      { tool: "oxlint", args: ["--type-aware", "--deny-warnings"] },
      { tool: "tsc", args: ["--noEmit"] },
      { tool: "tsc", args: ["--noEmit", "-p", "packages/console"] },
    ],
  },
  {
    name: "fast",
    tier: "required",
    inputs: ["**"],
    cpuSeconds: 50,
    cores: 1,
    needs: ["console"],
    checks: [{ tests: ["fast"], workers: 2 }],
  },
  {
    name: "services",
    tier: "required",
    inputs: [...server, "scripts/*.ts", "docs/database-rights.md"],
    cpuSeconds: 650,
    cores: 2,
    needs: ["services", "bundle", "console"],
    checks: [{ tests: ["services"], workers: 4, withoutLong: true }],
    shards: 3,
  },
  {
    name: "clients",
    tier: "required",
    inputs: [...server, ...clients, "spec/sdk-cases/**", "spec/sdk-surfaces/**"],
    cpuSeconds: 210,
    cores: 1,
    needs: ["services", "bundle", "console"],
    checks: [{ tests: ["sdk", "cli"], workers: 2 }],
  },
  {
    name: "acceptance",
    tier: "required",
    inputs: [...server, ...clients, "docs/guides/**", "README.md", "examples/**", "spec/**", "deploy/**", "site/**"],
    cpuSeconds: 190,
    cores: 1,
    needs: ["services", "bundle", "console"],
    checks: [{ tests: ["acceptance"], workers: 2, withoutLong: true }],
  },
  {
    name: "console",
    tier: "required",
    inputs: [...server, ...console, "packages/sdk/**"],
    cpuSeconds: 290,
    cores: 1,
    needs: ["services", "bundle", "console"],
    checks: [{ tests: ["console"], workers: 3, withoutLong: true }],
    shards: 2,
  },
  {
    name: "python",
    tier: "required",
    inputs: [...server, "sdk-python/**", "spec/sdk-cases/**"],
    cpuSeconds: 110,
    cores: 1,
    needs: ["services", "bundle"],
    checks: [{ script: "sdk-python/check.ts" }],
  },
  chaos("", 135),
  {
    name: "long-tests",
    tier: "full",
    inputs: [...server, ...console, "site/**", "docs/**", "deploy/alerts/**", "spec/**"],
    cpuSeconds: 560,
    cores: 2,
    needs: ["services", "bundle", "console"],
    checks: [
      { tests: ["services", "acceptance", "console"], workers: 3, only: longTests },
      { tests: ["services"], workers: 2, only: endsOfRuns, env: { PERCH_ONE_STEP_RUNS: "false" } },
    ],
  },
  {
    name: "quick-start",
    tier: "full",
    inputs: ["packages/**", "scripts/quick-start.ts", "scripts/pack-packages.ts", "README.md"],
    cpuSeconds: 95,
    cores: 2,
    needs: ["services"],
    checks: [{ script: "scripts/quick-start.ts" }],
  },
  {
    name: "manifests",
    tier: "full",
    inputs: ["deploy/helm/**"],
    cpuSeconds: 30,
    cores: 1,
    needs: [],
    checks: [{ script: "deploy/helm/validate.ts" }],
  },
  {
    name: "image",
    tier: "full",
    inputs: ["deploy/image/**", "deploy/compose/**", "packages/**"],
    cpuSeconds: 120,
    cores: 2,
    needs: ["services", "containers", "parts"],
    checks: [{ tests: ["image"], workers: 1 }, { script: "deploy/compose/first-answer.ts" }],
  },
  chaos("neighbour", 90),
  chaos("upgrade", 120),
  chaos("alerts", 60, ["deploy/alerts/**", "docs/operations/**"]),
  chaos("restore", 60),
  chaos("approvals", 45),
  chaos("connections", 45),
  chaos("console", 70, ["packages/console/**"]),
];
