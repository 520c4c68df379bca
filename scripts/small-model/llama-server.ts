import { copyFileSync, linkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { logDir, loopback, portVariable, runDir } from "../services/layout.ts";
import { Problem } from "../services/problem.ts";
import { commandLine, findRunning, type OwnProcess, startDetached, stop } from "../services/processes.ts";
import { withProgress } from "../services/progress.ts";
import { answersHttp, isPortFree } from "../services/sockets.ts";
import { folder, modelName, port, threads, weightsFile } from "./layout.ts";
import { serverPath } from "./llama-folder.ts";

const own: OwnProcess = {
  name: "llama-server",
  pidFile: join(runDir, "small-model.pid"),
  marks: [serverPath],
  chrootDir: folder,
  stopSignal: "SIGTERM",
};

export interface RunningModel {
  readonly pid: number;
  readonly baseUrl: string;
}

/** The address is read from the process: the port may have been another when it was started. */
export function findModel(): RunningModel | undefined {
  const pid = findRunning(own);
  if (pid === undefined) return undefined;
  const usedPort = /--port (\d+)/.exec(commandLine(pid))?.[1] ?? port;
  return { pid, baseUrl: `http://${loopback}:${usedPort}/v1` };
}

export function isHealthy({ baseUrl }: RunningModel): Promise<boolean> {
  return answersHttp(baseUrl.replace(/\/v1$/, "/health"));
}

const options = [
  ...["--host", loopback, "--port", String(port)],
  ...["--model", "/srv/model.gguf", "--alias", modelName],
  ...["--jinja", "--chat-template-file", "/srv/chat-template.jinja"],
  ...["--ctx-size", "2048", "--parallel", "1"], // what the model was trained for; a second caller waits
  ...["--threads", String(threads), "--threads-http", "4"],
  ...["--predict", "512"], // a model this small may never come to an end by itself
  ...["--cache-ram", "0"], // the one slot remembers the last conversation; by default up to 8 GiB would be kept
  ...["--no-ui", "--offline"],
];

/** As nobody, and behind everything else that wants the processor. `nice` and `chroot` become the server: its pid is theirs. */
export async function startModel(): Promise<void> {
  if (!(await isPortFree(port))) {
    throw new Problem(
      `llama-server: port ${port} is taken by a process that is not ours. Stop it, or set ${portVariable}`,
    );
  }
  // Links and copies made anew each time, so that a changed template or other weights count from the next start.
  rmSync(join(folder, "srv/model.gguf"), { force: true });
  linkSync(weightsFile, join(folder, "srv/model.gguf"));
  copyFileSync(join(import.meta.dirname, "chat-template.jinja"), join(folder, "srv/chat-template.jinja"));
  const launch = {
    command: "nice",
    args: ["-n", "10", "chroot", "--userspec=nobody:nogroup", folder, serverPath, ...options],
    env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C.UTF-8" },
    logFile: join(logDir, "small-model.log"),
  };
  const answers = () => answersHttp(`http://${loopback}:${port}/health`);
  await withProgress("llama-server: loading the model", () => startDetached(own, launch, answers));
}

/** True if there was something to stop. */
export const stopModel = (): Promise<boolean> => stop(own);
