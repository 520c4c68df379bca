import { execFileSync } from "node:child_process";
import { chmodSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { makeTemplate } from "../../../cli/src/dev/database.ts";
import { devRelease } from "../../../cli/src/dev/server.ts";
import { migrate } from "../../../server/src/db/migrate.ts";

/**
 * Builds the JavaScript of published packages: Node does not strip types under node_modules. This is the same type stripping, done
 * once, so that the published code is the tested code, line for line. The checkout itself never uses the result.
 */

const root = join(import.meta.dirname, "../../../..");
const relativeImport = /(["'])(\.{1,2}\/[^"'\n]+)\.ts\1/g;
const isPublished = (file: string) => !/\.test\.ts$/.test(file);

function buildCode(folder: string): number {
  const files = globSync("**/*.ts", { cwd: join(folder, "src") }).filter(isPublished);
  for (const file of files) {
    const source = readFileSync(join(folder, "src", file), "utf8");
    const target = join(folder, "dist", file.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, stripTypeScriptTypes(source).replace(relativeImport, "$1$2.js$1"));
    if (source.startsWith("#!")) chmodSync(target, 0o755);
  }
  return files.length;
}

/** For packages that users import. The server and the CLI need none. */
function buildDeclarations(folder: string): void {
  const emit = ["--declaration", "--emitDeclarationOnly", "--noEmit", "false", "--rewriteRelativeImportExtensions"];
  const folders = ["--rootDir", join(folder, "src"), "--outDir", join(folder, "dist"), "--noCheck"];
  const options = ["--target", "es2024", "--module", "nodenext", "--strict", "--exactOptionalPropertyTypes"];
  const entry = join(folder, "src/index.ts");
  execFileSync(join(root, "node_modules/.bin/tsc"), ["--ignoreConfig", ...options, ...emit, ...folders, entry], {
    cwd: folder,
    stdio: "inherit",
  });
}

const built = ["contract", "server", "cli"];

export async function buildPackages(names: readonly string[] = built): Promise<void> {
  for (const name of built.filter((each) => names.includes(each))) {
    const folder = join(root, "packages", name);
    rmSync(join(folder, "dist"), { recursive: true, force: true });
    const files = buildCode(folder);
    if (name === "cli") console.log("making the database that perch dev starts from, for some seconds");
    if (name === "contract") buildDeclarations(folder);
    if (name === "cli")
      writeFileSync(
        join(folder, "dist/database.tar.gz"),
        await makeTemplate((url) => migrate(url, { releaseName: devRelease })),
      );
    console.log(`built ${name}: ${files} files`);
  }
}

if (import.meta.main) await buildPackages();
