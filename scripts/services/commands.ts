import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { interruption } from "./interruption.ts";

interface CommandOptions {
  env?: NodeJS.ProcessEnv;
  input?: string;
}

/** Runs a command to its end and returns its stdout; the error of a failed one carries the end of its output. */
export function run(command: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: options.env ?? process.env, signal: interruption.signal });
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
    // After an abort the child still needs a moment: only `close` says that it is gone.
    child.on("close", (code) => {
      if (code === 0) return resolve(stdout);
      const tail = output.trim().split("\n").slice(-15).join("\n");
      reject(failure ?? new Error(`${command} ${args.join(" ")} ended with ${code}\n${tail}`));
    });
    child.stdin.on("error", () => {}); // a child that does not read its input is no failure
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
