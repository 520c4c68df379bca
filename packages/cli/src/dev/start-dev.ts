import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Child } from "./child.ts";
import { openDatabase } from "./database.ts";
import { startEngine, stopOrphan } from "./engine.ts";
import { findServer, runServerCommand, serverSettings, startServer } from "./server.ts";
import { type DevState, lockFolder, openFolder, readState, writeState } from "./state.ts";

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
  readonly apiPort: number | undefined;
  readonly onProgress: (text: string) => void;
}

type Cleanup = () => Promise<void> | void;

export const resetDev = (cwd: string): void => rmSync(join(cwd, ".perch"), { recursive: true, force: true });

/** Starts everything an agent needs on this machine. If one part fails, those already started are stopped. */
export async function startDev({ cwd, apiPort, onProgress }: DevOptions): Promise<Dev> {
  const folder = openFolder(cwd);
  const undo: Cleanup[] = [lockFolder(folder)];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    await stopOrphan(folder);
    const server = findServer();
    let state = await readState(folder, server.release, apiPort);
    const isFirst = state.key === null;
    onProgress(isFirst ? "making the database and the engine's folder" : "starting the database and the engine");
    // The engine comes up while the tables are prepared.
    const starting = startEngine(folder, state.ports);
    undo.push(async () => (await starting.catch(() => undefined))?.stop(10));
    const database = await openDatabase(folder.database, state.ports.database);
    undo.push(database.close);
    const env = serverSettings(state, database, folder);
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
