import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../../../console");

/** Builds the files that an API node serves under /console: `node packages/testkit/src/packaging/build-console.ts`. */
export function buildConsole(): void {
  execFileSync(process.execPath, [join(folder, "node_modules/vite/bin/vite.js"), "build", "--logLevel=warn"], {
    cwd: folder,
    stdio: "inherit",
    // Under vitest it would be "test", and the files would have React's development form.
    env: { ...process.env, NODE_ENV: "production" },
  });
}

/** For tests that need any console, not the newest. */
export function buildConsoleIfMissing(): void {
  if (!existsSync(join(folder, "dist/index.html"))) buildConsole();
}

if (import.meta.main) buildConsole();
