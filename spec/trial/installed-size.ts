import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

export interface InstalledPart {
  readonly name: string;
  readonly kilobytes: number;
}

/** The packages of a `node_modules`, those of a scope one by one. */
const listPackages = (modules: string): string[] =>
  readdirSync(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(modules, name)).map((part) => `${name}/${part}`) : [name],
    );

/** From the output of `du`: the whole, which is `.`, and its packages, the largest first. */
export const readDiskUse = (output: string): InstalledPart[] =>
  output
    .trim()
    .split("\n")
    .map((line) => line.split("\t"))
    .map(([kilobytes, path = ""]) => ({ name: path === "." ? "all" : path, kilobytes: Number(kilobytes) }))
    .sort((a, b) => b.kilobytes - a.kilobytes);

/** What lies on the disk, as `du` counts it. */
export async function measureInstalled(modules: string): Promise<InstalledPart[]> {
  const du = async (...paths: string[]) => {
    const { stdout } = await promisify(execFile)("du", ["-sk", "--", ...paths], { cwd: modules });
    return stdout;
  };
  // One call would count the packages only once: in the whole or each on its own.
  return readDiskUse((await du(".")) + (await du(...listPackages(modules))));
}
