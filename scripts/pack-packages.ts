import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildWheel, prepareTools } from "../sdk-python/tools.ts";
import { buildPackages } from "./build-packages.ts";
import { refuseUnfitTarball } from "./packed-contents.ts";

/** Builds everything that is published: `node scripts/pack-packages.ts <folder>` packs the npm packages and the Python wheel. */

const root = join(import.meta.dirname, "..");
const published = ["contract", "sdk", "console", "server", "cli"];

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
}

/** Returns the tarballs for npm by the folder of their package. */
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

function print(name: string, file: string): void {
  const bytes = readFileSync(file);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  console.log(`${name}: ${file}\n  ${bytes.length.toLocaleString("en")} bytes, sha256 ${sha256}`);
}

if (import.meta.main) {
  const [, , destination = "packed"] = process.argv;
  for (const [name, file] of await packPackages(destination)) print(name, file);
  const wheel = (await prepareTools()) ? await buildWheel(resolve(destination)) : undefined;
  if (wheel) print("python", wheel);
  else {
    console.error(
      "The packages for npm are made, but the wheel is not: see above. It needs Python 3.10 or newer with venv and pip (on Debian: apt-get install python3-venv). PERCH_PYTHON names another one than python3.",
    );
    process.exitCode = 1;
  }
}
