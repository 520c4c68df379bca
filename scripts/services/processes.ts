import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { Problem } from "./problem.ts";
import { waitUntil } from "./waiting.ts";

/** How to know one of our background processes again: a pid alone may have gone to a stranger since. */
export interface OwnProcess {
  readonly name: string;
  readonly pidFile: string;
  /** All of these occur in its command line. */
  readonly marks: readonly string[];
  /** The folder it was chrooted into. */
  readonly chrootDir?: string;
  readonly stopSignal: NodeJS.Signals;
}

export function commandLine(pid: number): string {
  if (process.platform !== "linux") {
    return spawnSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" }).stdout ?? "";
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

/** The first line of a pid file as a number, if there is one. */
export function readPid(pidFile: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(pidFile, "utf8"), 10);
    return pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function isChrootedInto(pid: number, dir: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/root`) === realpathSync(dir);
  } catch {
    return false;
  }
}

/** The pid if the process is alive and really ours. */
export function findRunning(own: OwnProcess): number | undefined {
  const pid = readPid(own.pidFile);
  if (pid === undefined) return undefined;
  const line = commandLine(pid);
  if (!own.marks.every((mark) => line.includes(mark))) return undefined;
  if (own.chrootDir !== undefined && !isChrootedInto(pid, own.chrootDir)) return undefined;
  return pid;
}

/** Dead, but its parent has not yet asked for its exit code, so the pid still counts as taken. */
export function isZombie(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
}

/** Starts a process that outlives this one, and waits until it answers. */
export async function startDetached(own: OwnProcess, launch: Launch, answers: () => Promise<boolean>): Promise<void> {
  for (const file of [own.pidFile, launch.logFile]) mkdirSync(dirname(file), { recursive: true });
  const log = openSync(launch.logFile, "w");
  const child = spawn(launch.command, launch.args, { env: launch.env, detached: true, stdio: ["ignore", log, log] });
  closeSync(log);
  let ended = false;
  for (const event of ["error", "exit"] as const) {
    child.on(event, () => {
      ended = true;
    });
  }
  child.unref();
  if (child.pid !== undefined) writeFileSync(own.pidFile, `${child.pid}\n`);
  const settled = await waitUntil(async () => ended || (await answers()), 60);
  if (settled && !ended) return;
  throw new Problem(
    `${own.name} ${ended ? "ended at once" : "did not answer within 60 s"}; ${logTail(launch.logFile)}`,
  );
}

export function logTail(logFile: string): string {
  const lines = existsSync(logFile) ? readFileSync(logFile, "utf8").trim().split("\n") : [];
  return [`the end of ${logFile}:`, ...lines.slice(-10)].join("\n");
}

/** True if there was something to stop. */
export async function stop(own: OwnProcess): Promise<boolean> {
  const pid = findRunning(own);
  if (pid !== undefined) {
    const isGone = () => findRunning(own) !== pid;
    process.kill(pid, own.stopSignal);
    if (!(await waitUntil(isGone, 20))) {
      process.kill(pid, "SIGKILL");
      await waitUntil(isGone, 5);
    }
  }
  return pid !== undefined;
}
