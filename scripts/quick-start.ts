import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCpuTimes } from "@perch/testkit/installation/cpu-time.ts";
import {
  userEnvironment as env,
  npmInstall,
  refuseInstallScripts,
  writeManifest,
} from "@perch/testkit/packaging/install-packages.ts";
import { packPackages } from "@perch/testkit/packaging/pack-packages.ts";

/**
 * From an empty directory to an agent that answers, with nothing but Node: npm installs the packed packages,
 * then `perch dev`, `perch init`, `perch apply`, `perch invoke`. Prints how long each step took and was silent, and fails above a limit.
 * npm's cache is filled first, so that the limit does not depend on the network. Between the steps it measures how long a bare
 * Node takes to start: on a machine that is busy with other work the limit grows in proportion. Time that other virtual machines took
 * does not count.
 */

const limitSeconds = 60;
const maxCommands = 8;
/** For commands of Perch, from their start to their end: npm prints nothing while it installs. */
const maxSilentSeconds = 2;
/** Near the best of 40 starts on two cores (0.043 s, other work beside it); a calm machine was not measured. */
const calmNodeStartSeconds = 0.05;
const nodeStarts: number[] = [];
const message = "Hello from an empty directory";
const durations: [string, number][] = [];
const silences: [string, number][] = [];

function measureNodeStart(): void {
  const startedAt = performance.now();
  execFileSync(process.execPath, ["--eval", ""]);
  nodeStarts.push((performance.now() - startedAt) / 1000);
}

/** How much longer everything takes now than on a calm machine: the median of the measurements, at least 1. */
function slowdown(): number {
  const sorted = nodeStarts.toSorted((a, b) => a - b);
  return Math.max(1, (sorted[Math.floor(sorted.length / 2)] ?? 0) / calmNodeStartSeconds);
}

/**
 * Returns the share of the requested processor time that other virtual machines took since then; 0 if it is not known.
 */
function watchStolen(): () => number {
  if (!existsSync("/proc/stat")) return () => 0;
  const before = readCpuTimes({});
  return () => {
    const after = readCpuTimes({});
    const stolenMs = after.stolenMs - before.stolenMs;
    return stolenMs / (stolenMs + after.busyMs - before.busyMs || 1);
  };
}

async function timed<T>(title: string, work: () => Promise<T> | T): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  durations.push([title, seconds]);
  measureNodeStart();
  console.log(`${title}: ${seconds.toFixed(1)} s`);
  return result;
}

function install(folder: string, tarballs: ReadonlyMap<string, string>): void {
  writeManifest(folder, tarballs, ["perch"]);
  execFileSync("npm", npmInstall, { cwd: folder, env, stdio: "inherit" });
}

/**
 * Resolves with the result of `find` in the output, or with the whole output at the end, and records the longest time
 * without output.
 */
async function read(title: string, child: ChildProcess, find: (text: string) => string | undefined): Promise<string> {
  let text = "";
  let lastAt = performance.now();
  let silentMs = 0;
  const noteOutput = () => {
    const now = performance.now();
    silentMs = Math.max(silentMs, now - lastAt);
    lastAt = now;
  };
  child.stderr?.on("data", noteOutput).pipe(process.stderr);
  const found = await new Promise<string>((resolve, reject) => {
    child.stdout?.on("data", (chunk: Buffer) => {
      noteOutput();
      text += chunk.toString();
      const part = find(text);
      if (part !== undefined) resolve(part);
    });
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(text.trim()) : reject(new Error(`${title}: ${code}: ${text}`)),
    );
  });
  noteOutput();
  silences.push([title, silentMs / 1000]);
  return found;
}

/** Returns the address that it prints. */
const waitUntilReady = (title: string, child: ChildProcess): Promise<string> =>
  read(title, child, (text) => /Perch is ready .* at (\S+)\s/.exec(text)?.[1]);

