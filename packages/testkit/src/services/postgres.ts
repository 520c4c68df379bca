import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Login, preparationScript, vectorSql } from "../../../server/src/db/preparation-sql.ts";
import { prepareDatabase } from "../../../server/src/db/prepare-database.ts";
import { scramVerifier } from "../../../server/src/db/scram-verifier.ts";
import { findOnPath, isExecutable, Problem, run, waitUntil, withProgress } from "./commands.ts";
import { bootstrapDebian, installableDebian, removeTree } from "./debian.ts";
import {
  addresses,
  developmentPassword,
  isExternal,
  loopback,
  parseUrl,
  ports,
  servicesDir,
  withoutPassword,
} from "./layout.ts";
import {
  type BackgroundProcess,
  exchange,
  findRunning,
  isZombie,
  logTail,
  readPid,
  type Service,
  stop,
} from "./processes.ts";

/** Debian 13 in a folder, because Debian 12 has neither PostgreSQL 17 nor pgvector. */
export const postgresRoot = join(servicesDir, "postgres/root");
export const binDir = "/usr/lib/postgresql/17/bin";
const dataDir = join(postgresRoot, "data");

export function isPostgresInstalled(): boolean {
  return isExecutable(join(postgresRoot, binDir, "postgres"));
}

async function install(): Promise<void> {
  // The name includes the pid: leftover processes of an earlier, killed install cannot write into this folder.
  const partial = `${postgresRoot}.installing.${process.pid}`;
  const setupHook =
    'mkdir -p "$1/etc/postgresql-common"; echo "create_main_cluster = false" > "$1/etc/postgresql-common/createcluster.conf"';
  await withProgress("postgres: installing PostgreSQL 17 and pgvector (once, about a minute)", async () => {
    mkdirSync(dirname(postgresRoot), { recursive: true });
    await removeUnfinishedInstalls();
    const packages = ["postgresql-17", "postgresql-17-pgvector"];
    await bootstrapDebian({ target: partial, suite: "trixie", packages, setupHook });
    renameSync(partial, postgresRoot);
  });
}

async function removeUnfinishedInstalls(): Promise<void> {
  const names = readdirSync(dirname(postgresRoot)).filter((name) => name.startsWith("root.installing."));
  for (const name of names) await removeTree(join(dirname(postgresRoot), name));
}

/** Runs a command as `postgres` in the folder, without the user's PG*, locale and TMPDIR variables. */
export function runInPostgresRoot(command: string, args: readonly string[], input = ""): Promise<string> {
  const env = { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C.UTF-8" };
  return run("chroot", ["--userspec=postgres:postgres", postgresRoot, command, ...args], { env, input });
}

const developmentLogin = (name: string): Login => ({
  name,
  verifier: scramVerifier(developmentPassword),
  replacesPassword: true,
});

/** Creates the database `perch` and its logins in a PostgreSQL of the developer's own. Passwords that exist stay as they are. */
export async function prepareExternalDatabase(): Promise<void> {
  const login = (name: string): Login => ({ ...developmentLogin(name), replacesPassword: false });
  const left = await prepareDatabase(addresses.databaseAdmin, {
    database: "perch",
    isChosen: true,
    owner: undefined,
    defaultOwner: "perch_owner",
    server: login("perch_server"),
    ownerLogin: login,
    onRoles: (_, created) => {
      if (created.length > 0) console.log(`postgres: created the roles ${created.join(", ")}`);
    },
  });
  if (left) throw new Problem(`postgres: ${left.reason} As a superuser, run: ${left.statement}`);
}

/**
 * For psql as a superuser; may run any number of times. template1 gets pgvector so that every database created later has it.
 * It connects to template1 only before `perch` exists, because a session there makes any concurrent `create database` fail.
 */
export const databaseSql = `set client_min_messages = warning;
select not exists (select from pg_database where datname = 'perch') as is_new \\gset
\\if :is_new
\\connect template1
${vectorSql}
\\endif
${preparationScript({
  database: "perch",
  owner: developmentLogin("perch_owner"),
  server: developmentLogin("perch_server"),
})}`;

const background: BackgroundProcess = {
  name: "postgres",
  pidFile: join(dataDir, "postmaster.pid"),
  commandLineParts: [`${binDir}/postgres`],
  chrootDir: postgresRoot,
  stopSignal: "SIGINT", // its "fast" shutdown; SIGTERM would wait for every client to disconnect
};

const settings = {
  listen_addresses: loopback,
  unix_socket_directories: "/tmp",
  dynamic_shared_memory_type: "mmap", // the folder has no /dev/shm
  max_connections: "400",
  shared_buffers: "256MB",
};

/** Passed at each start and not stored in the configuration file. */
const unsafeFastSettings = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];

