import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Problem, stopOnSignals, withProgress } from "@perch/testkit/services/commands.ts";
import { bootstrapDebian } from "@perch/testkit/services/debian.ts";
import { debianSuite } from "./image-layout.ts";
import { writeImage } from "./write-image.ts";

/**
 * Images of the parts around the server, for tests of the compose file on a machine that reaches no registry. They
 * imitate the public images as far as the compose file relies on them, and are for tests only.
 */

const root = join(import.meta.dirname, "../..");
const entrypointFile = "/usr/local/bin/docker-entrypoint.sh";

interface Part {
  readonly packages: readonly string[];
  readonly setupHook?: string;
  /** Files to add, by their place in the image. */
  readonly files: Readonly<Record<string, string>>;
  /** Arguments of `buildah config`. */
  readonly config: readonly string[];
}

const script = (name: string) => ({ [entrypointFile]: join(import.meta.dirname, "parts", `${name}-entrypoint.sh`) });
const entrypoint = (...words: string[]) => ["--entrypoint", JSON.stringify(words)];
const searchPath = (...folders: string[]) => [
  "--env",
  `PATH=${[...folders, "/usr/sbin:/usr/bin:/sbin:/bin"].join(":")}`,
];

function restateBinary(): string {
  const pattern = `node_modules/.pnpm/@restatedev+restate-server-linux-${process.arch}@*/**/bin/restate-server`;
  const [file] = globSync(pattern, { cwd: root });
  if (file === undefined) throw new Problem("The engine's binary is not installed. Run `pnpm install` first.");
  return join(root, file);
}

const parts: Readonly<Record<string, () => Part>> = {
  postgres: () => ({
    packages: ["postgresql-17", "postgresql-17-pgvector"],
    setupHook:
      'mkdir -p "$1/etc/postgresql-common"; echo "create_main_cluster = false" > "$1/etc/postgresql-common/createcluster.conf"',
    files: script("postgres"),
    config: [
      ...entrypoint(entrypointFile),
      ...["--cmd", "postgres", "--port", "5432/tcp", "--stop-signal", "SIGINT"],
      ...["--env", "PGDATA=/var/lib/postgresql/data", "--volume", "/var/lib/postgresql/data"],
      ...searchPath("/usr/lib/postgresql/17/bin"),
    ],
  }),
  valkey: () => ({
    packages: ["valkey-server", "valkey-tools"],
    files: script("valkey"),
    config: [
      ...entrypoint(entrypointFile),
      ...["--cmd", "valkey-server", "--port", "6379/tcp", "--workingdir", "/data", "--volume", "/data"],
      ...searchPath(),
    ],
  }),
  restate: () => ({
    packages: ["ca-certificates", "libstdc++6"],
    files: { "/usr/local/bin/restate-server": restateBinary() },
    config: [
      ...entrypoint("/usr/local/bin/restate-server"),
      // The engine stores its data in ./restate-data, as in its public image.
      ...["--workingdir", "/", "--port", "8080/tcp", "--port", "9070/tcp", "--port", "5122/tcp"],
      ...searchPath("/usr/local/bin"),
    ],
  }),
  haproxy: () => ({
    packages: ["haproxy"],
    files: script("haproxy"),
    config: [
      ...entrypoint(entrypointFile),
      ...["--cmd", "haproxy -f /usr/local/etc/haproxy/haproxy.cfg", "--user", "haproxy", "--stop-signal", "SIGUSR1"],
      ...searchPath(),
    ],
  }),
};

async function buildPart(name: string, { packages, setupHook, files, config }: Part): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "perch-part-"));
  try {
    const target = join(folder, "root");
    const hook = setupHook === undefined ? {} : { setupHook };
    await bootstrapDebian({ target, suite: debianSuite, packages, ...hook });
    for (const [to, from] of Object.entries(files)) {
      mkdirSync(dirname(join(target, to)), { recursive: true });
      cpSync(from, join(target, to), { dereference: true });
    }
    await writeImage({ name, layers: [{ folder: target }], config, createdAt: new Date(0) }, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts);
  for (const name of names) {
    const part = parts[name];
    if (part === undefined) throw new Problem(`There is no part ${name}. Parts: ${Object.keys(parts).join(", ")}.`);
    const image = `localhost/perch-test-${name}`;
    await withProgress(image, () => buildPart(image, part()));
  }
}

stopOnSignals();
main().catch((error: unknown) => {
  console.error(error instanceof Problem ? error.message : error);
  process.exitCode = 1;
});
