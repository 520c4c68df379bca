import { spawn } from "node:child_process";
import type { Terminal } from "./terminal.ts";

/** The desktop's own command to open an address; undefined where there is no desktop. */
export function browserCommand(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | undefined {
  if (platform === "darwin") return "open";
  return platform === "linux" && (env.DISPLAY || env.WAYLAND_DISPLAY) ? "xdg-open" : undefined;
}

/** Opens an address in the browser of whoever sits at this terminal. False where that is nobody, or there is no browser. */
export function openBrowser(
  url: string,
  { terminal, env }: { readonly terminal: Pick<Terminal, "isInteractive">; readonly env: NodeJS.ProcessEnv },
): boolean {
  const opener = terminal.isInteractive ? browserCommand(env, process.platform) : undefined;
  if (!opener) return false;
  const child = spawn(opener, [url], { detached: true, stdio: "ignore" });
  // The address was printed: whoever has no such command can copy it.
  child.on("error", () => {});
  child.unref();
  return true;
}

export const noOpenOption = {
  type: "boolean",
  help: "Only print the address of the console, and open no browser.",
} as const;
