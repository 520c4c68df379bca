import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { perchCommand } from "../perch-command.ts";
import { Problem } from "../problem.ts";
import type { Remembered } from "../remembered.ts";

const portNames = ["api", "worker", "database", "ingress", "admin", "node"] as const;
export type Ports = Readonly<Record<(typeof portNames)[number], number>>;

/**
 * The state that `perch dev` stores under `.perch/` beside the data, so that the next start finds the same
 * organisation.
 */
export interface DevState {
  readonly url: string;
  readonly key: string | null;
  readonly masterKey: string;
  readonly ports: Ports;
  readonly schema: string;
}

export interface DevFolder {
  readonly root: string;
  readonly database: string;
  readonly engine: string;
  readonly logs: string;
}

const resetHint = (): string =>
  `\`${perchCommand("dev --reset")}\` removes all of .perch/, with its agents, runs and memories, and begins anew.`;

/** Something under `.perch` is damaged, or was written by another program. */
export function brokenFolder(path: string, error?: unknown): Problem {
  const reason =
    error instanceof Problem ? [error.message, error.hint].filter(Boolean).join("\n") : String(error ?? "");
  return new Problem(
    `${path} is damaged, or perch dev did not write it.`,
    [reason, resetHint()].filter(Boolean).join("\n"),
  );
}

export function folderOf(cwd: string): DevFolder {
  const root = join(cwd, ".perch");
  return { root, database: join(root, "database"), engine: join(root, "engine"), logs: join(root, "logs") };
}

export function openFolder(cwd: string): DevFolder {
  const folder = folderOf(cwd);
  const { root, logs } = folder;
  if (existsSync(root) && !statSync(root).isDirectory()) throw brokenFolder(root);
  try {
    mkdirSync(logs, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "EEXIST" ? brokenFolder(logs) : error;
  }
  // The folder contains keys and data, which must not be committed.
  writeFileSync(join(root, ".gitignore"), "*\n");
  return folder;
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

const lockFile = ({ root }: DevFolder): string => join(root, "lock");

export function requireUnlocked(folder: DevFolder): void {
  const file = lockFile(folder);
  const holder = existsSync(file) && statSync(file).isFile() ? Number(readFileSync(file, "utf8")) : 0;
  if (holder > 0 && holder !== process.pid && isAlive(holder))
    throw new Problem(`perch dev runs here already, as process ${holder}.`, `If it does not, remove ${file}.`);
}

/** Allows one `perch dev` per folder, because two would corrupt the files. */
export function lockFolder(folder: DevFolder): () => void {
  const file = lockFile(folder);
  requireUnlocked(folder);
  writeFileSync(file, String(process.pid));
  return () => rmSync(file, { force: true });
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

async function anyPort(): Promise<number> {
  const probe = createServer();
  return new Promise((resolve, reject) => {
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/** The ports of the last start, or free ones if those are taken. The API prefers 7400. */
async function choosePorts(before: Partial<Ports>): Promise<Ports> {
  const chosen: Partial<Record<keyof Ports, number>> = {};
  for (const name of portNames) {
    const preferred = before[name] ?? (name === "api" ? 7400 : undefined);
    chosen[name] = preferred !== undefined && (await isFree(preferred)) ? preferred : await anyPort();
  }
  return chosen as Ports;
}

const stateFile = ({ root }: DevFolder) => join(root, "dev.json");

const isPort = (value: unknown): boolean => Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;
const isMasterKey = (value: unknown): boolean =>
  typeof value === "string" && Buffer.from(value, "base64").toString("base64") === value && value.length === 44;

/** The state of an earlier start. A key that opens nothing would only fail later, and less clearly. */
function parseState(file: string): Partial<DevState> {
  let stored: Partial<DevState>;
  try {
    stored = JSON.parse(readFileSync(file, "utf8")) as Partial<DevState>;
  } catch (error) {
    throw brokenFolder(file, error instanceof SyntaxError ? undefined : error);
  }
  const isWhole =
    typeof stored === "object" &&
    stored !== null &&
    (stored.key === null || typeof stored.key === "string") &&
    isMasterKey(stored.masterKey) &&
    Object.values(stored.ports ?? {}).every(isPort);
  if (!isWhole) throw brokenFolder(file);
  return stored;
}

/** Whoever made a folder knows its master key, and could have put any agent and run into its database. */
function requireOwn(folder: DevFolder, { masterKey = "" }: Partial<DevState>, remembered: Remembered): void {
  const isUsed = [stateFile(folder), folder.database, folder.engine].some((path) => existsSync(path));
  if (isUsed && !remembered.has("dev", masterKey))
    throw new Problem(`${folder.root} was not made by you on this machine: it came with the folder.`, resetHint());
}

export async function readState(folder: DevFolder, remembered: Remembered, apiPort?: number): Promise<DevState> {
  const file = stateFile(folder);
  const stored = existsSync(file) ? parseState(file) : {};
  requireOwn(folder, stored, remembered);
  const ports = await choosePorts({ ...stored.ports, ...(apiPort !== undefined && { api: apiPort }) });
  if (apiPort !== undefined && ports.api !== apiPort) throw new Problem(`Port ${apiPort} is taken.`);
  const masterKey = stored.masterKey ?? randomBytes(32).toString("base64");
  const url = `http://127.0.0.1:${ports.api}`;
  const state = { url, key: stored.key ?? null, masterKey, ports, schema: stored.schema ?? "" };
  remembered.add("dev", masterKey);
  // Before anything else is there, so that a start that breaks off leaves a folder that is known.
  writeState(folder, state);
  return state;
}

export const writeState = (folder: DevFolder, state: DevState): void =>
  writeFileSync(stateFile(folder), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
