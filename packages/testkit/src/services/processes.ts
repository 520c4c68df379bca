import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect as connectTcp, createServer } from "node:net";
import { dirname } from "node:path";
import { connect as connectTls } from "node:tls";
import { Problem, waitUntil } from "./commands.ts";
import { lockFile, loopback, servicesDir } from "./layout.ts";

export interface Service {
  readonly name: string;
  /** Run by the user: checked, never started or stopped. */
  readonly isExternal: boolean;
  readonly address: string;
  readonly ports: readonly number[];
  /** The folder that `reset` deletes. */
  readonly dataDir: string;
  /** Debian packages still to install; throws a Problem when this machine cannot provide the service. */
  missingPackages(): readonly string[];
  /** The pid of the process we started, if it runs. */
  pid(): number | undefined;
  answers(): Promise<boolean>;
  start(): Promise<void>;
  /** Sets up a running service, whether it was started now or earlier. */
  prepare(): Promise<void>;
  /** True if there was something to stop. */
  stop(): Promise<boolean>;
  version(): Promise<string>;
}

/** How to recognise a background process that we started: its pid may belong to another process by now. */
export interface BackgroundProcess {
  readonly name: string;
  readonly pidFile: string;
  /** All of these occur in its command line. */
  readonly commandLineParts: readonly string[];
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

/** The pid if the process is alive and the one we started. */
export function findRunning(background: BackgroundProcess): number | undefined {
  const pid = readPid(background.pidFile);
  if (pid === undefined) return undefined;
  const line = commandLine(pid);
  if (!background.commandLineParts.every((part) => line.includes(part))) return undefined;
  if (background.chrootDir !== undefined && !isChrootedInto(pid, background.chrootDir)) return undefined;
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
export async function startDetached(
  background: BackgroundProcess,
  launch: Launch,
  answers: () => Promise<boolean>,
): Promise<void> {
  for (const file of [background.pidFile, launch.logFile]) mkdirSync(dirname(file), { recursive: true });
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
  if (child.pid !== undefined) writeFileSync(background.pidFile, `${child.pid}\n`);
  const settled = await waitUntil(async () => ended || (await answers()), 60);
  if (settled && !ended) return;
  throw new Problem(
    `${background.name} ${ended ? "ended at once" : "did not answer within 60 s"}; ${logTail(launch.logFile)}`,
  );
}

export function logTail(logFile: string): string {
  const lines = existsSync(logFile) ? readFileSync(logFile, "utf8").trim().split("\n") : [];
  return [`the end of ${logFile}:`, ...lines.slice(-10)].join("\n");
}

/** True if there was something to stop. */
export async function stop(background: BackgroundProcess): Promise<boolean> {
  const pid = findRunning(background);
  if (pid !== undefined) {
    const isGone = () => findRunning(background) !== pid;
    process.kill(pid, background.stopSignal);
    if (!(await waitUntil(isGone, 20))) {
      process.kill(pid, "SIGKILL");
      await waitUntil(isGone, 5);
    }
  }
  return pid !== undefined;
}

export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, loopback, () => server.close(() => resolve(true)));
  });
}

interface Peer {
  readonly url: URL;
  readonly defaultPort: number;
  readonly tls?: boolean;
}

/** Sends a greeting and returns the first bytes of the answer, or "" when there is none within two seconds. */
export function exchange({ url, defaultPort, tls = false }: Peer, greeting: string | Uint8Array): Promise<string> {
  const target = { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || defaultPort) };
  return new Promise((resolve) => {
    const socket = tls ? connectTls(target) : connectTcp(target);
    const finish = (answer: string) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(2000, () => finish(""));
    socket.once("error", () => finish(""));
    socket.once("close", () => finish(""));
    socket.once("data", (data: Buffer) => finish(data.toString("latin1")));
    socket.write(greeting);
  });
}

export async function answersHttp(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/**
 * One `pnpm services` at a time per checkout. The lock appears by link(), which is atomic and never shows a file without its
 * pid. A dead owner's lock is moved away before it is deleted, so that of two waiters only one can take it.
 */
export async function withLock<T>(work: () => Promise<T>): Promise<T> {
  mkdirSync(servicesDir, { recursive: true });
  let announced: number | undefined;
  const taken = await waitUntil(() => {
    if (tryLock()) return true;
    const owner = readPid(lockFile);
    if (owner !== undefined && !commandLine(owner).includes("main.ts")) removeStaleLock(owner);
    else if (owner !== undefined && owner !== announced) {
      announced = owner;
      console.log(`waiting for another \`pnpm services\` (pid ${owner})`);
    }
    return false;
  }, 600);
  if (!taken) throw new Problem(`${lockFile} is still held by pid ${readPid(lockFile)} after 600 s`);
  try {
    return await work();
  } finally {
    rmSync(lockFile, { force: true });
  }
}

function tryLock(): boolean {
  const candidate = `${lockFile}.${process.pid}`;
  writeFileSync(candidate, `${process.pid}\n`);
  try {
    linkSync(candidate, lockFile);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(candidate);
  }
}

function removeStaleLock(owner: number): void {
  const aside = `${lockFile}.stale.${process.pid}`;
  try {
    renameSync(lockFile, aside);
    // Another process took the lock meanwhile, and we moved its live lock: put it back.
    if (Number.parseInt(readFileSync(aside, "utf8"), 10) !== owner) linkSync(aside, lockFile);
    rmSync(aside);
  } catch {
    rmSync(aside, { force: true });
  }
}
