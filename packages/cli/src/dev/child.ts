import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../problem.ts";

export interface Child {
  readonly name: string;
  readonly pid: number | undefined;
  /** Ends when the process does. */
  readonly exited: Promise<void>;
  readonly isRunning: () => boolean;
  /** SIGTERM, then SIGKILL if that is not enough. */
  readonly stop: (limitSeconds: number) => Promise<void>;
  readonly lastLines: () => string;
}

interface ChildOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
}

/** Runs in a process group of its own, so that ctrl-c reaches only this process, which stops the parts in order. */
export function startChild({ name, command, args, env, logFile }: ChildOptions): Child {
  const log = openSync(logFile, "w", 0o600);
  const process: ChildProcess = spawn(command, args, { env, detached: true, stdio: ["pipe", log, log] });
  closeSync(log);
  const exited = new Promise<void>((resolve) => {
    process.once("exit", () => resolve());
    process.once("error", () => resolve());
  });
  const isRunning = () => process.exitCode === null && process.signalCode === null && process.pid !== undefined;
  return {
    name,
    pid: process.pid,
    exited,
    isRunning,
    stop: async (limitSeconds) => {
      if (!isRunning()) return;
      process.kill("SIGTERM");
      const late = Symbol("late");
      const result = await Promise.race([exited, sleep(limitSeconds * 1000, late, { ref: false })]);
      if (result === late) {
        process.kill("SIGKILL");
        await exited;
      }
    },
    lastLines: () => readFileSync(logFile, "utf8").trim().split("\n").slice(-8).join("\n"),
  };
}

const answers = (url: string) =>
  fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    ({ ok }) => ok,
    () => false,
  );

/** Waits until all addresses answer with 2xx. */
export async function untilHealthy(child: Child, urls: readonly string[], limitSeconds: number): Promise<void> {
  const deadline = performance.now() + limitSeconds * 1000;
  while (performance.now() < deadline) {
    if (!child.isRunning()) throw new Problem(`${child.name} stopped while it was starting.`, child.lastLines());
    if ((await Promise.all(urls.map(answers))).every(Boolean)) return;
    await sleep(50);
  }
  throw new Problem(`${child.name} was not ready after ${limitSeconds} s.`, child.lastLines());
}
