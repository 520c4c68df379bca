import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { checkoutDir } from "@perch/testkit/services/layout.ts";
import type { Check } from "./stages.ts";

/** The result of a check. A static check counts as one, tests count one each. */
export interface Result {
  readonly passed: number;
  readonly failed: number;
  readonly cpuSeconds: number;
  /** Files and programs that passed only when they were repeated. */
  readonly repeated: readonly string[];
}

interface TestFile {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { status: string }[];
}

interface Ended {
  readonly succeeded: boolean;
  readonly cpuSeconds: number;
  readonly lastLine: string;
}

const binDir = join(checkoutDir, "node_modules/.bin");
// In CI the tools colour their output by default. Biome ignores NO_COLOR.
const isPlain = !process.stdout.isTTY;

/** Settings of every check. `environment` grows while a run prepares the requirements of stages. */
export const environment: NodeJS.Dict<string> = {
  ...process.env,
  ...(isPlain ? { NO_COLOR: "1" } : {}),
  // Tests start many processes of the same code, which need not be compiled each time.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(checkoutDir, ".services/compile-cache"),
  PATH: `${binDir}${delimiter}${process.env.PATH}`,
};

/** The shell's `times`, for the processes that the command started and waited for. */
function cpuSecondsOf(file: string): number {
  const [, children = ""] = readFileSync(file, "utf8").split("\n");
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + 60 * Number(m) + Number(s), 0);
}

/** Runs a command, shows its output, and measures its processor time. */
export async function run(
  title: string,
  command: string,
  args: readonly string[],
  settings: NodeJS.Dict<string> = {},
): Promise<Ended> {
  console.log(`\n== ${title}`);
  const startedAt = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "perch-verify-"));
  const timesFile = join(folder, "times");
  const script = `"$@"; code=$?; times > '${timesFile}'; exit $code`;
  let output = "";
  const succeeded = await new Promise<boolean>((resolve) => {
    const child = spawn("bash", ["-c", script, "bash", command, ...args], {
      cwd: checkoutDir,
      env: { ...environment, ...settings },
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.stdout.on("data", (text: Buffer) => {
      process.stdout.write(text);
      // A line may come in two pieces.
      output = (output + text.toString("utf8")).slice(-1000);
    });
    child.on("error", (error) => {
      console.log(error.message);
      resolve(false);
    });
    child.on("close", (code) => resolve(code === 0));
  });
  const cpuSeconds = existsSync(timesFile) ? cpuSecondsOf(timesFile) : 0;
  rmSync(folder, { recursive: true });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`== ${title}: ${succeeded ? "ok" : "FAILED"} in ${seconds} s, ${cpuSeconds.toFixed(0)} CPU s`);
  return { succeeded, cpuSeconds, lastLine: output.trimEnd().split("\n").at(-1) ?? "" };
}

async function runTool(tool: string, args: readonly string[]): Promise<Result> {
  const colourless = tool === "biome" && isPlain ? ["--colors=off"] : [];
  const { succeeded, cpuSeconds } = await run([tool, ...args].join(" "), join(binDir, tool), [...args, ...colourless]);
  return { passed: succeeded ? 1 : 0, failed: succeeded ? 0 : 1, cpuSeconds, repeated: [] };
}

const counts = (line: string) => /^(\d+) passed, (\d+) failed$/.exec(line)?.slice(1).map(Number);

async function runScript(script: string, args: readonly string[]): Promise<Result> {
  const title = [script, ...args].join(" ");
  const once = async (name: string) => {
    const ended = await run(name, process.execPath, ["--no-warnings", script, ...args]);
    const isSuccess = ended.succeeded ? 1 : 0;
    const [passed = isSuccess, failed = 0] = counts(ended.lastLine) ?? [];
    return { ...ended, passed, failed: ended.succeeded ? failed : Math.max(failed, 1) };
  };
  const first = await once(title);
  if (first.failed === 0) return { ...first, repeated: [] };
  const second = await once(`${title}, the second time`);
  const cpuSeconds = first.cpuSeconds + second.cpuSeconds;
  return { ...second, cpuSeconds, repeated: second.failed === 0 ? [title] : [] };
}

/** A file that failed without a failed test (it did not load, a hook threw) counts as one failure. */
function countTests(files: readonly TestFile[]) {
  const tally = { passed: 0, failed: 0 };
  for (const { status, assertionResults } of files) {
    const failed = assertionResults.filter((test) => test.status === "failed").length;
    tally.passed += assertionResults.filter((test) => test.status === "passed").length;
    tally.failed += status === "failed" ? Math.max(failed, 1) : failed;
  }
  return tally;
}

let vitestRuns = 0;

/** Runs tests once. Without a report, vitest itself broke. */
async function runVitest(title: string, args: readonly string[], settings: NodeJS.Dict<string>) {
  const folder = mkdtempSync(join(tmpdir(), "perch-verify-"));
  const report = join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const own = { ...settings, TEST_PORT_GROUP: String(vitestRuns++) };
  const ended = await run(title, join(binDir, "vitest"), ["run", ...args, ...reporters], own);
  const files = existsSync(report)
    ? (JSON.parse(readFileSync(report, "utf8")) as { testResults: TestFile[] }).testResults
    : [];
  rmSync(folder, { recursive: true });
  return { ...ended, files };
}

/**
 * Files that failed run once more, by themselves in a new process, because machines that run checks may stand still for
 * seconds. A test that passes only then is defective, and the last lines name it.
 */
async function runTests(
  check: Extract<Check, { tests: readonly string[] }>,
  settings: NodeJS.Dict<string>,
  shard: string | undefined,
): Promise<Result> {
  const title = `vitest run --project ${check.tests.join(" and ")}`;
  const projects = check.tests.flatMap((name) => ["--project", name]);
  const options = [`--maxWorkers=${check.workers}`, ...(shard === undefined ? [] : [`--shard=${shard}`])];
  const own = { ...settings, ...check.env };
  const withoutLong = check.withoutLong && { TEST_WITHOUT_LONG: "1" };
  const first = await runVitest(title, [...projects, ...options, ...(check.only ?? [])], { ...own, ...withoutLong });
  const failed = first.files.filter(({ status }) => status === "failed").map(({ name }) => name);
  const names = failed.map((file) => relative(checkoutDir, file));
  if (failed.length === 0) {
    const tally = countTests(first.files);
    if (tally.passed === 0) console.log(`== ${title}: no test ran, which counts as a failure`);
    // So do errors outside of any test.
    const isSilentFailure = !first.succeeded || tally.passed === 0;
    return { ...tally, failed: isSilentFailure ? 1 : 0, cpuSeconds: first.cpuSeconds, repeated: [] };
  }
  const args = [...projects, "--maxWorkers=1", ...failed];
  const second = await runVitest(`${title}, the second time: ${names.join(", ")}`, args, own);
  const repeats = new Map(second.files.map((file) => [file.name, file]));
  const files = first.files.map((file) => repeats.get(file.name) ?? file);
  const isMended = (name: string) => repeats.get(name)?.status === "passed";
  return {
    ...countTests(files),
    cpuSeconds: first.cpuSeconds + second.cpuSeconds,
    repeated: failed.filter(isMended).map((file) => relative(checkoutDir, file)),
  };
}

/** `settings` are those of the services, which only tests get. */
export function runCheck(check: Check, settings: NodeJS.Dict<string>, shard?: string): Promise<Result> {
  if ("tests" in check) return runTests(check, settings, shard);
  if ("tool" in check) return runTool(check.tool, check.args);
  return runScript(check.script, check.args ?? []);
}
