import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** What a new user has and does to install the packed packages with npm, in a folder outside of the checkout. */

/** Commands that npm runs must use the Node that runs this script, and nothing of a checkout's settings reaches them. */
export const userEnvironment: NodeJS.ProcessEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PERCH_|npm_|NODE_OPTIONS$)/.test(name))),
  PATH: `${join(process.execPath, "..")}${delimiter}${process.env.PATH}`,
  NO_COLOR: "1",
};

export const npmInstall = ["install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];

const folders: Readonly<Record<string, string>> = {
  "@perch/contract": "contract",
  "@perch/sdk": "sdk",
  "@perch/server": "server",
  perch: "cli",
};

/** Makes a folder whose `npm install` installs these packages from the tarballs. */
export function writeManifest(
  folder: string,
  tarballs: ReadonlyMap<string, string>,
  packages: readonly string[],
  others: Readonly<Record<string, string>> = {},
): void {
  mkdirSync(folder, { recursive: true });
  const fileOf = (name: string) => `file:${tarballs.get(folders[name] ?? "")}`;
  // The packages are on no registry yet: their dependencies on each other are resolved to the tarballs.
  const overrides = Object.fromEntries(Object.keys(folders).map((name) => [name, fileOf(name)]));
  const dependencies = { ...Object.fromEntries(packages.map((name) => [name, fileOf(name)])), ...others };
  const manifest = { private: true, type: "module", dependencies, overrides };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
}
