import { spawn } from "node:child_process";
import type { Terminal } from "./terminal.ts";

/** The desktop's own command to open an address; undefined if there is no desktop. */
export function browserCommand(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | undefined {
  if (platform === "darwin") return "open";
  return platform === "linux" && (env.DISPLAY || env.WAYLAND_DISPLAY) ? "xdg-open" : undefined;
}

/** The address as a browser reads it; undefined if it is none. The desktop's command would open files and other programs too. */
export function webAddress(text: string): string | undefined {
  const url = URL.parse(text);
  return url?.protocol === "https:" || url?.protocol === "http:" ? url.href : undefined;
}

/**
 * Opens an address in the browser of the user at this terminal. Returns false if there is no user or no browser, or if
 * the text is not a web address.
 */
export function openBrowser(
  url: string,
  { terminal, env }: { readonly terminal: Pick<Terminal, "isInteractive">; readonly env: NodeJS.ProcessEnv },
): boolean {
  const opener = terminal.isInteractive ? browserCommand(env, process.platform) : undefined;
  const address = webAddress(url);
  if (!opener || address === undefined) return false;
  const child = spawn(opener, [address], { detached: true, stdio: "ignore" });
  // The address was printed, so a user without such a command can copy it.
  child.on("error", () => {});
  child.unref();
  return true;
}

export const noOpenOption = {
  type: "boolean",
  help: "Only print the address of the console, and open no browser.",
} as const;
