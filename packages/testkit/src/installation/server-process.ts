import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { installationSettings } from "./installation-settings.ts";
import type { ScratchDatabase } from "./scratch-database.ts";
import { serverMain } from "./server-main.ts";

export const scratchSettings = (database: ScratchDatabase, port: number): NodeJS.ProcessEnv => ({
  ...installationSettings({ database }),
  PERCH_LOG_LEVEL: "error",
  PERCH_PORT: String(port),
  // A busy machine can pause for longer than a request waits for Valkey by default.
  PERCH_VALKEY_TIMEOUT_MS: "5000",
});

/** Runs one command of the server and returns its output. */
export async function runCommand(
  database: ScratchDatabase,
  args: string[],
  extra: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [serverMain, ...args], {
    env: { ...process.env, ...scratchSettings(database, 0), ...extra },
  });
  return stdout.trim();
}

// Below the ports that a system gives to outgoing connections: one of those could take the port before its server does.
const firstPort = 20_000;
const portsPerProcess = 250;
const slices = 48;
const workersPerGroup = 4;
/** Programs that run beside each other number their workers alike, so each of them gets a group of slices. */
const group = Number(process.env.TEST_PORT_GROUP ?? 0);
const worker = process.env.VITEST_POOL_ID;
const slice = (worker === undefined ? process.pid : group * workersPerGroup + Number(worker)) % slices;
let nextOffset = process.pid % portsPerProcess;

/** Not given to another process of these tests either: each has its own slice. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < portsPerProcess; attempt++) {
    const port = firstPort + slice * portsPerProcess + (nextOffset++ % portsPerProcess);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
  throw new Error(`No free port in the slice that starts at ${firstPort + slice * portsPerProcess}`);
}

export async function waitUntilReady(url: string, child: ChildProcess, seconds: number): Promise<void> {
  for (let attempt = 0; attempt < seconds * 10; attempt++) {
    if (child.exitCode !== null) throw new Error(`The server stopped with code ${child.exitCode}`);
    const ready = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return;
    await sleep(100);
  }
  throw new Error(`The server at ${url} was not ready after ${seconds} s`);
}

export interface ServerProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Stops it with SIGTERM, and returns its exit code. */
  readonly stop: () => Promise<number | null>;
}

/** Starts the server as a separate process, as a user would run it. */
export async function startServer(
  database: ScratchDatabase,
  extra: NodeJS.ProcessEnv = {},
  role: "serve" | "all" = "serve",
  onLog: (text: Buffer) => void = (text) => void process.stderr.write(text),
): Promise<ServerProcess> {
  const port = Number(extra.PERCH_PORT ?? (await freePort()));
  const env = { ...process.env, ...scratchSettings(database, port), ...extra };
  const child = spawn(process.execPath, [serverMain, role], { env, stdio: ["ignore", "ignore", "pipe"] });
  child.stderr?.on("data", onLog);
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(url, child, 60).catch((error: unknown) => {
    // Otherwise it would run on, and prevent its parent from ending.
    child.kill("SIGKILL");
    throw error;
  });
  return {
    url,
    child,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      child.kill("SIGTERM");
      const [code] = (await once(child, "exit")) as [number | null];
      return code;
    },
  };
}

export const acceptsConnections = (port: number, host = "127.0.0.1"): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = connect(port, host);
    probe.once("error", () => resolve(false));
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
  });

export interface WorkerProcess {
  readonly port: number;
  readonly pid: number | undefined;
  /** Stops it and waits until it has exited. */
  readonly end: (signal: "SIGKILL" | "SIGTERM") => Promise<void>;
}

/** Starts a worker as a separate process. `extra` has the addresses of the engine and, as PERCH_WORKER_URL, of the worker. */
export async function startWorker(database: ScratchDatabase, extra: NodeJS.ProcessEnv): Promise<WorkerProcess> {
  const port = Number(extra.PERCH_WORKER_PORT ?? (await freePort()));
  const env = { ...process.env, ...scratchSettings(database, 0), PERCH_WORKER_PORT: String(port), ...extra };
  const child = spawn(process.execPath, [serverMain, "work"], { env, stdio: ["ignore", "ignore", "inherit"] });
  for (let attempt = 0; !(await acceptsConnections(port)); attempt++) {
    if (child.exitCode !== null || attempt === 600) {
      // Otherwise it would run on, and prevent its parent from ending.
      child.kill("SIGKILL");
      throw new Error("The worker did not start");
    }
    await sleep(100);
  }
  return {
    port,
    pid: child.pid,
    end: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill(signal);
      await exited;
    },
  };
}
