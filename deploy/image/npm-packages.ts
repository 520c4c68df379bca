import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface NpmPackage {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly author: string;
  readonly folder: string;
}

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string | { readonly type: string };
  readonly author?: string | { readonly name: string };
}

const isPackageFolder = (folder: string) => /(^|\/)(node_modules\/(@[^/]+\/)?[^/@][^/]*|server)$/.test(folder);

function readPackage(folder: string): NpmPackage[] {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const { name, version, license, author } = manifest;
  if (name === undefined || version === undefined) return [];
  const licence = typeof license === "string" ? license : (license?.type ?? "");
  return [{ name, version, licence, author: (typeof author === "string" ? author : author?.name) ?? "", folder }];
}

/** Every package in the application's folder, ours included, by name and version. */
export function listNpmPackages(application: string): NpmPackage[] {
  return readdirSync(application, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith("/package.json"))
    .map((path) => dirname(path))
    .filter((folder) => isPackageFolder(folder) && existsSync(join(application, folder, "package.json")))
    .flatMap((folder) => readPackage(join(application, folder)))
    .sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
}
