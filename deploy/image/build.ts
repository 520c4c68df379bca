import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { findOnPath, Problem, run, stopOnSignals, withProgress } from "@perch/testkit/services/commands.ts";
import { makeApplication } from "./application.ts";
import { makeDebianLayer } from "./debian-layer.ts";
import { imageConfig } from "./image-config.ts";
import { applicationDir, type Release, sbomFile } from "./image-layout.ts";
import { addNode } from "./node-binary.ts";
import { listNpmPackages } from "./npm-packages.ts";
import { makeSbom } from "./sbom.ts";
import { sizeTable } from "./size-table.ts";
import { inspectImage, type StoredImage, writeImage } from "./write-image.ts";

/** Builds the image of the server from packages of Debian and npm, without a registry: docs/operations/image.md. */

const root = join(import.meta.dirname, "../..");

const usage = `node deploy/image/build.ts [options]

  --embedder            include the local embedder; the tag ends with -embedder
  --version VERSION     the tag and the label; that of packages/server unless given
  --name NAME           the image's name; localhost/perch-server unless given
  --sbom FILE           write the list of contents to FILE too
  --check-reproducible  build twice and compare the digests`;

interface Build extends Release {
  readonly name: string;
  readonly embedder: boolean;
  readonly createdAt: Date;
}

interface Built extends StoredImage {
  readonly sbom: string;
  readonly sizes: string;
}

async function readRelease(): Promise<{ revision: string; createdAt: Date }> {
  const git = async (...args: string[]) => (await run("git", ["-C", root, ...args])).trim();
  const epoch = process.env.SOURCE_DATE_EPOCH ?? (await git("log", "-1", "--format=%ct"));
  const changed = (await git("status", "--porcelain", "--untracked-files=no")) === "" ? "" : "-modified";
  return { revision: (await git("rev-parse", "HEAD")) + changed, createdAt: new Date(Number(epoch) * 1000) };
}

function requireTools(): void {
  const missing = ["buildah", "podman", "mmdebstrap", "dpkg-deb", "tar", "npm", "pnpm"].filter(
    (tool) => !findOnPath(tool),
  );
  if (missing.length > 0)
    throw new Problem(`Not on PATH: ${missing.join(", ")}. On Debian: apt-get install buildah podman mmdebstrap.`);
  if (process.getuid?.() !== 0) throw new Problem("Building this image needs root. deploy/image/Dockerfile does not.");
}

async function build({ name, version, revision, embedder, createdAt }: Build): Promise<Built> {
  const folder = mkdtempSync(join(tmpdir(), "perch-image-"));
  try {
    const [system, code] = [join(folder, "system"), join(folder, "code")];
    const debian = await withProgress("Debian", () => makeDebianLayer(system, folder));
    await withProgress("Node", () => addNode(system, folder));
    const application = join(code, applicationDir);
    await withProgress("packages of npm", () => makeApplication(application, folder, { embedder }));
    const npm = listNpmPackages(application);
    const sbom = makeSbom({ version, createdAt, npm, debian, root: system });
    mkdirSync(dirname(join(code, sbomFile)), { recursive: true });
    writeFileSync(join(code, sbomFile), sbom);
    const config = imageConfig({ release: { version, revision }, embedder });
    const layers = [{ folder: system }, { folder: code }];
    await withProgress(name, () => writeImage({ name, layers, config, createdAt }, folder));
    return { ...(await inspectImage(name)), sbom, sizes: sizeTable(system, application) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      embedder: { type: "boolean", default: false },
      version: { type: "string" },
      name: { type: "string", default: "localhost/perch-server" },
      sbom: { type: "string" },
      "check-reproducible": { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return console.log(usage);
  requireTools();
  const manifest = JSON.parse(readFileSync(join(root, "packages/server/package.json"), "utf8")) as Release;
  const version = values.version ?? manifest.version;
  const name = `${values.name}:${version}${values.embedder ? "-embedder" : ""}`;
  const plan: Build = { ...(await readRelease()), version, name, embedder: values.embedder };
  const built = await build(plan);
  if (values.sbom !== undefined) writeFileSync(values.sbom, built.sbom);
  console.log(`\n${built.sizes}\n\n${name}  ${(built.bytes / 1e6).toFixed(1)} MB  ${built.digest}`);
  if (!values["check-reproducible"]) return;
  const again = await build(plan);
  if (again.digest !== built.digest)
    throw new Problem(`Two builds of ${plan.revision} differ: ${built.digest} and ${again.digest}.`);
  console.log("Two builds gave the same digest.");
}

stopOnSignals();
main().catch((error: unknown) => {
  const isWrongUse = error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (isWrongUse) console.error(`${error.message}\n\n${usage}`);
  else console.error(error instanceof Problem ? error.message : error);
  process.exitCode = 1;
});
