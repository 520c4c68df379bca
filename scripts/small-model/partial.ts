import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { removeTree } from "@perch/testkit/services/debian.ts";
import { commandLine } from "@perch/testkit/services/processes.ts";

/**
 * For long work that may be interrupted or run concurrently by another `up`: each run writes to its own path, and `work` renames the
 * finished result. Leftovers of dead processes are removed when the next run starts.
 */
export async function withPartial(path: string, work: (partial: string) => Promise<void>): Promise<void> {
  const prefix = `${basename(path)}.partial.`;
  const isLeftOver = (name: string) =>
    name.startsWith(prefix) && !commandLine(Number(name.slice(prefix.length))).includes("small-model");
  for (const name of readdirSync(dirname(path)).filter(isLeftOver)) await removeTree(join(dirname(path), name));
  const partial = join(dirname(path), `${prefix}${process.pid}`);
  await work(partial);
  await removeTree(partial);
}
