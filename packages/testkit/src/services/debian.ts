import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { Problem, run, withProgress } from "./commands.ts";

interface AptSource {
  readonly uri: string;
  readonly suites: readonly string[];
}

/** The `.sources` form: stanzas of `Field: values`, continued by indented lines. */
function parseDeb822(text: string): AptSource[] {
  const withoutComments = text.replace(/^#.*\n?/gm, "");
  return withoutComments.split(/\n\s*\n/).flatMap((stanza) => {
    const fields = new Map<string, string[]>();
    for (const [, name = "", values = ""] of stanza.matchAll(/^([\w-]+):((?:.*)(?:\n[ \t]+.*)*)/gm)) {
      fields.set(name.toLowerCase(), values.trim().split(/\s+/));
    }
    const isOn = fields.get("enabled")?.[0]?.toLowerCase() !== "no" && fields.get("types")?.includes("deb");
    const uri = fields.get("uris")?.[0];
    return isOn && uri ? [{ uri, suites: fields.get("suites") ?? [] }] : [];
  });
}

/** The older form: `deb [options] uri suite components`. */
function parseOneLine(text: string): AptSource[] {
  return [...text.matchAll(/^\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)/gm)].map(([, uri = "", suite = ""]) => ({
    uri,
    suites: [suite],
  }));
}

function readAptSources(aptDir = "/etc/apt"): AptSource[] {
  const partsDir = join(aptDir, "sources.list.d");
  const parts = existsSync(partsDir) ? readdirSync(partsDir).map((name) => join(partsDir, name)) : [];
  return [join(aptDir, "sources.list"), ...parts].filter(existsSync).flatMap((file) => {
    if (file.endsWith(".sources")) return parseDeb822(readFileSync(file, "utf8"));
    return file.endsWith(".list") ? parseOneLine(readFileSync(file, "utf8")) : [];
  });
}

/** Cloud images point to a file with a list of mirrors; this takes the first one. */
function resolveMirror(uri: string): string {
  const list = /^mirror\+file:(?:\/\/)?(\/.*)$/.exec(uri)?.[1];
  if (list === undefined) return uri;
  return /^\s*([^#\s]\S*)/m.exec(readFileSync(list, "utf8"))?.[1] ?? uri;
}

interface Debian {
  /** Infinity for testing and unstable, which have no number. */
  readonly version: number;
  readonly codename: string;
}

/** Debian itself, not its descendants: their mirrors do not have Debian's suites. */
function readDebian(): Debian | undefined {
  if (!existsSync("/etc/os-release")) return undefined;
  const release = parseEnv(readFileSync("/etc/os-release", "utf8"));
  if (release.ID !== "debian") return undefined;
  return { version: Number(release.VERSION_ID ?? Infinity), codename: release.VERSION_CODENAME ?? "sid" };
}

/** This Debian if packages may be installed on it, that is, for root. */
export function installableDebian(): Debian | undefined {
  return process.getuid?.() === 0 ? readDebian() : undefined;
}

/** The mirror that this machine already uses. */
function debianMirror(): string {
  const codename = readDebian()?.codename ?? "";
  const source = readAptSources().find(({ suites }) => suites.includes(codename) || suites.includes("stable"));
  if (!source)
    throw new Problem(`no apt source for Debian ${codename} in /etc/apt: which mirror does this machine use?`);
  return resolveMirror(source.uri);
}

/** apt's lines for a suite of Debian, with its updates, and with its security fixes if this machine lists those of its own. */
export function debianSources(suite: string): string[] {
  const codename = readDebian()?.codename ?? "";
  const mirror = debianMirror();
  const security = readAptSources().find(({ suites }) => suites.includes(`${codename}-security`));
  return [
    `deb ${mirror} ${suite} main`,
    `deb ${mirror} ${suite}-updates main`,
    ...(security ? [`deb ${resolveMirror(security.uri)} ${suite}-security main`] : []),
  ];
}

/** A package is a name, or `name/suite` to take it from a suite that this machine may not list yet. */
export async function installPackages(packages: readonly string[]): Promise<void> {
  if (packages.length === 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options = ["-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300"];
  await withProgress(`apt: installing ${packages.join(" ")}`, async () => {
    for (const name of packages) addSuite(name.split("/")[1]);
    await retry(3, () => run("apt-get", [...options, "-qq", "update"], { env }));
    const install = ["install", "-y", "-qq", "--no-install-recommends", ...packages];
    await withoutAutostart(() => run("apt-get", [...options, ...install], { env }));
  });
}

function addSuite(suite: string | undefined): void {
  if (suite === undefined || readAptSources().some(({ suites }) => suites.includes(suite))) return;
  const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
  writeFileSync(
    `/etc/apt/sources.list.d/${suite}.list`,
    `deb [signed-by=${keyring}] ${debianMirror()} ${suite} main\n`,
  );
}

async function retry(attempts: number, work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      if (attempt === attempts) throw error;
    }
  }
}

/** Debian starts a service when it installs it, on its default port. `policy-rc.d` is Debian's way to prevent that. */
async function withoutAutostart(work: () => Promise<unknown>): Promise<void> {
  const policy = "/usr/sbin/policy-rc.d";
  if (existsSync(policy)) {
    await work();
    return;
  }
  writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    await work();
  } finally {
    rmSync(policy, { force: true });
  }
}

interface DebianFolder {
  readonly target: string;
  readonly suite: string;
  readonly packages: readonly string[];
  /** A shell command that runs before packages are installed, with the folder as `$1`. */
  readonly setupHook?: string;
}

/** Installs a small Debian into a folder with mmdebstrap. Programs are run in it by chroot; nothing is mounted. */
export async function bootstrapDebian({ target, suite, packages, setupHook }: DebianFolder): Promise<void> {
  const aptOptions = ['Acquire::Check-Valid-Until "false"', 'APT::Install-Recommends "false"', 'Acquire::Retries "3"'];
  const excluded = ["doc", "man", "locale"];
  await run("mmdebstrap", [
    "--quiet",
    "--variant=minbase",
    "--mode=root",
    ...aptOptions.map((option) => `--aptopt=${option}`),
    ...excluded.map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
    ...(setupHook ? [`--setup-hook=${setupHook}`] : []),
    `--include=${packages.join(",")}`,
    suite,
    target,
    `deb ${debianMirror()} ${suite} main`,
  ]);
}

/** Does not follow a mount out of the tree, should an interrupted install have left one. */
export async function removeTree(path: string): Promise<void> {
  await run("rm", ["-rf", "--one-file-system", path]);
}
