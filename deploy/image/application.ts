import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { packPackages } from "@perch/testkit/packaging/pack-packages.ts";
import { Problem, run } from "@perch/testkit/services/commands.ts";
import { applicationDir, sbomFile } from "./image-layout.ts";
import { addMissingLicences, isLicence } from "./licences.ts";
import { listNpmPackages } from "./npm-packages.ts";
import { makeSbom } from "./sbom.ts";

/**
 * The folder with the server and its npm dependencies. The versions are those of pnpm-lock.yaml, and our own code is
 * that of the packed packages, so an image runs the same code as the packages on npm. The Dockerfile calls this file
 * for the same folder.
 */

const root = join(import.meta.dirname, "../..");
const ours = ["contract", "console", "server"];

/** pnpm installs from the lock file into a copy of the manifests: flat, without links, and without touching the checkout. */
async function installDependencies(workspace: string): Promise<void> {
  const manifests = ours.map((name) => `packages/${name}/package.json`);
  for (const file of ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests]) {
    mkdirSync(dirname(join(workspace, file)), { recursive: true });
    copyFileSync(join(root, file), join(workspace, file));
  }
  const selection = ["--filter", "@perch/server", "--prod", "--ignore-scripts"];
  await run("pnpm", ["install", "--frozen-lockfile", ...selection, "--config.node-linker=hoisted"], { cwd: workspace });
}

async function unpackPackage(tarball: string | undefined, target: string): Promise<void> {
  if (tarball === undefined) throw new Error(`nothing was packed for ${target}`);
  mkdirSync(target, { recursive: true });
  await run("tar", ["-xzf", tarball, "-C", target, "--strip-components=1", "--no-same-owner"]);
}

/** Versions that only one of our packages uses stand in a folder of its own. Links lead to our packages, which are unpacked. */
function moveOwnDependencies(from: string, to: string): void {
  if (!existsSync(from)) return;
  for (const name of readdirSync(from)) {
    if (name === ".bin" || name === "@perch") continue;
    mkdirSync(to, { recursive: true });
    renameSync(join(from, name), join(to, name));
  }
}

/** Contains only the build for this machine's processor, and nothing that only its install script needs. */
function copyEmbedder(target: string): void {
  const runtime = realpathSync(join(root, "packages/server/node_modules/onnxruntime-node"));
  const builds = join("bin/napi-v6/linux", process.arch);
  for (const name of ["onnxruntime-node", "onnxruntime-common"]) {
    const source = realpathSync(join(runtime, "..", name));
    const isWanted = (path: string) => {
      const inside = path.slice(source.length + 1);
      return !inside.startsWith("bin/") || builds.startsWith(inside) || inside.startsWith(builds);
    };
    cpSync(source, join(target, "node_modules", name), { recursive: true, filter: isWanted, dereference: true });
  }
  const weights = join(root, ".models/minilm");
  if (!existsSync(join(weights, "model.onnx")))
    throw new Problem(`The weights are not in .models/minilm. Run \`pnpm perch-server install-embedder\` first.`);
  cpSync(weights, join(target, "embedder"), { recursive: true, dereference: true });
}

/**
 * Files that Node never loads: types, sources, source maps (the server runs without --enable-source-maps), links and
 * documents.
 */
const unused = /\.(map|ts|mts|cts|md|markdown|flow|tsbuildinfo)$|^(\.bin|\.github|\.modules\.yaml|\.pnpm.*)$/;

function prune(target: string): void {
  const entries = readdirSync(target, { recursive: true, withFileTypes: true });
  for (const { name, parentPath } of entries) {
    if (unused.test(name) && !isLicence(name)) rmSync(join(parentPath, name), { recursive: true, force: true });
  }
}

interface Options {
  readonly embedder: boolean;
}

export async function makeApplication(target: string, folder: string, { embedder }: Options): Promise<void> {
  const workspace = join(folder, "workspace");
  const tarballs = await packPackages(join(folder, "packed"), ours);
  await installDependencies(workspace);
  mkdirSync(target, { recursive: true });
  renameSync(join(workspace, "node_modules"), join(target, "node_modules"));
  rmSync(join(target, "node_modules/@perch"), { recursive: true });
  await unpackPackage(tarballs.get("server"), join(target, "server"));
  for (const name of ["contract", "console"])
    await unpackPackage(tarballs.get(name), join(target, "node_modules/@perch", name));
  moveOwnDependencies(join(workspace, "packages/server/node_modules"), join(target, "server/node_modules"));
  moveOwnDependencies(
    join(workspace, "packages/contract/node_modules"),
    join(target, "node_modules/@perch/contract/node_modules"),
  );
  if (embedder) copyEmbedder(target);
  addMissingLicences(target);
  prune(target);
}

/** For the Dockerfile: `node deploy/image/application.ts <folder>` makes the folder that it copies to `/`. */
async function main([target, ...options]: string[]): Promise<void> {
  if (target === undefined) throw new Problem("Usage: node deploy/image/application.ts <folder> [--embedder]");
  const folder = mkdtempSync(join(tmpdir(), "perch-application-"));
  const application = join(target, applicationDir);
  await makeApplication(application, folder, { embedder: options.includes("--embedder") });
  rmSync(folder, { recursive: true });
  const npm = listNpmPackages(application);
  const version = npm.find(({ name }) => name === "@perch/server")?.version ?? "";
  const createdAt = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1000);
  mkdirSync(dirname(join(target, sbomFile)), { recursive: true });
  // Debian's packages are in the base image, whose own list scanners read.
  writeFileSync(join(target, sbomFile), makeSbom({ version, createdAt, npm, debian: [], root: target }));
}

if (import.meta.main) await main(process.argv.slice(2));
