import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildPackages } from "./build-packages.ts";
import { refuseUnfitTarball } from "./packed-contents.ts";

const root = join(import.meta.dirname, "../../../..");
const published = ["contract", "sdk", "console", "server", "cli"];

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
}

/** Builds and packs the npm packages as they are published, and returns the tarballs by the folder of their package. */
export async function packPackages(destination: string, names = published): Promise<Map<string, string>> {
  mkdirSync(destination, { recursive: true });
  await buildPackages(names);
  const tarballs = new Map<string, string>();
  for (const name of names) {
    const folder = join(root, "packages", name);
    console.log(`packing ${name}`);
    const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
    if (scripts?.build) execFileSync("pnpm", ["run", "build"], { cwd: folder, stdio: "inherit" });
    const report = execFileSync("pnpm", ["pack", "--json", "--pack-destination", resolve(destination)], {
      cwd: folder,
      encoding: "utf8",
    });
    const { filename } = JSON.parse(report) as { filename: string };
    const file = resolve(destination, filename);
    refuseUnfitTarball(file, root);
    tarballs.set(name, file);
  }
  return tarballs;
}
