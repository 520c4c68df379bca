import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildPackages } from "./build-packages.ts";

/** Builds and packs every published package as for npm: `node scripts/pack-packages.ts <folder>`. */

const root = join(import.meta.dirname, "..");
const published = ["contract", "sdk", "server", "cli"];

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
}

/** Returns the tarballs by the folder of their package. */
export async function packPackages(destination: string): Promise<Map<string, string>> {
  mkdirSync(destination, { recursive: true });
  await buildPackages();
  const tarballs = new Map<string, string>();
  for (const name of published) {
    const folder = join(root, "packages", name);
    if (!existsSync(folder)) continue;
    const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
    if (scripts?.build) execFileSync("pnpm", ["run", "build"], { cwd: folder, stdio: "inherit" });
    const report = execFileSync("pnpm", ["pack", "--json", "--pack-destination", resolve(destination)], {
      cwd: folder,
      encoding: "utf8",
    });
    const { filename } = JSON.parse(report) as { filename: string };
    tarballs.set(name, resolve(destination, filename));
  }
  return tarballs;
}

if (import.meta.main) {
  const [, , destination = "packed"] = process.argv;
  for (const [name, file] of await packPackages(destination)) console.log(`${name}: ${file}`);
}
