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

export const versionPlaces: readonly VersionPlace[] = [
  { file: "package.json", pattern: manifest },
  ...["cli", "contract", "sdk", "server"].map((name) => ({ file: `packages/${name}/package.json`, pattern: manifest })),
  { file: "site/package.json", pattern: manifest },
  { file: "packages/contract/openapi.json", pattern: manifest },
  { file: "sdk-python/pyproject.toml", pattern: /^(version = ")([^"]+)(")/m },
  { file: "sdk-python/src/perch_sdk/_version.py", pattern: /^(__version__ = ")([^"]+)(")/m },
  { file: "deploy/compose/compose.yaml", pattern: imageTag },
  { file: "deploy/compose/cell.yaml", pattern: imageTag },
  { file: "docs/operations/install.md", pattern: imageTag },
  {
    file: "docs/operations/install.md",
    pattern: new RegExp(
      `(@perch/server@|/opt/perch/|perch-(?:serve|work|all)@|perch-(?:contract|server)-)${version}()`,
      "g",
    ),
  },
];

const matches = (text: string, pattern: RegExp): RegExpExecArray[] => {
  if (pattern.global) return [...text.matchAll(pattern)];
  const match = pattern.exec(text);
  return match ? [match] : [];
};

/** Each place with the versions that it names. */
export const readVersions = (root: string): { readonly file: string; readonly versions: readonly string[] }[] =>
  versionPlaces.map(({ file, pattern }) => ({
    file,
    versions: matches(readFileSync(join(root, file), "utf8"), pattern).map(([, , found = ""]) => found),
  }));

export function writeVersion(root: string, next: string): void {
  for (const { file, pattern } of versionPlaces) {
    const path = join(root, file);
    writeFileSync(path, readFileSync(path, "utf8").replace(pattern, `$1${next}$3`));
  }
}
