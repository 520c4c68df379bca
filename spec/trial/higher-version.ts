import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** The next patch of a version. */
export const nextVersion = (version: string): string => version.replace(/(\d+)$/, (patch) => String(Number(patch) + 1));

/** The manifest of the next release: itself and the packages of ours that it depends on. */
export function raiseManifest(manifest: Manifest): Manifest {
  const version = nextVersion(manifest.version);
  const raised = Object.entries(manifest.dependencies ?? {}).map(([name, wanted]) => [
    name,
    name.startsWith("@perch/") ? version : wanted,
  ]);
  return { ...manifest, version, ...(manifest.dependencies && { dependencies: Object.fromEntries(raised) }) };
}

/** The same packages as a later release, in a folder of their own. */
export function packHigherVersion(tarballs: ReadonlyMap<string, string>, folder: string): Map<string, string> {
  const raised = new Map<string, string>();
  for (const [name, tarball] of tarballs) {
    const unpacked = join(folder, name);
    mkdirSync(unpacked, { recursive: true });
    execFileSync("tar", ["-xzf", tarball, "-C", unpacked]);
    const file = join(unpacked, "package/package.json");
    const manifest = JSON.parse(readFileSync(file, "utf8")) as Manifest;
    writeFileSync(file, JSON.stringify(raiseManifest(manifest)));
    const target = join(folder, basename(tarball).replace(manifest.version, nextVersion(manifest.version)));
    execFileSync("tar", ["-czf", target, "-C", unpacked, "package"]);
    rmSync(unpacked, { recursive: true });
    raised.set(name, target);
  }
  return raised;
}
