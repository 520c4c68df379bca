import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Every place that names the version of this release. The second group of a pattern is the version. */
interface VersionPlace {
  readonly file: string;
  readonly pattern: RegExp;
}

const manifest = /^(\s*"version": ")([^"]+)(")/m;
const version = String.raw`(\d+\.\d+\.\d+)`;
const imageTag = new RegExp(String.raw`(\bperch-server:)${version}()`, "g");
/** The version that a client or a server reports about itself. */
const ourselves = new RegExp(String.raw`(\bperch(?: dev)?: |\bperch/)${version}()`, "g");

export const versionPlaces: readonly VersionPlace[] = [
  { file: "package.json", pattern: manifest },
  ...["cli", "console", "contract", "sdk", "server", "testkit"].map((name) => ({
    file: `packages/${name}/package.json`,
    pattern: manifest,
  })),
  { file: "site/package.json", pattern: manifest },
  { file: "packages/contract/openapi.json", pattern: manifest },
  { file: "sdk-python/pyproject.toml", pattern: /^(version = ")([^"]+)(")/m },
  { file: "sdk-python/src/perch_sdk/_version.py", pattern: /^(__version__ = ")([^"]+)(")/m },
  { file: "deploy/compose/compose.yaml", pattern: imageTag },
  { file: "deploy/compose/cell.yaml", pattern: imageTag },
  { file: "deploy/helm/perch/Chart.yaml", pattern: /^(version: )(\S+)()/m },
  { file: "deploy/helm/perch/Chart.yaml", pattern: /^(appVersion: ")([^"]+)(")/m },
  { file: "docs/operations/drills.md", pattern: new RegExp(`(perch-(?:serve|work)@)${version}()`, "g") },
  ...["cli", "remote-agents", "tools"].map((page) => ({ file: `docs/guides/${page}.md`, pattern: ourselves })),
  { file: "docs/operations/install.md", pattern: imageTag },
  {
    file: "docs/operations/install.md",
    pattern: new RegExp(
      `(@perch/server@|/opt/perch/|perch-(?:serve|work|all)@|perch-(?:console|contract|server)-|of release |/releases/)${version}()`,
      "g",
    ),
  },
];

/** Pages that show an upgrade from this release to the next minor one. */
export const upgradePages: readonly string[] = [
  "docs/operations/upgrade.md",
  "deploy/helm/perch/README.md",
  "deploy/compose/README.md",
];

const nextMinor = (release: string): string => {
  const [major, minor] = release.split(".").map(Number);
  return `${major}.${(minor ?? 0) + 1}.0`;
};

/** Also with hyphens, as in the names of services. A sentence about the time before a release stays true. */
const anyVersion = /(?<!before )\b\d+([.-])\d+\1\d+\b/g;

function moveUpgrade(text: string, from: string, to: string): string {
  const moved = new Map([
    [from, to],
    [nextMinor(from), nextMinor(to)],
  ]);
  return text.replaceAll(anyVersion, (found, separator: string) => {
    const after = moved.get(found.replaceAll(separator, "."));
    return after === undefined ? found : after.replaceAll(".", separator);
  });
}

const matches = (text: string, pattern: RegExp): RegExpExecArray[] => {
  if (pattern.global) return [...text.matchAll(pattern)];
  const match = pattern.exec(text);
  return match ? [match] : [];
};

const read = (root: string, file: string): string => readFileSync(join(root, file), "utf8");

/** Each place with the versions that it names. A page of an upgrade counts if it begins at this version and ends at the next. */
export function readVersions(root: string): { readonly file: string; readonly versions: readonly string[] }[] {
  const places = versionPlaces.map(({ file, pattern }) => ({
    file,
    versions: matches(read(root, file), pattern).map(([, , found = ""]) => found),
  }));
  const [current = ""] = places[0]?.versions ?? [];
  const pages = upgradePages.map((file) => {
    const found = new Set(read(root, file).match(anyVersion));
    return { file, versions: found.has(current) && found.has(nextMinor(current)) ? [current] : [] };
  });
  return [...places, ...pages];
}

/**
 * `from` is the version that `upgradePages` show now. By then, changesets has written the new version to some
 * manifests.
 */
export function writeVersion(root: string, from: string, next: string): void {
  for (const { file, pattern } of versionPlaces)
    writeFileSync(join(root, file), read(root, file).replace(pattern, `$1${next}$3`));
  for (const file of upgradePages) writeFileSync(join(root, file), moveUpgrade(read(root, file), from, next));
}
