import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { readCpuTimes } from "@perch/testkit/installation/cpu-time.ts";
import { hasInput, listChanges, testsBeside } from "./verify/changes.ts";
import { findBadTitles } from "./verify/commit-titles.ts";
import { createPreparation, NotHere, serviceSettings } from "./verify/prepare.ts";
import { environment, type Result, runCheck } from "./verify/run-check.ts";
import { type Stage, stages } from "./verify/stages.ts";

/**
 * All checks, the same here and in CI:
 *
 *   pnpm verify                             the required tier, which a change must pass before it lands
 *   pnpm verify --full                      everything, at night and before a release
 *   pnpm verify --quick [--since REF]       while working: static checks, fast tests, and tests beside what changed
 *   pnpm verify --stage NAME [--shard I/N]  one stage, or a part of it, for hosted runners
 *   pnpm verify --plan [--full]             the stages and shards of a tier as JSON
 *
 * With `--since REF`, titles of the commits after it are checked, and the end names stages that were not run although
 * their inputs changed since then.
 * The last line has the totals: a static check counts as one, tests count one each.
 */

const { values: options } = parseArgs({
  options: {
    full: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    plan: { type: "boolean", default: false },
    since: { type: "string" },
    stage: { type: "string" },
    shard: { type: "string" },
  },
});

function quickStages(): Stage[] {
  const tests = testsBeside(listChanges(options.since ?? "HEAD"));
  console.log(`Tests beside the changes since ${options.since ?? "HEAD"}: ${tests.join(", ") || "none"}`);
  const chosen = stages.filter(({ name }) => name === "static" || name === "fast");
  if (tests.length === 0) return chosen;
  const projects = ["services", "sdk", "cli", "acceptance", "console"];
  const beside: Stage = {
    ...{ name: "beside", tier: "required", inputs: [], cpuSeconds: Number.POSITIVE_INFINITY, cores: 2 },
    needs: ["services", "bundle", "console"],
    checks: [{ tests: projects, workers: 3, only: tests }],
  };
  return [...chosen, beside];
}

function chooseStages(): readonly Stage[] {
  if (options.quick) return quickStages();
  if (options.stage === undefined) return stages.filter(({ tier }) => options.full || tier === "required");
  const found = stages.filter(({ name }) => name === options.stage);
  if (found.length === 0)
    throw new Error(`No stage ${options.stage}. Stages: ${stages.map(({ name }) => name).join(", ")}`);
  return found;
}

interface StageResult extends Result {
  readonly stage: Stage;
  readonly seconds: number;
}

// Some tests do more in the full tier, which also starts the server from its sources, as it is published.
environment.TEST_TIER = options.full ? "full" : "required";
const prepare = createPreparation(options.full ? ["bundle"] : []);

async function runStage(stage: Stage): Promise<StageResult> {
  const startedAt = performance.now();
  const total = { passed: 0, failed: 0, cpuSeconds: 0, repeated: [] as string[] };
  try {
    await prepare(stage.needs);
    const settings = stage.needs.includes("services") ? serviceSettings() : {};
    for (const check of stage.checks) {
      const { passed, failed, cpuSeconds, repeated } = await runCheck(check, settings, options.shard);
      total.passed += passed;
      total.failed += failed;
      total.cpuSeconds += cpuSeconds;
      total.repeated.push(...repeated);
      // Checks that follow a failed static check would only fail more slowly.
      if (failed > 0 && "tool" in check) break;
    }
  } catch (error) {
    if (error instanceof NotHere) console.log(`\n== ${stage.name}: skipped, because ${error.message}; CI runs it`);
    else {
      console.log(error);
      total.failed += 1;
    }
  }
  return { stage, seconds: (performance.now() - startedAt) / 1000, ...total };
}

/** Starts stages in their order, beside each other while there are cores for them. */
async function runStages(chosen: readonly Stage[]): Promise<StageResult[]> {
  let free = Math.max(2, availableParallelism());
  let isBroken = false;
  const results: StageResult[] = [];
  const running = new Set<Promise<void>>();
  const start = (stage: Stage) => {
    free -= stage.cores;
    const ended = runStage(stage).then((result) => {
      free += stage.cores;
      isBroken ||= stage.name === "static" && result.failed > 0;
      results.push(result);
      running.delete(ended);
    });
    running.add(ended);
  };
  // Services take a while to install, and the first stages do not need them. The stage that needs them reports a failure.
  if (chosen.some(({ needs }) => needs.includes("services"))) void prepare(["services"]).catch(() => undefined);
  for (const stage of chosen) {
    while (free < stage.cores) await Promise.race(running);
    if (isBroken) break;
    start(stage);
  }
  await Promise.all(running);
  return results;
}

/** Processor time of the whole machine, with daemons and with children that nothing waits for. */
const machineSeconds = (): number => readCpuTimes({}).busyMs / 1000;

/** Returns how many stages needed more than 110 % of their budget. */
function printStages(results: readonly StageResult[]): number {
  let over = 0;
  console.log("\nstage            s   CPU s  of budget");
  for (const { stage, seconds, cpuSeconds } of results) {
    const share = cpuSeconds / stage.cpuSeconds;
    if (share > 1.1) over += 1;
    const columns = [seconds.toFixed(0).padStart(5), cpuSeconds.toFixed(0).padStart(7)];
    console.log(`${stage.name.padEnd(16)}${columns.join("")}${`${(100 * share).toFixed(0)} %`.padStart(9)}`);
  }
  return over;
}

function printNotRun(chosen: readonly Stage[]): void {
  const { since } = options;
  if (since === undefined) return;
  const changes = listChanges(since);
  const missed = stages.filter((stage) => !chosen.includes(stage) && changes.some((path) => hasInput(stage, path)));
  if (missed.length > 0)
    console.log(`not run, although inputs changed since ${since}: ${missed.map(({ name }) => name).join(", ")}`);
}

if (options.plan) {
  const include = chooseStages().flatMap(({ name, shards = 1 }) =>
    Array.from({ length: shards }, (_, index) => ({ stage: name, shard: `${index + 1}/${shards}` })),
  );
  console.log(JSON.stringify({ include }));
} else {
  const [startedAt, busyBefore] = [performance.now(), machineSeconds()];
  const chosen = chooseStages();
  const results = await runStages(chosen);
  const over = printStages(results);
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`all ${seconds.toFixed(0)} s; the machine: ${(machineSeconds() - busyBefore).toFixed(0)} CPU s\n`);
  const repeated = results.flatMap((result) => result.repeated);
  if (repeated.length > 0) console.log(`passed only when repeated: ${repeated.join(", ")}`);
  const badTitles = options.since === undefined ? [] : findBadTitles(options.since);
  for (const line of badTitles) console.log(`title of commit ${line}`);
  printNotRun(chosen);
  if (options.quick) console.log("this was not a verification: pnpm verify is");
  const sum = (of: "passed" | "failed") => results.reduce((total, result) => total + result[of], 0);
  // Both are defects, and the full tier is the place to repair them.
  const defects = options.full ? over + repeated.length : 0;
  const failed = sum("failed") + badTitles.length + defects;
  console.log(`${sum("passed")} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}
