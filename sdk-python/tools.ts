import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/** The virtual environment with the tools of the Python client, and the wheel that they build. */

export const folder = import.meta.dirname;
export const bin = join(folder, ".venv/dev/bin");

const environment = {
  ...process.env,
  PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
  TEST_NODE: process.execPath,
  PYTHONDONTWRITEBYTECODE: "1",
};

/**
 * Runs one command and prints its output when it has ended, so that the output of two concurrent commands stays
 * readable.
 */
export async function succeeds(title: string, command: string, args: readonly string[]): Promise<boolean> {
  const startedAt = performance.now();
  let output = "";
  const code = await new Promise<number | null>((resolve) => {
    const child = spawn(command, args, { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (output += text));
    child.on("error", (error) => {
      output += error.message;
      resolve(null);
    });
    child.on("close", resolve);
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${output}== ${title}: ${code === 0 ? "ok" : "FAILED"} in ${seconds} s`);
  return code === 0;
}

/**
 * The tools in their pinned versions, installed again when these change. The machine's settings configure pip's index.
 */
export async function prepareTools(): Promise<boolean> {
  const wanted = createHash("sha256")
    .update(readFileSync(join(folder, "requirements-dev.txt")))
    .digest("hex");
  const stamp = join(folder, ".venv/dev/made-from");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return true;
  console.log("making the virtual environment of the Python client, for half a minute");
  const made =
    (await succeeds("venv", process.env.PYTHON ?? "python3", ["-m", "venv", "--clear", ".venv/dev"])) &&
    (await succeeds("pip install", join(bin, "pip"), ["install", "-q", "-r", "requirements-dev.txt"]));
  if (made) writeFileSync(stamp, wanted);
  return made;
}

/** Returns the wheel's file in the destination, or undefined if it could not be built. */
export async function buildWheel(destination: string): Promise<string | undefined> {
  const made = mkdtempSync(join(folder, ".venv/wheel-"));
  try {
    const build = ["wheel", "-q", "--no-deps", "--no-build-isolation", "-w", made, folder];
    if (!(await succeeds("build the wheel", join(bin, "pip"), build))) return undefined;
    const [name = ""] = readdirSync(made);
    renameSync(join(made, name), join(destination, name));
    return join(destination, name);
  } finally {
    rmSync(made, { recursive: true });
  }
}
