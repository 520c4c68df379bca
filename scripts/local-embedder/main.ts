/**
 * Gets the weights of `perch/minilm`, the embedder that runs on this machine: all-MiniLM-L6-v2, quantised to 8 bits
 * (Apache-2.0). A server without them runs too; only memory that asks for this embedder does not.
 */
import { resolve } from "node:path";
import { interruption, stopOnSignals } from "../services/interruption.ts";
import { checkoutDir } from "../services/layout.ts";
import { Problem } from "../services/problem.ts";
import { ensureWeights } from "./weights.ts";

const usage = `usage: node scripts/local-embedder/main.ts [folder]
  Gets the weights of perch/minilm (download 17 MB, on disk 24 MB) into the folder, .models/minilm unless given.
  Does nothing if they are there. For another folder, set PERCH_LOCAL_EMBEDDER_DIR.`;

const [folder = resolve(checkoutDir, ".models/minilm"), ...rest] = process.argv.slice(2);
if (folder.startsWith("-") || rest.length > 0) {
  console.error(usage);
  process.exitCode = 2;
} else {
  stopOnSignals();
  try {
    await ensureWeights(resolve(folder));
  } catch (error) {
    if (interruption.signal.aborted) console.error("interrupted");
    else console.error(error instanceof Problem ? error.message : error);
    process.exitCode = interruption.signal.aborted ? 130 : 1;
  }
}
