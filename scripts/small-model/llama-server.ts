import { copyFileSync, linkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Problem, withProgress } from "@perch/testkit/services/commands.ts";
import { logDir, loopback, portVariable, runDir } from "@perch/testkit/services/layout.ts";
import {
  answersHttp,
  type BackgroundProcess,
  commandLine,
  findRunning,
  isPortFree,
  startDetached,
  stop,
} from "@perch/testkit/services/processes.ts";
import { folder, modelName, port, threads, weightsFile } from "./layout.ts";
import { serverPath } from "./llama-folder.ts";

const background: BackgroundProcess = {
  name: "llama-server",
  pidFile: join(runDir, "small-model.pid"),
  commandLineParts: [serverPath],
  chrootDir: folder,
  stopSignal: "SIGTERM",
};

export interface RunningModel {
  readonly pid: number;
  readonly baseUrl: string;
}

/** Reads the port from the command line, because it may have been started with another port base. */
export function findModel(): RunningModel | undefined {
  const pid = findRunning(background);
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
  ...["--ctx-size", "2048", "--parallel", "1"], // the context length of the training; a second caller waits
  ...["--threads", String(threads), "--threads-http", "4"],
  ...["--predict", "512"], // a model this small may never stop by itself
  ...["--cache-ram", "0"], // the one slot caches the last conversation; the default cache is up to 8 GiB
  ...["--no-ui", "--offline"],
];

/** Runs as the user `nobody` with low priority. `nice` and `chroot` exec the server, so that it has their pid. */
export async function startModel(): Promise<void> {
  if (!(await isPortFree(port))) {
    throw new Problem(
      `llama-server: port ${port} is taken by a process that is not ours. Stop it, or set ${portVariable}`,
    );
  }
  // Linked and copied at each start, so that a changed template or changed weights take effect.
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
  await withProgress("llama-server: loading the model", () => startDetached(background, launch, answers));
}

/** True if there was something to stop. */
export const stopModel = (): Promise<boolean> => stop(background);
