import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { removeTree } from "../services/debian-folder.ts";
import { commandLine } from "../services/processes.ts";

/**
 * For long work that may be interrupted, or done by another `up` at the same time: each has a path of its own, and `work`
 * renames what is finished. What a dead one left behind goes when the next one starts.
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