function missingPackages(): readonly string[] {
  if (installableDebian()) return isPostgresInstalled() || findOnPath("mmdebstrap") ? [] : ["mmdebstrap"];
  throw new Problem(
    "postgres: PostgreSQL 17 is only installed by root on Debian. Start one yourself, with the pgvector extension " +
      "available, and set PERCH_DATABASE_ADMIN_URL to it as a superuser (postgres://user:password@host:port/postgres).",
  );
}

/** Sends an SSLRequest, which every PostgreSQL answers with one letter before it authenticates. */
async function answers(): Promise<boolean> {
  const request = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);
  const reply = await exchange({ url: parseUrl(addresses.databaseAdmin), defaultPort: 5432 }, request);
  return reply === "S" || reply === "N";
}

async function initialise(): Promise<void> {
  const partial = "/data.initialising";
  const passwordFile = join(postgresRoot, "tmp/password");
  await removeTree(join(postgresRoot, partial));
  await run("chroot", [postgresRoot, "install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", partial]);
  writeFileSync(passwordFile, developmentPassword);
  const access = ["-U", "postgres", "-A", "scram-sha-256", "--pwfile=/tmp/password"];
  const locale = ["--locale=C.UTF-8", "-E", "UTF8", "--no-sync"];
  const stored = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  await runInPostgresRoot(`${binDir}/initdb`, ["-D", partial, ...access, ...locale, ...stored]);
  rmSync(passwordFile);
  renameSync(join(postgresRoot, partial), dataDir);
}

async function start(): Promise<void> {
  if (!isPostgresInstalled()) await install();
  if (!existsSync(dataDir)) await initialise();
  // A killed server leaves its pid file behind, and PostgreSQL takes a zombie with that pid for a live server.
  const lastPid = readPid(background.pidFile);
  if (lastPid !== undefined) await waitUntil(() => !isZombie(lastPid), 30);
  const options = [`-p ${ports.postgres}`, ...unsafeFastSettings.map((setting) => `-c ${setting}`)].join(" ");
  const args = ["-D", "/data", "-w", "-t", "60", "-l", "/data/server.log", "-o", options, "start"];
  await runInPostgresRoot(`${binDir}/pg_ctl`, args).catch((error: unknown) => {
    throw new Problem(`postgres did not start; ${logTail(join(dataDir, "server.log"))}`, { cause: error });
  });
}

async function prepare(): Promise<void> {
  await runInPostgresRoot(`${binDir}/psql`, ["-XqAt", "-v", "ON_ERROR_STOP=1", addresses.databaseAdmin], databaseSql);
}

export const postgres: Service = {
  name: "postgres",
  isExternal: isExternal.postgres,
  address: withoutPassword(addresses.databaseAdmin),
  ports: [ports.postgres],
  dataDir,
  missingPackages,
  pid: () => findRunning(background),
  answers,
  start,
  prepare,
  stop: () => stop(background),
  version: async () => {
    if (!isPostgresInstalled() || process.getuid?.() !== 0) return isPostgresInstalled() ? "17" : "not installed";
    return /\d+\.\d+/.exec(await runInPostgresRoot(`${binDir}/postgres`, ["--version"]))?.[0] ?? "unknown";
  },
};
