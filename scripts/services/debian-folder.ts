import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { isExecutable, run } from "./commands.ts";
import { debianMirror } from "./debian.ts";
import { servicesDir } from "./layout.ts";
import { withProgress } from "./progress.ts";

/** Debian 13 in a folder, because Debian 12 has neither PostgreSQL 17 nor pgvector. Entered by chroot, nothing is mounted. */
export const folder = join(servicesDir, "postgres/root");
export const binDir = "/usr/lib/postgresql/17/bin";

export function isFolderInstalled(): boolean {
  return isExecutable(join(folder, binDir, "postgres"));
}

export async function installFolder(): Promise<void> {
  // A name of its own: should an earlier install have been killed, its orphans cannot write into this one.
  const partial = `${folder}.installing.${process.pid}`;
  const noCluster =
    'mkdir -p "$1/etc/postgresql-common"; echo "create_main_cluster = false" > "$1/etc/postgresql-common/createcluster.conf"';
  const unread = ["doc", "man", "locale"].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  const aptOptions = ['Acquire::Check-Valid-Until "false"', 'APT::Install-Recommends "false"', 'Acquire::Retries "3"'];
  await withProgress("postgres: installing PostgreSQL 17 and pgvector (once, about a minute)", async () => {
    mkdirSync(dirname(folder), { recursive: true });
    await removeUnfinished();
    await run("mmdebstrap", [
      "--quiet",
      "--variant=minbase",
      "--mode=root",
      ...aptOptions.map((option) => `--aptopt=${option}`),
      ...unread,
      `--setup-hook=${noCluster}`,
      "--include=postgresql-17,postgresql-17-pgvector",
      "trixie",
      partial,
      `deb ${debianMirror()} trixie main`,
    ]);
    renameSync(partial, folder);
  });
}

async function removeUnfinished(): Promise<void> {
  const names = readdirSync(dirname(folder)).filter((name) => name.startsWith("root.installing."));
  for (const name of names) await removeTree(join(dirname(folder), name));
}

/** Never follows a mount out of the folder, should an interrupted install have left one. */
export async function removeTree(path: string): Promise<void> {
  await run("rm", ["-rf", "--one-file-system", path]);
}

/** A clean environment: the user's PG*, locale and TMPDIR settings mean nothing in there. */
export function runInFolder(command: string, args: readonly string[], input = ""): Promise<string> {
  const env = { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C.UTF-8" };
  return run("chroot", ["--userspec=postgres:postgres", folder, command, ...args], { env, input });
}
