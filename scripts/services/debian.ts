import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { readAptSources, resolveMirror } from "./apt-sources.ts";
import { run } from "./commands.ts";
import { Problem } from "./problem.ts";
import { withProgress } from "./progress.ts";

export interface Debian {
  /** Infinity for testing and unstable, which have no number. */
  readonly version: number;
  readonly codename: string;
}

/** Debian itself, not its descendants: their mirrors do not hold Debian's suites. */
function thisDebian(): Debian | undefined {
  if (!existsSync("/etc/os-release")) return undefined;
  const release = parseEnv(readFileSync("/etc/os-release", "utf8"));
  if (release.ID !== "debian") return undefined;
  return { version: Number(release.VERSION_ID ?? Infinity), codename: release.VERSION_CODENAME ?? "sid" };
}

/** The Debian we may install on, if this is one. */
export function writableDebian(): Debian | undefined {
  return process.getuid?.() === 0 ? thisDebian() : undefined;
}

/** The mirror this machine already uses, whatever it is. */
export function debianMirror(): string {
  const codename = thisDebian()?.codename ?? "";
  const source = readAptSources().find(({ suites }) => suites.includes(codename) || suites.includes("stable"));
  if (!source)
    throw new Problem(`no apt source for Debian ${codename} in /etc/apt: which mirror does this machine use?`);
  return resolveMirror(source.uri);
}

/** A package is a name, or `name/suite` to take it from a suite that this machine may not list yet. */
export async function installPackages(packages: readonly string[]): Promise<void> {
  if (packages.length === 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options = ["-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300"];
  await withProgress(`apt: installing ${packages.join(" ")}`, async () => {
    for (const name of packages) addSuite(name.split("/")[1]);
    await retried(3, () => run("apt-get", [...options, "-qq", "update"], { env }));
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

async function retried(attempts: number, work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      if (attempt === attempts) throw error;
    }
  }
}

/** Debian starts a service when it installs it, on its usual port; this is Debian's own way to say no. */
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
