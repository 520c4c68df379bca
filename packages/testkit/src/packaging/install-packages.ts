import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The environment and the steps of a new user who installs the packed packages with npm, in a folder outside the checkout. */

/** Commands of npm must use the Node that runs this script, and must not see a checkout's settings. */
export const userEnvironment: NodeJS.ProcessEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PERCH_|npm_|NODE_OPTIONS$)/.test(name))),
  PATH: `${join(process.execPath, "..")}${delimiter}${process.env.PATH}`,
  NO_COLOR: "1",
};

/** Nothing needs an install script, so careful users can switch them off. */
export const npmInstall = [
  ...["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"],
];

interface InstalledTree {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
}

/** The installed packages that would run a script on a machine that allows scripts. */
export function refuseInstallScripts(folder: string): void {
  const tree = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8")) as InstalledTree;
  const entries = Object.entries(tree.packages);
  if (entries.length < 10) throw new Error(`${entries.length} packages cannot be all that is installed`);
  const names = entries.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  if (names.length > 0)
    throw new Error(`These packages run a script when they are installed: ${names.join(", ")}. Do without them.`);
}

const folders: Readonly<Record<string, string>> = {
  "@perch/console": "console",
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
