import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkoutDir } from "@perch/testkit/services/layout.ts";
import type { Fixtures } from "./fixtures.ts";

const requirements = join(import.meta.dirname, "requirements.txt");
const template = join(import.meta.dirname, "schemathesis.toml");
const folder = join(checkoutDir, ".tools/schemathesis");
/** A copy of the installed requirements, written last. */
const installed = join(folder, "installed.txt");

function run(command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: folder,
      stdio: ["ignore", "inherit", "inherit"],
    });
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

/** Installs exactly `requirements.txt` into a separate virtual environment, and returns the path of the program. */
export async function installSchemathesis(): Promise<string> {
  const program = join(folder, "bin/schemathesis");
  const wanted = readFileSync(requirements, "utf8");
  if (existsSync(program) && existsSync(installed) && readFileSync(installed, "utf8") === wanted) return program;
  mkdirSync(folder, { recursive: true });
  const steps = [
    ["python3", "-m", "venv", "--clear", folder],
    [
      join(folder, "bin/pip"),
      "install",
      "--quiet",
      "--disable-pip-version-check",
      "--require-hashes",
      "-r",
      requirements,
    ],
  ] as const;
  for (const [command, ...args] of steps) {
    if ((await run(command, args)) !== 0) throw new Error(`${command} ${args.join(" ")} failed`);
  }
  writeFileSync(installed, wanted);
  return program;
}

/** Returns the exit code: 0 if nothing was found. The fixtures replace their names in the configuration. */
export function runSchemathesis(program: string, args: readonly string[], fixtures: Fixtures): Promise<number> {
  const filled = readFileSync(template, "utf8").replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = fixtures[name];
    if (value === undefined) throw new Error(`There is no fixture ${name}`);
    return value;
  });
  const configuration = join(folder, "schemathesis.toml");
  writeFileSync(configuration, filled);
  return run(program, ["--config-file", configuration, "run", ...args]);
}
