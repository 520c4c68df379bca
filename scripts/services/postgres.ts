import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addresses, developmentPassword, isExternal, parsed, withoutPassword } from "./addresses.ts";
import { findOnPath, run } from "./commands.ts";
import { databaseSql } from "./database-sql.ts";
import { writableDebian } from "./debian.ts";
import { binDir, folder, installFolder, isFolderInstalled, removeTree, runInFolder } from "./debian-folder.ts";
import { loopback, ports } from "./layout.ts";
import { Problem } from "./problem.ts";
import { findRunning, isZombie, logTail, type OwnProcess, readPid, stop } from "./processes.ts";
import type { Service } from "./service.ts";
import { exchange } from "./sockets.ts";
import { waitUntil } from "./waiting.ts";

const dataDir = join(folder, "data");

const own: OwnProcess = {
  name: "postgres",
  pidFile: join(dataDir, "postmaster.pid"),
  marks: [`${binDir}/postgres`],
  chrootDir: folder,
  stopSignal: "SIGINT", // its "fast" shutdown; SIGTERM would wait for every client to leave
};

const settings = {
  listen_addresses: loopback,
  unix_socket_directories: "/tmp",
  dynamic_shared_memory_type: "mmap", // the folder has no /dev/shm
  max_connections: "200",
  shared_buffers: "256MB",
};

/** Given at each start and not stored, so that a fault suite can start the same data with real durability. */
const unsafeFastSettings = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];

function missingPackages(): readonly string[] {
  if (writableDebian()) return isFolderInstalled() || findOnPath("mmdebstrap") ? [] : ["mmdebstrap"];
  throw new Problem(
    "postgres: PostgreSQL 17 is only installed by root on Debian. Start one yourself, with the pgvector extension " +
      "available, and set PERCH_DATABASE_ADMIN_URL to it as a superuser (postgres://user:password@host:port/postgres).",
  );
}

/** An SSLRequest, which every PostgreSQL answers with one letter before it asks who we are. */
async function answers(): Promise<boolean> {
  const request = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);
  const reply = await exchange({ url: parsed(addresses.databaseAdmin), defaultPort: 5432 }, request);
  return reply === "S" || reply === "N";
}

async function initialise(): Promise<void> {
  const partial = "/data.initialising";
  const passwordFile = join(folder, "tmp/password");
  await removeTree(join(folder, partial));
  await run("chroot", [folder, "install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", partial]);
  writeFileSync(passwordFile, developmentPassword);
  const access = ["-U", "postgres", "-A", "scram-sha-256", "--pwfile=/tmp/password"];
  const locale = ["--locale=C.UTF-8", "-E", "UTF8", "--no-sync"];
  const stored = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  await runInFolder(`${binDir}/initdb`, ["-D", partial, ...access, ...locale, ...stored]);
  rmSync(passwordFile);
  renameSync(join(folder, partial), dataDir);
}

async function start(): Promise<void> {
  if (!isFolderInstalled()) await installFolder();
  if (!existsSync(dataDir)) await initialise();
  // A killed server leaves its pid file behind, and PostgreSQL takes a zombie of that pid for a living server.
  const lastPid = readPid(own.pidFile);
  if (lastPid !== undefined) await waitUntil(() => !isZombie(lastPid), 30);
  const options = [`-p ${ports.postgres}`, ...unsafeFastSettings.map((setting) => `-c ${setting}`)].join(" ");
  const args = ["-D", "/data", "-w", "-t", "60", "-l", "/data/server.log", "-o", options, "start"];
  await runInFolder(`${binDir}/pg_ctl`, args).catch((error: unknown) => {
    throw new Problem(`postgres did not start; ${logTail(join(dataDir, "server.log"))}`, { cause: error });
  });
}

async function prepare(): Promise<void> {
  await runInFolder(`${binDir}/psql`, ["-XqAt", "-v", "ON_ERROR_STOP=1", addresses.databaseAdmin], databaseSql);
}

export const postgres: Service = {
  name: "postgres",
  isExternal: isExternal.postgres,
  address: withoutPassword(addresses.databaseAdmin),
  ports: [ports.postgres],
  dataDir,
  missingPackages,
  pid: () => findRunning(own),
  answers,
  start,
  prepare,
  stop: () => stop(own),
  version: async () => {
    if (!isFolderInstalled() || process.getuid?.() !== 0) return isFolderInstalled() ? "17" : "not installed";
    return /\d+\.\d+/.exec(await runInFolder(`${binDir}/postgres`, ["--version"]))?.[0] ?? "unknown";
  },
};
