import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "@perch/testkit/services/commands.ts";
import { debianSources } from "@perch/testkit/services/debian.ts";
import { debianPackages, debianSuite, user } from "./image-layout.ts";

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** The control file, as scanners expect it in an image without dpkg. */
  readonly control: string;
}

/** Downloads packages and their dependencies, and checks the signatures. Returns the files. */
export async function downloadPackages(packages: readonly string[], folder: string): Promise<string[]> {
  const downloads = join(folder, "downloads");
  mkdirSync(downloads, { recursive: true });
  const root = join(folder, "extracted");
  await run("mmdebstrap", [
    "--quiet",
    "--mode=root",
    "--variant=extract",
    '--aptopt=APT::Install-Recommends "false"',
    '--aptopt=Acquire::Retries "3"',
    `--include=${packages.join(",")}`,
    `--extract-hook=cp "$1"/var/cache/apt/archives/*.deb '${downloads}'`,
    debianSuite,
    root,
    ...debianSources(debianSuite),
  ]);
  rmSync(root, { recursive: true });
  return readdirSync(downloads).map((name) => join(downloads, name));
}

const packageOf = (file: string) => /([^/]+?)_[^/]*$/.exec(file)?.[1] ?? "";

async function unpack(file: string, root: string): Promise<DebianPackage> {
  await run("dpkg-deb", ["--extract", file, root]);
  const control = await run("dpkg-deb", ["--field", file]);
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(control)?.[1] ?? "";
  return { name: field("Package"), version: field("Version"), architecture: field("Architecture"), control };
}

/** As `update-ca-certificates` does, which needs a shell and OpenSSL. */
function writeAuthorities(root: string): void {
  const files = globSync("usr/share/ca-certificates/mozilla/*.crt", { cwd: root }).sort();
  const bundle = files.map((file) => readFileSync(join(root, file), "utf8").trimEnd()).join("\n");
  writeFile(root, "etc/ssl/certs/ca-certificates.crt", `${bundle}\n`);
}

function writeFile(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Programs and scripts of the packages that nothing here calls, and files that only people at a terminal read. */
const unused = [
  "etc/ca-certificates",
  "etc/kernel",
  "etc/profile.d",
  "etc/update-motd.d",
  "usr/bin/*",
  "usr/sbin/*",
  "usr/share/base-files",
  "usr/share/bug",
  "usr/share/doc/*/!(copyright)",
  "usr/share/info",
  "usr/share/lintian",
  "usr/share/locale",
  "usr/share/man",
];

/** A Debian without shell, package manager and setuid programs: the libraries that Node needs, certificates and time zones. */
export async function makeDebianLayer(root: string, folder: string): Promise<DebianPackage[]> {
  mkdirSync(root, { recursive: true });
  const files = await downloadPackages(debianPackages, folder);
  const packages: DebianPackage[] = [];
  for (const name of debianPackages) {
    const file = files.find((path) => packageOf(path) === name);
    if (file === undefined) throw new Error(`mmdebstrap did not download ${name}`);
    packages.push(await unpack(file, root));
  }
  writeAuthorities(root);
  for (const path of globSync(unused, { cwd: root })) rmSync(join(root, path), { recursive: true });
  const account = `${user.name}:x:${user.id}:${user.id}:${user.name}:/nonexistent:/usr/sbin/nologin`;
  writeFile(root, "etc/passwd", `root:x:0:0:root:/root:/usr/sbin/nologin\n${account}\n`);
  writeFile(root, "etc/group", `root:x:0:\n${user.name}:x:${user.id}:\n`);
  // Sets the order of lookups, because glibc's default without this file has changed between its releases. Names of a
  // compose network are in both sources.
  writeFile(root, "etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n");
  symlinkSync("/usr/share/zoneinfo/Etc/UTC", join(root, "etc/localtime"));
  for (const { name, control } of packages) writeFile(root, `var/lib/dpkg/status.d/${name}`, control);
  return packages;
}
