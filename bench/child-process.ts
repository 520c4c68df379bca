import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export interface BenchProcess {
  /** The output that the process printed when it was ready. */
  readonly line: string;
  readonly pids: () => readonly number[];
  readonly stop: () => Promise<void>;
}

/** Starts a program of this folder and waits for the line that it prints when it is ready. */
export async function startChild(file: string, env: NodeJS.ProcessEnv = {}): Promise<BenchProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, file)], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return {
    line: line.toString().trim(),
    pids: () => (child.pid === undefined ? [] : [child.pid]),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}
