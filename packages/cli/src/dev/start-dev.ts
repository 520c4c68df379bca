import { existsSync, rmSync } from "node:fs";
import { Problem } from "../problem.ts";
import type { Remembered } from "../remembered.ts";
import type { Child } from "./child.ts";
import { type DevDatabase, openDatabase } from "./database.ts";
import { findEngine, missingEngine, startEngine, stopOrphan } from "./engine.ts";
import { findServer, runServerCommand, serverSettings, startServer } from "./server.ts";
import {
  brokenFolder,
  type DevFolder,
  type DevState,
  folderOf,
  lockFolder,
  openFolder,
  type Ports,
  readState,
  requireUnlocked,
  writeState,
} from "./state.ts";

export interface Dev {
  readonly state: DevState & { readonly key: string };
  /** Whether this is the first start in this folder. */
  readonly isFirst: boolean;
  /** Resolves with the process that stopped by itself. */
  readonly broken: Promise<Child>;
  /** Stops the server first, then the engine and the database that it needs. */
  readonly stop: () => Promise<void>;
}

interface DevOptions {
  readonly cwd: string;
  readonly remembered: Remembered;
  readonly apiPort: number | undefined;
  /** Settings of the server beside those that perch dev makes. */
  readonly settings: Readonly<Record<string, string>>;
  readonly onProgress: (text: string) => void;
}

type Cleanup = () => Promise<void> | void;

/** Removes all of `.perch`, also one that is broken, unless `perch dev` runs there. */
export async function resetDev(cwd: string): Promise<void> {
  const folder = folderOf(cwd);
  requireUnlocked(folder);
  // An engine that was left running would go on without its files.
  await stopOrphan(folder);
  rmSync(folder.root, { recursive: true, force: true, maxRetries: 5 });
}

async function openStoredDatabase(folder: DevFolder, port: number): Promise<DevDatabase> {
  const isStored = existsSync(folder.database);
  try {
    return await openDatabase(folder.database, port);
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
    throw isStored && !isTaken ? brokenFolder(folder.database, error) : error;
  }
}

async function startStoredEngine(folder: DevFolder, ports: Ports): Promise<Child> {
  const isStored = existsSync(folder.engine);
  try {
    return await startEngine(folder, ports);
  } catch (error) {
    throw isStored && error instanceof Problem ? brokenFolder(folder.engine, error) : error;
  }
}

/** Starts everything an agent needs on this machine. If one part fails, those already started are stopped. */
export async function startDev({ cwd, remembered, apiPort, settings, onProgress }: DevOptions): Promise<Dev> {
  if (!findEngine()) throw missingEngine();
  const folder = openFolder(cwd);
  const undo: Cleanup[] = [lockFolder(folder)];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    await stopOrphan(folder);
    const server = findServer();
    let state = await readState(folder, remembered, apiPort);
    const isFirst = state.key === null;
    onProgress(isFirst ? "making the database and the engine's folder" : "starting the database and the engine");
    // The engine comes up while the tables are prepared.
    const starting = startStoredEngine(folder, state.ports);
    // It is awaited below, but may fail while the database opens.
    starting.catch(() => {});
    undo.push(async () => (await starting.catch(() => undefined))?.stop(10));
    const database = await openStoredDatabase(folder, state.ports.database);
    undo.push(database.close);
    const env = { ...serverSettings(state, database, folder), ...settings };
    if (server.schema !== state.schema) {
      onProgress("preparing the tables");
      await runServerCommand(server.main, ["migrate"], env);
      state = { ...state, schema: server.schema };
      writeState(folder, state);
    }
    const key = state.key ?? (await newOrganisation(server.main, env, onProgress));
    const ready = { ...state, key };
    writeState(folder, ready);
    const engine = await starting;
    onProgress("starting the server");
    const child = await startServer(server, ready, folder, env);
    undo.push(() => child.stop(35));
    const broken = Promise.race([engine, child].map((part) => part.exited.then(() => part)));
    return { state: ready, isFirst, broken, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function newOrganisation(main: string, env: NodeJS.ProcessEnv, onProgress: DevOptions["onProgress"]): Promise<string> {
  onProgress("making an organisation and a key");
  return runServerCommand(main, ["create-organisation", "--name", "Development", "--tier", "enterprise"], env);
}
