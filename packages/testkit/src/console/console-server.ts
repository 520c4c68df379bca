import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startInstallation } from "../installation/installation.ts";
import { installationSettings } from "../installation/installation-settings.ts";
import type { ScratchDatabase } from "../installation/scratch-database.ts";

/** A server whose console a browser opens. All of it except `stop` can be sent to another process. */
export interface ConsoleServer {
  readonly url: string;
  readonly database: Omit<ScratchDatabase, "drop">;
  /** With these settings, another process of the server joins the same engine. */
  readonly settings: Readonly<Record<string, string>>;
  /** The complete log of the server. */
  readonly logFile: string;
}

/** Starts a server with its own engine and database, which logs everything. */
export async function startConsoleServer(
  extra: Readonly<Record<string, string>> = {},
): Promise<ConsoleServer & { readonly stop: () => Promise<void> }> {
  const undo: (() => unknown)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), "perch-console-"));
    undo.push(() => rm(folder, { recursive: true, force: true }));
    const logFile = join(folder, "server.log");
    const log = createWriteStream(logFile);
    undo.push(() => log.close());
    const shared = {
      // The tools and issuers of these tests are on this machine.
      PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
      // The receivers of webhooks too. A refused delivery fails after a second, not after three days.
      PERCH_WEBHOOK_ALLOW_LOOPBACK: "true",
      PERCH_WEBHOOK_RETRY_DELAY_SECONDS: "0.2,0.2",
      ...extra,
    };
    const perch = await startInstallation({
      // Links of connections lead to the server itself.
      settings: (url) => ({ PERCH_PUBLIC_URL: url, ...shared, PERCH_LOG_LEVEL: "debug" }),
      onLog: (text) => void log.write(text),
    });
    undo.push(perch.stop);
    const settings = { ...installationSettings({ engine: perch.engine }), ...shared };
    const { appUrl, ownerUrl, adminUrl } = perch.database;
    return { url: perch.url, database: { appUrl, ownerUrl, adminUrl }, settings, logFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
