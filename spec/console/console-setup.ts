import type { TestProject } from "vitest/node";
import { buildConsole, type ConsoleServer, startConsoleServer } from "../../scripts/console/console-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    consoleServer: ConsoleServer;
  }
}

/** Builds the console, and starts one server for all files. Each file has an organisation of its own there. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  await buildConsole();
  const { stop, ...server } = await startConsoleServer();
  provide("consoleServer", server);
  return stop;
}
