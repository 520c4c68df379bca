import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { serverMain } from "@perch/testkit/installation/server-main.ts";

/** The servers' log. The verdict does not depend on it. */
export const logFile = join(tmpdir(), `perch-chaos-${process.pid}.log`);

/** Removes this checkout's own PERCH_ settings, so that the processes get only those of the suite. */
export const environment = (settings: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PERCH_"))),
  ...settings,
});

export async function runPerch(settings: NodeJS.ProcessEnv, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [serverMain, ...args], { env: environment(settings) });
  return stdout.trim();
}

export interface PerchProcess {
  /** While it runs. */
  readonly pid: () => number | undefined;
  readonly start: () => Promise<void>;
  readonly kill: () => Promise<void>;
}

/** A server process in one role, at a fixed address, that can be killed and restarted. */
export function createPerchProcess(
  role: "serve" | "work" | "all",
  settings: NodeJS.ProcessEnv,
  answers: () => Promise<boolean>,
): PerchProcess {
  let child: ChildProcess | undefined;
  const hasEnded = () => !child || child.exitCode !== null || child.signalCode !== null;
  return {
    pid: () => (hasEnded() ? undefined : child?.pid),
    start: async () => {
      const log = openSync(logFile, "a");
      child = spawn(process.execPath, [serverMain, role], {
        env: environment(settings),
        stdio: ["ignore", "ignore", log],
      });
      closeSync(log);
      const deadline = performance.now() + 120_000;
      while (!(await answers())) {
        if (hasEnded()) throw new Error(`${role} exited unexpectedly with ${child.exitCode}`);
        if (performance.now() > deadline) throw new Error(`${role} does not answer after 120 s`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
    kill: async () => {
      if (!child || hasEnded()) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}