/** The console must come with the packages: its page, and the script that the page names. */
async function openConsole(url: string): Promise<void> {
  const page = await (await fetch(`${url}/console/`)).text();
  const [, script] = /<script type="module"[^>]* src="([^"]+)"/.exec(page) ?? [];
  const response = script === undefined ? undefined : await fetch(new URL(script, url));
  if (!response?.ok) throw new Error(`There is no console at ${url}/console/: ${page.slice(0, 200)}`);
}

async function stop(child: ChildProcess): Promise<number | null> {
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.kill("SIGINT");
  return exited;
}

const root = mkdtempSync(join(tmpdir(), "perch-quick-start-"));
let dev: ChildProcess | undefined;
try {
  const tarballs = await packPackages(join(root, "packed"));
  await timed("npm install (fills the cache, not counted)", () => install(join(root, "warm"), tarballs));
  refuseInstallScripts(join(root, "warm"));
  rmSync(join(root, "warm"), { recursive: true });

  const folder = join(root, "empty");
  const bin = join(folder, "node_modules/.bin/perch");
  const start = (args: readonly string[]) => spawn(bin, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const perch = (...args: string[]) => read(`perch ${args[0]}`, start(args), () => undefined);

  const startedAt = performance.now();
  const stolenSince = watchStolen();
  await timed("npm install", () => install(folder, tarballs));
  dev = start(["dev"]);
  const first = dev;
  const url = await timed("perch dev, first start", () => waitUntilReady("perch dev", first));
  await timed("perch init", () => perch("init"));
  await timed("perch apply", () => perch("apply", "--yes"));
  const answer = await timed("perch invoke", () => perch("invoke", "my-agent", message));
  const seconds = (performance.now() - startedAt) / 1000;
  const commands = durations.length - 1;
  const stolen = stolenSince();
  if (answer !== message) throw new Error(`The agent answered ${JSON.stringify(answer)}`);

  await timed("console", () => openConsole(url));
  const code = await timed("ctrl-c", () => stop(first));
  if (code !== 0) throw new Error(`perch dev ended with ${code}`);
  dev = start(["dev"]);
  const second = dev;
  await timed("perch dev, second start", () => waitUntilReady("perch dev", second));
  const runs = JSON.parse(await perch("runs", "my-agent", "--json")) as { data: unknown[] };
  if (runs.data.length !== 1) throw new Error("The second start has lost the run of the first");
  await stop(second);

  const factor = slowdown();
  console.log(
    `From npm install to the answer: ${seconds.toFixed(1)} s (limit ${limitSeconds} s, times ${factor.toFixed(1)} since Node starts that much slower than on a calm machine; other machines took ${(stolen * 100).toFixed(0)} % of the processor)`,
  );
  if (process.env.GITHUB_STEP_SUMMARY) {
    const lines = durations.map(([title, duration]) => `| ${title} | ${duration.toFixed(1)} s |`);
    writeFileSync(process.env.GITHUB_STEP_SUMMARY, `| step | time |\n|---|---|\n${lines.join("\n")}\n`, { flag: "a" });
  }
  const broken = [
    ...(seconds * (1 - stolen) > limitSeconds * factor ? [`the way took ${seconds.toFixed(1)} s`] : []),
    ...(commands > maxCommands ? [`the way has ${commands} commands instead of ${maxCommands}`] : []),
    ...silences
      .filter(([, silent]) => silent * (1 - stolen) > maxSilentSeconds * factor)
      .map(([title, silent]) => `${title} was silent for ${silent.toFixed(1)} s`),
  ];
  const [quietest = ""] = silences
    .toSorted(([, a], [, b]) => b - a)
    .map(([title, silent]) => `${title}, ${silent.toFixed(1)} s`);
  console.log(`${commands} commands; the longest silence: ${quietest}`);
  for (const each of broken) console.error(each);
  if (broken.length > 0) process.exitCode = 1;
} catch (error) {
  console.error(error);
  const log = join(root, "empty/.perch/logs/server.log");
  try {
    console.error(readFileSync(log, "utf8").split("\n").slice(-20).join("\n"));
  } catch {
    // The server did not start, so it has no log.
  }
  process.exitCode = 1;
} finally {
  if (dev && dev.exitCode === null) await stop(dev);
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
