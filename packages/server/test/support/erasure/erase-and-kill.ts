import { spawn } from "node:child_process";
import { once } from "node:events";
import { installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { serverMain } from "@perch/testkit/installation/server-main.ts";
import { scratchSettings } from "@perch/testkit/installation/server-process.ts";
import { expect } from "vitest";
import type { Organisation, Perch } from "../harness.ts";

/** Kills the command, in a process of its own, when it has deleted the rows of its first tables. */
export async function eraseAndKill(perch: Perch, valkeyUrl: string, { id }: Organisation): Promise<void> {
  const { config } = perch.server.core;
  const child = spawn(process.execPath, [serverMain, "erase-organisation", "--organisation", id, "--yes"], {
    env: {
      ...process.env,
      ...scratchSettings(perch.database, 0),
      ...installationSettings({ valkeyUrl, engine: config, masterKey: config.masterKey.toString("base64") }),
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let printed = "";
  child.stderr.on("data", (text: Buffer) => {
    printed += text.toString();
    if (printed.includes("rows deleted.")) child.kill("SIGKILL");
  });
  const [, signal] = await once(child, "exit");
  expect(signal, printed).toBe("SIGKILL");
}
