import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { packPackages } from "@perch/testkit/packaging/pack-packages.ts";
import { buildWheel, prepareTools } from "../sdk-python/tools.ts";

/** Builds everything that is published: `node scripts/pack-packages.ts <folder>` packs the npm packages and the Python wheel. */

function print(name: string, file: string): void {
  const bytes = readFileSync(file);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  console.log(`${name}: ${file}\n  ${bytes.length.toLocaleString("en")} bytes, sha256 ${sha256}`);
}

const [, , destination = "packed"] = process.argv;
for (const [name, file] of await packPackages(destination)) print(name, file);
const wheel = (await prepareTools()) ? await buildWheel(resolve(destination)) : undefined;
if (wheel) print("python", wheel);
else {
  console.error(
    "The packages for npm are made, but the wheel is not: see above. It needs Python 3.10 or newer with venv and pip (on Debian: apt-get install python3-venv). PYTHON names another one than python3.",
  );
  process.exitCode = 1;
}
