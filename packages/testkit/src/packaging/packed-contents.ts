import { execFileSync } from "node:child_process";
import { basename } from "node:path";

interface Manifest {
  readonly name?: string;
  readonly license?: string;
  readonly description?: string;
  readonly engines?: { readonly node?: string };
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
}

const required = ["package.json", "README.md", "LICENSE"];
/** npm runs these scripts when a user installs the package. */
const installScripts = ["preinstall", "install", "postinstall", "prepare"];

/** Files that a package must not be published with. Paths are relative to the package. */
export function listFlaws(paths: readonly string[], manifest: Manifest): string[] {
  const { files = [], scripts = {}, dependencies = {} } = manifest;
  const isListed = (path: string) => files.some((entry) => path === entry || path.startsWith(`${entry}/`));
  const fields = { license: manifest.license, description: manifest.description, engines: manifest.engines?.node };
  return [
    ...required.filter((path) => !paths.includes(path)).map((path) => `${path} is missing`),
    ...Object.entries(fields).flatMap(([field, value]) => (value ? [] : [`package.json has no ${field}`])),
    ...paths.filter((path) => !required.includes(path) && !isListed(path)).map((path) => `${path} is not in "files"`),
    ...paths
      .filter((path) => /\.test\.|\.snap$|(^|\/)(test|tests|node_modules)\//.test(path))
      .map((path) => `${path} is of tests`),
    ...paths
      .filter((path) => /\.ts$/.test(path) && !path.endsWith(".d.ts"))
      .map((path) => `${path} is source, which Node does not run there`),
    ...installScripts.filter((name) => scripts[name]).map((name) => `${name} would run at a user's`),
    ...Object.entries(dependencies)
      .filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
      .map(([name, version]) => `${name} is depended on as ${version}, which is not an exact version`),
  ];
}

const tar = (...args: string[]): string =>
  execFileSync("tar", args, { encoding: "utf8", maxBuffer: 100 * 1024 * 1024 });

/** Checks a tarball as npm would get it. Throws with all its flaws. */
export function refuseUnfitTarball(file: string, root: string): void {
  const paths = tar("-tzf", file)
    .split("\n")
    .filter((path) => path !== "" && !path.endsWith("/"))
    .map((path) => path.replace(/^package\//, ""));
  const manifest = JSON.parse(tar("-xzOf", file, "package/package.json")) as Manifest;
  const flaws = listFlaws(paths, manifest);
  if (tar("-xzOf", file).includes(root)) flaws.push(`a file names the folder of this checkout, ${root}`);
  if (flaws.length > 0)
    throw new Error(`${basename(file)} is not fit for npm:\n${flaws.map((flaw) => `- ${flaw}`).join("\n")}`);
}
