import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { parseEnv } from "node:util";
import { checkoutDir, envFile } from "@perch/testkit/services/layout.ts";
import { whyNoContainers } from "../deploy/image/containers.ts";
import { checkPythonSdk } from "../sdk-python/check.ts";

/** All checks, the same here and in CI. The last line has the totals: a static check counts as one, tests count one each. */

interface Tally {
  readonly passed: number;
  readonly failed: number;
}

interface TestFile {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { status: string }[];
}

const binDir = join(checkoutDir, "node_modules/.bin");
// Tests start many processes of the same code, which need not be compiled each time.
process.env.NODE_COMPILE_CACHE ??= join(checkoutDir, ".services/compile-cache");
// In CI the tools colour their output by default. Biome ignores NO_COLOR and colours every character.
const isPlain = !process.stdout.isTTY;
const environment = {
  ...process.env,
  ...(isPlain ? { NO_COLOR: "1" } : {}),
  PATH: `${binDir}${delimiter}${process.env.PATH}`,
};

/** Runs a command and returns whether its exit code was 0. */
async function succeeds(
  title: string,
  command: string,
  args: string[],
  extraEnv: NodeJS.Dict<string> = {},
): Promise<boolean> {
  console.log(`\n== ${title}`);
  const startedAt = performance.now();
  const succeeded = await new Promise<boolean>((resolve) => {
    const env = { ...environment, ...extraEnv };
    const child = spawn(command, args, { cwd: checkoutDir, env, stdio: ["ignore", "inherit", "inherit"] });
    child.on("error", (error) => {
      console.log(error.message);
      resolve(false);
    });
    child.on("close", (code) => resolve(code === 0));
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`== ${title}: ${succeeded ? "ok" : "FAILED"} in ${seconds} s`);
  return succeeded;
}

async function staticCheck(tool: string, args: string[]): Promise<Tally> {
  const passed = await succeeds([tool, ...args].join(" "), join(binDir, tool), args);
  return passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** Runs tests once. Without a report, vitest itself broke. */
async function runVitest(
  title: string,
  args: string[],
  extraEnv: NodeJS.Dict<string>,
): Promise<{ succeeded: boolean; files: TestFile[] }> {
  const reportDir = mkdtempSync(join(tmpdir(), "perch-verify-"));
  const reportFile = join(reportDir, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
  const succeeded = await succeeds(title, join(binDir, "vitest"), ["run", ...args, ...reporters], extraEnv);
  const files = existsSync(reportFile)
    ? (JSON.parse(readFileSync(reportFile, "utf8")) as { testResults: TestFile[] }).testResults
    : [];
  rmSync(reportDir, { recursive: true });
  return { succeeded, files };
}

/** A check of the whole, for which the same holds as for files of tests: it runs again if it failed, and that is said. */
async function repeatableCheck(title: string, args: string[]): Promise<Tally> {
  const passed =
    (await succeeds(title, process.execPath, args)) ||
    (await succeeds(`${title}, the second time`, process.execPath, args));
  return passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/**
 * Machines that run checks may stand still for seconds, which fails what waits for a time. So files that failed run again, in a
 * new process and alone, up to twice. What passed only then is said: it may also be a race.
 */
async function tests(
  projects: string | readonly string[],
  extraEnv: NodeJS.Dict<string> = {},
  options: string[] = [],
): Promise<Tally> {
  const names = [projects].flat();
  const title = `vitest run --project ${names.join(" and ")}`;
  const projectArgs = names.flatMap((name) => ["--project", name]);
  let { succeeded, files } = await runVitest(title, [...projectArgs, ...options], extraEnv);
  for (const attempt of ["second", "third"]) {
    const failed = files.filter(({ status }) => status === "failed").map(({ name }) => name);
    if (failed.length === 0) break;
    const again = await runVitest(
      `${title}, the ${attempt} time: ${failed.map((file) => relative(checkoutDir, file)).join(", ")}`,
      [...projectArgs, "--maxWorkers=1", ...failed],
      extraEnv,
    );
    const repeated = new Map(again.files.map((file) => [file.name, file]));
    files = files.map((file) => repeated.get(file.name) ?? file);
    succeeded = again.succeeded;
  }
  const tally = count(files);
  if (tally.passed + tally.failed === 0) console.log(`== ${title}: no test ran, which counts as a failure`);
  // Errors outside of any test, and runs without a test, count as a failure.
  const isSilentFailure = tally.failed === 0 && (!succeeded || tally.passed === 0);
  return isSilentFailure ? { ...tally, failed: 1 } : tally;
}

/** A file that failed without a failed test (it did not load, a hook threw) counts as one failure. */
function count(files: readonly TestFile[]): Tally {
  const tally = { passed: 0, failed: 0 };
  for (const { status, assertionResults } of files) {
    const failed = assertionResults.filter((test) => test.status === "failed").length;
    tally.passed += assertionResults.filter((test) => test.status === "passed").length;
    tally.failed += status === "failed" ? Math.max(failed, 1) : failed;
  }
  return tally;
}

/** The suites run PostgreSQL from the folder that `pnpm services up` installs, which needs root on Debian. */
async function chaos(...options: string[]): Promise<Tally> {
  const title = ["pnpm chaos", ...options].join(" ");
  if (process.getuid?.() !== 0) {
    console.log(`\n== ${title}: skipped, because it needs root on Debian; CI runs it`);
    return { passed: 0, failed: 0 };
  }
  return repeatableCheck(title, ["chaos/main.ts", ...options, "--json"]);
}

/** Settings that podman needs on machines with few rights, unless this one has its own. */
function containerSettings(): NodeJS.Dict<string> {
  if (process.env.CONTAINERS_CONF || existsSync("/etc/containers/containers.conf")) return {};
  return { CONTAINERS_CONF: join(checkoutDir, "deploy/compose/containers.conf") };
}

/** Why no container runs here, said once; undefined where they run. */
async function findContainerObstacle(): Promise<string | undefined> {
  Object.assign(environment, containerSettings());
  const obstacle = await whyNoContainers();
  if (obstacle !== undefined) console.log(`\n== containers: skipped, because ${obstacle}; CI runs them`);
  return obstacle;
}

const buildParts = (): Promise<boolean> =>
  succeeds("images of the other parts", process.execPath, ["--no-warnings", "deploy/image/parts.ts"]);

/** Builds the image of the server and examines it, and takes a compose file from an empty directory to the first answer. */
async function* containers(services: NodeJS.Dict<string>, areBuilt: boolean): AsyncGenerator<Tally> {
  yield await tests("image", services);
  if (areBuilt) return yield await repeatableCheck("first answer", ["--no-warnings", "deploy/compose/first-answer.ts"]);
  console.log("\n== first answer: FAILED, because the images of the other parts were not built");
  yield { passed: 0, failed: 1 };
}

/** The rendered examples of the chart, against the schemas of Kubernetes. A download that failed is tried again. */
const checkManifests = (): Promise<Tally> => repeatableCheck("manifests", ["--no-warnings", "deploy/helm/validate.ts"]);

/** From an empty directory to an agent that answers, with the packed packages. */
const quickStart = (): Promise<Tally> => repeatableCheck("quick start", ["--no-warnings", "scripts/quick-start.ts"]);

async function* verify(): AsyncGenerator<Tally> {
  const staticChecks = [
    ["biome", "ci", ".", ...(isPlain ? ["--colors=off"] : [])],
    ["oxlint", "--type-aware", "--deny-warnings"],
    ["tsc", "--noEmit"],
    ["tsc", "--noEmit", "-p", "packages/console"],
  ];
  // Services take a while to install, and what comes first does not need them.
  const servicesUp = succeeds("pnpm services up", process.execPath, ["packages/testkit/src/services/main.ts", "up"]);
  for (const [tool = "", ...args] of staticChecks) {
    const tally = await staticCheck(tool, args);
    yield tally;
    if (tally.failed > 0) return void (await servicesUp);
  }
  // Tests of the server and in a browser use what is built, never what an earlier checkout left behind.
  const isConsoleBuilt = await succeeds("console", process.execPath, [
    "--no-warnings",
    "packages/testkit/src/packaging/build-console.ts",
  ]);
  yield isConsoleBuilt ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
  if (!isConsoleBuilt) return void (await servicesUp);
  yield await tests("fast");
  if (!(await servicesUp)) {
    yield { passed: 0, failed: 1 };
    return;
  }
  const services = parseEnv(readFileSync(envFile, "utf8"));
  // These tests mostly wait, for processes to start and for time to pass, so several files run concurrently even on two cores.
  const twoWorkers = ["--maxWorkers=2"];
  yield await tests("services", services, ["--maxWorkers=3"]);
  const canRunContainers = (await findContainerObstacle()) === undefined;
  // Both wait for about half of their time, the one for processes and the other for downloads.
  const [clients, areBuilt] = await Promise.all([
    tests(["sdk", "cli"], services, twoWorkers),
    canRunContainers && buildParts(),
  ]);
  yield clients;
  yield await quickStart();
  yield* await Promise.all([tests("acceptance", services, twoWorkers), checkPythonSdk(), checkManifests()]);
  yield await tests("console", services, twoWorkers);
  if (canRunContainers) yield* containers(services, areBuilt);
  yield await chaos("--short");
  yield await chaos("--short", "--neighbour");
  yield await chaos("--short", "--upgrade");
  yield await chaos("--short", "--alerts");
  yield await chaos("--short", "--restore");
  yield await chaos("--short", "--approvals");
  yield await chaos("--short", "--connections");
  yield await chaos("--short", "--console");
}

let passed = 0;
let failed = 0;
try {
  for await (const tally of verify()) {
    passed += tally.passed;
    failed += tally.failed;
  }
} catch (error) {
  console.log(error);
  failed += 1;
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
