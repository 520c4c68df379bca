import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Problem, run, waitUntil } from "../services/commands.ts";
import { developmentPassword } from "../services/layout.ts";
import { binDir, databaseSql, isPostgresInstalled, postgresRoot, runInPostgresRoot } from "../services/postgres.ts";
import { childrenOf } from "./child-processes.ts";
import { type ScratchDatabase, withClient } from "./scratch-database.ts";
import { freePort } from "./server-process.ts";

export interface DurablePostgres extends ScratchDatabase {
  /** Its data, seen from within `postgresRoot`. */
  readonly dataFolder: string;
  /** The superuser's URL of another database of this server. */
  readonly urlOf: (database: string) => string;
  /** Stops it at once and removes its data. */
  readonly loseDisk: () => Promise<void>;
  /** Creates an empty server in place of one whose disk was lost. It has no roles except the superuser. */
  readonly initialise: () => Promise<void>;
  /** Every running process of it, the postmaster first. */
  readonly pids: () => readonly number[];
  readonly start: () => Promise<void>;
  /** A fast stop, with a checkpoint, and a start. */
  readonly restart: () => Promise<void>;
  /** An immediate stop without a checkpoint: committed data must be recovered from the WAL. */
  readonly crash: () => Promise<void>;
  /** SIGSTOP of every process: connections stay open and nothing answers, as in a network partition. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => Promise<void>;
}

const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "/tmp",
  dynamic_shared_memory_type: "mmap",
  max_connections: "200",
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
};

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended in the meantime.
  }
}

interface DurableOptions {
  readonly extraSettings?: Readonly<Record<string, string>>;
}

/** Starts a separate PostgreSQL with durable commits, from the folder that `pnpm services up` installs. */
export async function startDurablePostgres({ extraSettings }: DurableOptions = {}): Promise<DurablePostgres> {
  if (!isPostgresInstalled()) throw new Problem("PostgreSQL is not installed. Run: pnpm services up");
  const port = await freePort();
  const data = `/durable-${process.pid}-${port}`;
  const passwordFile = `${data}.password`;
  const initialise = async () => {
    await run("chroot", [postgresRoot, "install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", data]);
    writeFileSync(join(postgresRoot, passwordFile), developmentPassword);
    const access = ["-U", "postgres", "-A", "scram-sha-256", `--pwfile=${passwordFile}`];
    const all = Object.entries({ ...settings, ...extraSettings });
    const stored = all.flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    await runInPostgresRoot(`${binDir}/initdb`, ["-D", data, ...access, "--locale=C.UTF-8", "-E", "UTF8", ...stored]);
    rmSync(join(postgresRoot, passwordFile));
  };
  await initialise();

  const urlOf = (role: string, database: string) =>
    `postgres://${role}:${developmentPassword}@127.0.0.1:${port}/${database}`;
  const adminUrl = urlOf("postgres", "postgres");
  let child: ChildProcess | undefined;
  const hasEnded = () => !child || child.exitCode !== null || child.signalCode !== null;

  const answers = () =>
    withClient(adminUrl, (client) => client.query("select 1")).then(
      () => true,
      () => false,
    );

  const start = async () => {
    // A direct child, so that its pid is reaped at once and not mistaken for a live server's.
    child = spawn(
      "chroot",
      [...["--userspec=postgres:postgres", postgresRoot], ...[`${binDir}/postgres`, "-D", data, "-p", String(port)]],
      { env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C.UTF-8" }, stdio: "ignore" },
    );
    if (!(await waitUntil(answers, 60))) throw new Problem("The durable PostgreSQL does not answer after 60 s");
  };

  const end = async (signal: "SIGQUIT" | "SIGINT") => {
    if (!child || hasEnded()) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  };
  const crash = () => end("SIGQUIT");

  const pids = () => (child?.pid === undefined || hasEnded() ? [] : [child.pid, ...childrenOf(child.pid)]);

  const signalAll = async (signal: "SIGSTOP" | "SIGCONT") => {
    if (child?.pid === undefined || hasEnded()) return;
    child.kill(signal); // first, so that it cannot fork another child meanwhile
    for (const pid of childrenOf(child.pid)) signalIfAlive(pid, signal);
  };

  const drop = async () => {
    await signalAll("SIGCONT");
    await crash();
    // Not by a shell command, because none can be started after an interruption.
    rmSync(join(postgresRoot, data), { recursive: true, force: true });
  };

  try {
    await start();
    await runInPostgresRoot(`${binDir}/psql`, ["-XqAt", "-v", "ON_ERROR_STOP=1", adminUrl], databaseSql);
  } catch (error) {
    await drop();
    throw error;
  }
  return {
    appUrl: urlOf("perch_server", "perch"),
    ownerUrl: urlOf("perch_owner", "perch"),
    adminUrl: urlOf("postgres", "perch"),
    pids,
    start,
    restart: async () => {
      await end("SIGINT");
      await start();
    },
    crash,
    freeze: () => signalAll("SIGSTOP"),
    thaw: () => signalAll("SIGCONT"),
    drop,
    dataFolder: data,
    urlOf: (database) => urlOf("postgres", database),
    loseDisk: drop,
    initialise,
  };
}
