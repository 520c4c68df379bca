import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** Starts a program of this folder and waits for the line that it prints when it is ready. */
export async function startChild(
  file: string,
  env: NodeJS.ProcessEnv = {},
): Promise<{ line: string; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, file)], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return {
    line: line.toString().trim(),
    stop: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}
