import { existsSync } from "node:fs";
import { type Browser, chromium, type LaunchOptions } from "playwright-core";

/** The headless shell needs a third less processor time than the full browser. */
const paths = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** The machine's own Chromium, which sends no requests to other hosts by itself. */
export function launchChromium(options: LaunchOptions = {}): Promise<Browser> {
  const executablePath = paths.find((path) => existsSync(path));
  if (!executablePath) throw new Error("No Chromium on this machine: apt-get install chromium-headless-shell");
  return chromium.launch({ executablePath, args, ...options });
}
