import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createScratchDatabase } from "@perch/testkit/installation/scratch-database.ts";
import { freePort, scratchSettings, waitUntilReady } from "@perch/testkit/installation/server-process.ts";
import { endGroup, type Surroundings } from "./run-blocks.ts";

/** A server that the first block of a page starts in a separate terminal. The other blocks run in a second terminal. */
export interface OwnServer extends Surroundings {
  readonly url: string;
  /** The output of the first block so far. */
  readonly output: string;
  readonly stop: () => Promise<void>;
}

export type StartOwnServer = (commands: string, env: NodeJS.ProcessEnv, folder: string) => Promise<OwnServer>;

const root = join(import.meta.dirname, "../..");

function openTerminal(commands: string, { cwd, env }: Surroundings): { child: ChildProcess; output: () => string } {
  const child = spawn("bash", ["-ec", `exec 2>&1\n${commands}`], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  return { child, output: () => output };
}

/** The server of this checkout, on an empty database and its own port. */
export const startFromCheckout: StartOwnServer = async (commands, env) => {
  const database = await createScratchDatabase();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const surroundings = { cwd: root, env: { ...env, ...scratchSettings(database, port) } };
  const { child, output } = openTerminal(commands, surroundings);
  const stop = async () => {
    await endGroup(child);
    await database.drop();
  };
  try {
    await waitUntilReady(url, child, 60);
    return { ...surroundings, url, output: output(), stop };
  } catch (error) {
    await stop();
    throw new Error(`The first block failed:\n${output()}`, { cause: error });
  }
};

/** `perch dev` in an empty folder, until it reports that it is ready. */
export const startPerchDev: StartOwnServer = async (commands, env, folder) => {
  const surroundings = { cwd: mkdtempSync(join(folder, "dev-")), env };
  const { child, output } = openTerminal(commands, surroundings);
  const stop = () => endGroup(child);
  for (let attempt = 0; !output().includes("Ctrl-c stops it."); attempt++) {
    if (child.exitCode !== null || attempt === 1200) {
      await stop();
      throw new Error(`perch dev is not ready:\n${output()}`);
    }
    await sleep(100);
  }
  const { url } = JSON.parse(readFileSync(join(surroundings.cwd, ".perch/dev.json"), "utf8")) as { url: string };
  return { ...surroundings, url, output: output(), stop };
};
