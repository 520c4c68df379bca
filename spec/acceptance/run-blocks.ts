import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Step } from "./markdown-blocks.ts";

const root = join(import.meta.dirname, "../..");
const separator = "=== end of block ===";
/** The limit for all commands of a page together. */
const shellTimeoutMs = 300_000;

export interface Surroundings {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Puts `perch` and `npx perch` of this checkout into a folder for PATH. */
export function installCommands(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const cli = join(root, "packages/cli/src/main.ts");
  const scripts = {
    perch: `exec "${process.execPath}" --no-warnings "${cli}" "$@"`,
    npx: '[ "$1" = perch ] || { echo "npx runs nothing but perch here" >&2; exit 127; }\nshift\nnpm_command=exec exec perch "$@"',
  };
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
}

/** Ends a shell with everything that it started, and waits until all of it has ended. */
export async function endGroup({ pid }: ChildProcess): Promise<void> {
  if (pid === undefined) return;
  const signalGroup = (signal: NodeJS.Signals | 0): boolean => {
    try {
      return process.kill(-pid, signal);
    } catch {
      return false;
    }
  };
  signalGroup("SIGTERM");
  for (let attempt = 0; signalGroup(0); attempt++) {
    if (attempt === 300) signalGroup("SIGKILL");
    await sleep(100);
  }
}

const shellCommands = ({ text, exitStatus }: Step): string => {
  const commands = exitStatus === 0 ? text : `set +e\n${text}\nstatus=$?; set -e; [ $status = ${exitStatus} ]`;
  return `${commands}\nprintf '\\n%s\\n' '${separator}'`;
};

/** Runs the `sh` blocks of a page in one shell, as a reader would in a terminal, and returns what each of them printed. */
export async function runShellBlocks(blocks: readonly Step[], surroundings: Surroundings): Promise<string[]> {
  if (blocks.length === 0) return [];
  const script = ["exec 2>&1", ...blocks.map(shellCommands)].join("\n");
  const child = spawn("bash", ["-euo", "pipefail", "-c", script], {
    ...surroundings,
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const timer = setTimeout(() => void endGroup(child), shellTimeoutMs);
  const [code] = (await once(child, "exit")) as [number | null];
  clearTimeout(timer);
  // A background process that the page started would keep the pipe open.
  await endGroup(child);
  child.stdout.destroy();
  const outputs = output.split(separator).map((text) => text.trim());
  const failed = blocks[outputs.length - 1];
  if (failed) throw new Error(`The block at line ${failed.line} failed (${code ?? "stopped"}):\n${outputs.at(-1)}`);
  return outputs.slice(0, -1);
}

/** Checks the types of the `ts` blocks against the SDK, runs the blocks as one program, and returns what each of them printed. */
export async function runProgramBlocks(
  blocks: readonly Step[],
  folder: string,
  { cwd, env }: Surroundings,
): Promise<string[]> {
  if (blocks.length === 0) return [];
  mkdirSync(join(folder, "node_modules/@perch"), { recursive: true });
  symlinkSync(join(root, "packages/sdk"), join(folder, "node_modules/@perch/sdk"));
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  const isTyped = blocks.every(({ language }) => language === "ts");
  const program = join(folder, isTyped ? "program.ts" : "program.js");
  writeFileSync(program, blocks.map(({ text }) => `${text}\nconsole.log("${separator}");\n`).join("\n"));
  if (isTyped) {
    const types = ["--typeRoots", join(root, "node_modules/@types"), "--types", "node"];
    const options = ["--target", "es2024", "--module", "nodenext", "--strict", "--noEmit", "--skipLibCheck"];
    const args = ["--ignoreConfig", "--allowImportingTsExtensions", ...options, ...types, program];
    await promisify(execFile)(join(root, "node_modules/.bin/tsc"), args, { cwd: folder }).catch(
      ({ stdout }: { stdout: string }) => {
        throw new Error(`The program does not compile:\n${stdout}`);
      },
    );
  }
  const { stdout } = await promisify(execFile)(process.execPath, ["--no-warnings", program], { cwd, env });
  return stdout.split(separator).map((text) => text.trim());
}
