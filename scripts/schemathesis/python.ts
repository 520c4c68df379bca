import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkoutDir } from "../services/layout.ts";
import type { Fixtures } from "./kept-things.ts";

const requirements = join(import.meta.dirname, "requirements.txt");
const template = join(import.meta.dirname, "schemathesis.toml");
const folder = join(checkoutDir, ".tools/schemathesis");
/** What was installed: a copy of the requirements, written last. */
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

/** A virtual environment of its own, with exactly what `requirements.txt` says. Returns the program. */
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

/** Its exit code: 0 if nothing was found. `things` are put where the configuration names them. */
export function runSchemathesis(program: string, args: readonly string[], things: Fixtures): Promise<number> {
  const filled = readFileSync(template, "utf8").replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = things[name];
    if (value === undefined) throw new Error(`Nothing is called ${name}`);
    return value;
  });
  const configuration = join(folder, "schemathesis.toml");
  writeFileSync(configuration, filled);
  return run(program, ["--config-file", configuration, "run", ...args]);
}
