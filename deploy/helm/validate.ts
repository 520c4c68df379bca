import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { badValues } from "./bad-values.ts";
import { chartDir, renderedDir } from "./chart-inputs.ts";

/** Checks the rendered manifests with the schemas of Kubernetes. Needs Python and, once, PyPI. */

/** The oldest that the chart takes, and the newest that the package has schemas of. */
const kubernetesVersions = ["1.30.0", "1.37.0"];

const requirements = join(import.meta.dirname, "requirements.txt");
const venv = join(import.meta.dirname, "../../.tools/kubernetes-validate");

async function succeeds(command: string, args: readonly string[], input = ""): Promise<boolean> {
  const child = spawn(command, args, { stdio: ["pipe", "inherit", "inherit"] });
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  return code === 0;
}

/** Exactly the packages of requirements.txt, in a virtual environment of their own, made anew when these change. */
async function prepare(): Promise<boolean> {
  const installed = join(venv, "installed.txt");
  const wanted = readFileSync(requirements, "utf8");
  if (existsSync(installed) && readFileSync(installed, "utf8") === wanted) return true;
  console.log("installing kubernetes-validate, for about 20 seconds ...");
  mkdirSync(dirname(venv), { recursive: true });
  const quietly = ["--quiet", "--disable-pip-version-check", "--require-hashes"];
  const made =
    (await succeeds("python3", ["-m", "venv", "--clear", venv])) &&
    (await succeeds(join(venv, "bin/pip"), ["install", ...quietly, "-r", requirements]));
  if (made) writeFileSync(installed, wanted);
  return made;
}

export async function validateManifests(): Promise<boolean> {
  if (!(await prepare())) return false;
  const task = { rendered: renderedDir, chart: chartDir, versions: kubernetesVersions, badValues };
  return succeeds(join(venv, "bin/python"), ["-B", join(import.meta.dirname, "validate.py")], JSON.stringify(task));
}

if (import.meta.main) process.exitCode = (await validateManifests()) ? 0 : 1;
