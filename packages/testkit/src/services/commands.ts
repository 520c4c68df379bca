import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Something the reader can act on: printed without a stack. */
export class Problem extends Error {}

/** Aborted on SIGINT and SIGTERM, so that running commands stop and `finally` blocks clean up. */
export const interruption = new AbortController();

export function stopOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interruption.abort());
}

/** For steps that take a while: prints one line at the start, and one with the duration at the end. */
export async function withProgress<T>(title: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  console.log(`${title} ...`);
  const result = await work();
  console.log(`${title}: done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return result;
}

/** Polls until `check` is true, and returns false after the timeout. */
export async function waitUntil(check: () => boolean | Promise<boolean>, timeoutSeconds: number): Promise<boolean> {
  const deadline = performance.now() + timeoutSeconds * 1000;
  while (!(await check())) {
    if (performance.now() > deadline) return false;
    await sleep(50, undefined, { signal: interruption.signal });
  }
  return true;
}

interface CommandOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string;
}

/** Runs a command to its end and returns its stdout. The error of a failed command has the last lines of its output. */
export function run(command: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const { cwd, env = process.env } = options;
    const child = spawn(command, args, { cwd, env, signal: interruption.signal });
    let stdout = "";
    let output = "";
    let failure: Error | undefined;
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk;
      output += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      output += chunk;
    });
    child.on("error", (error) => {
      failure = error;
    });
    // An aborted child emits `error` at once and still runs for a moment. Only `close` shows that it has ended.
    child.on("close", (code) => {
      if (code === 0) return resolve(stdout);
      const tail = output.trim().split("\n").slice(-15).join("\n");
      reject(failure ?? new Error(`${command} ${args.join(" ")} ended with ${code}\n${tail}`));
    });
    child.stdin.on("error", () => {}); // a child that does not read its input is not a failure
    child.stdin.end(options.input);
  });
}

export function findOnPath(command: string): string | undefined {
  const candidates = (process.env.PATH ?? "").split(delimiter).map((dir) => join(dir, command));
  return candidates.find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
