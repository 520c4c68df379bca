import { execFileSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Builds `@perch/sdk` as JavaScript and declarations: Node does not strip types under node_modules. Compiled only against the types
 * of the web platform, so that it cannot use Node's. The compiler leaves `.ts` in the imports of declarations, which some bundlers
 * cannot resolve.
 */
const root = join(import.meta.dirname, "../..");
const folder = join(root, "packages/sdk");

rmSync(join(folder, "dist"), { recursive: true, force: true });
execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", "tsconfig.build.json"], { cwd: folder, stdio: "inherit" });
for (const name of globSync("dist/**/*.d.ts", { cwd: folder })) {
  const file = join(folder, name);
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(/(from "\.{1,2}\/[^"]+)\.ts"/g, '$1.js"'));
}
