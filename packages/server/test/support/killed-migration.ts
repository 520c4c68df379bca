import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createScratchDatabase,
  type ScratchDatabase,
  withClient,
} from "@perch/testkit/installation/scratch-database.ts";
import { serverMain } from "@perch/testkit/installation/server-main.ts";
import { type Boundary, startQueryProxy } from "./query-proxy.ts";
import { dumpSchema } from "./schema-dump.ts";

const limitSeconds = 60;

interface MigrateJob {
  readonly child: ChildProcess;
  /** Resolves to its exit code or signal, and its output. */
  readonly end: Promise<string>;
}

/** The real job, `perch-server migrate`, as a process. */
function startMigrate(ownerUrl: string): MigrateJob {
  const env = { ...process.env, PERCH_MIGRATION_DATABASE_URL: ownerUrl };
  const child = spawn(process.execPath, [serverMain, "migrate"], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(0, 500);
    });
  const limit = setTimeout(() => child.kill("SIGTERM"), limitSeconds * 1000);
  const end = once(child, "close").then(([code, signal]) => {
    clearTimeout(limit);
    return code === 0 || signal === "SIGKILL" ? String(signal ?? code) : `${signal ?? code}: ${output}`;
  });
  return { child, end };
}

const countBackends = (adminUrl: string, condition: string): Promise<number> =>
  withClient(adminUrl, async (client) => {
    const { rowCount } = await client.query(
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and ${condition}`,
    );
    return rowCount ?? 0;
  });

/** Until the job has ended or waits for a lock of another one. */
async function untilEndedOrWaiting({ child }: MigrateJob, adminUrl: string): Promise<void> {
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  while (!hasEnded() && (await countBackends(adminUrl, "wait_event_type = 'Lock'")) === 0) await sleep(20);
}

/** The backend of a killed client ends by itself, and with it go its transaction and its locks. */
async function describeBackendsLeft(adminUrl: string): Promise<string[]> {
  for (let attempt = 0; attempt < 250; attempt++) {
    if ((await countBackends(adminUrl, "true")) === 0) return [];
    await sleep(20);
  }
  return ["a backend of the killed job still runs 5 s later"];
}

/** Up to six lines that only one of the two has. */
function describeDifference(actual: readonly string[], expected: readonly string[]): string[] {
  if (actual.join("\n") === expected.join("\n")) return [];
  const [has, wants] = [new Set(actual), new Set(expected)];
  const extra = actual.filter((line) => !wants.has(line)).map((line) => `only after the kill: ${line}`);
  const missing = expected.filter((line) => !has.has(line)).map((line) => `missing after the kill: ${line}`);
  return ["the schema differs", ...extra.slice(0, 3), ...missing.slice(0, 3)];
}

export interface Case extends Boundary {
  /** Whether a second job runs beside the one that is killed, or is started after it. */
  readonly second: "beside" | "afterwards";
}

export interface Migrated {
  readonly dump: readonly string[];
  readonly queries: readonly string[];
}

/** The effect of a job on a copy of the database when nothing interrupts it. */
export async function migrateUndisturbed(from: ScratchDatabase): Promise<Migrated> {
  const database = await createScratchDatabase(from.ownerUrl);
  const proxy = await startQueryProxy(database.ownerUrl);
  try {
    const end = await startMigrate(proxy.url).end;
    if (end !== "0") throw new Error(`migrate ended with ${end}`);
    return { dump: await dumpSchema(database.adminUrl), queries: [...proxy.queries] };
  } finally {
    proxy.close();
    await database.drop();
  }
}

/** Kills a job at a boundary; a second one has to finish the work. Returns the differences that remain. */
export async function describeKill(from: ScratchDatabase, expected: Migrated, at: Case): Promise<string[]> {
  const database = await createScratchDatabase(from.ownerUrl);
  let second: MigrateJob | undefined;
  const startSecond = () => {
    second = startMigrate(database.ownerUrl);
    return second;
  };
  const reachBoundary = async () => {
    if (at.second === "beside") await untilEndedOrWaiting(startSecond(), database.adminUrl);
    first.child.kill("SIGKILL");
  };
  const failures: unknown[] = [];
  const proxy = await startQueryProxy(database.ownerUrl, at, () => {
    reachBoundary().catch((error: unknown) => {
      failures.push(error);
      first.child.kill("SIGKILL");
    });
  });
  const first = startMigrate(proxy.url);
  try {
    const firstEnd = await first.end;
    const secondEnd = await (second ?? startSecond()).end;
    const left = await describeBackendsLeft(database.adminUrl);
    const found = [
      ...failures.map(String),
      ...(firstEnd === "SIGKILL" ? [] : [`the job to be killed ended with ${firstEnd}`]),
      ...(secondEnd === "0" ? [] : [`the second job ended with ${secondEnd}`]),
      ...left,
      ...(secondEnd === "0" ? describeDifference(await dumpSchema(database.adminUrl), expected.dump) : []),
    ];
    const query = expected.queries[at.query]?.trim().split("\n")[0]?.slice(0, 80);
    return found.map((line) => `killed ${at.side} query ${at.query} (${query}), second job ${at.second}: ${line}`);
  } finally {
    proxy.close();
    await database.drop();
  }
}
