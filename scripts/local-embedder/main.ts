/**
 * Downloads the weights of `perch/minilm`, the embedder that runs on this machine: all-MiniLM-L6-v2, quantised to 8 bits
 * (Apache-2.0). A server without them starts; only memory with this embedder fails. `pnpm services up` downloads them too.
 */
import { resolve } from "node:path";
import { interruption, Problem, stopOnSignals } from "../services/commands.ts";
import { ensureWeights, weightsDir } from "./weights.ts";

const usage = `usage: node scripts/local-embedder/main.ts [folder]
  Downloads the weights of perch/minilm (17 MB, on disk 24 MB) to the folder, by default .models/minilm.
  Does nothing if they are there. A server reads another folder if PERCH_LOCAL_EMBEDDER_DIR names it.`;

const [folder = weightsDir, ...rest] = process.argv.slice(2);
if (folder.startsWith("-") || rest.length > 0) {
  console.error(usage);
  process.exitCode = 2;
} else {
  stopOnSignals();
  try {
    await ensureWeights(resolve(folder));
    console.log(`local-embedder  ${resolve(folder)}`);
  } catch (error) {
    if (interruption.signal.aborted) console.error("interrupted");
    else console.error(error instanceof Problem ? error.message : error);
    process.exitCode = interruption.signal.aborted ? 130 : 1;
  }
}
