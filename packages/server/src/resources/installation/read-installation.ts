import { hostname } from "node:os";
import type { Installation, InstallationPart } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import { pendingMigrations, type Schema } from "../../db/migrate.ts";
import { listTurns, type Turn } from "../../db/releases.ts";
import { describePending } from "../../platform/health-checks.ts";
import { version } from "../../platform/version.ts";
import { countWaitingTasks } from "../engine-tasks/engine-task-queries.ts";
import { createEngineCheck, type EngineAddresses } from "./engine-status.ts";
import { type DatabaseFacts, findDatabaseFacts } from "./installation-queries.ts";
import { createPartCheck, notConfigured } from "./part-check.ts";
import { toReleases } from "./release-rules.ts";

export interface InstallationDeps extends EngineAddresses {
  readonly db: Pick<Database, "unscoped" | "pools" | "ping">;
  readonly schema: Schema;
  readonly databaseAddress: string;
  readonly maxConnections: number;
  /** Undefined: this node does without. */
  readonly valkey: { readonly address: string; readonly readMemory: () => Promise<number | null> } | undefined;
  readonly now: () => number;
}

interface AskedDatabase extends DatabaseFacts {
  readonly latencyMs: number;
  readonly pending: readonly string[];
  readonly tasksWaiting: number;
  readonly turns: readonly Turn[];
}

/** However many people look at the installation, its parts are asked this often. */
const freshMs = 2000;

const judgeMigrations = ({ pending }: AskedDatabase): string | null =>
  pending.length === 0 ? null : describePending(pending);

async function timePing(ping: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await ping();
  return performance.now() - startedMs;
}

const createDatabaseCheck = ({ db, schema, databaseAddress }: InstallationDeps) =>
  createPartCheck({
    id: "database",
    address: databaseAddress,
    // One after the other, on one connection: they are few, and requests need the others.
    ask: async (): Promise<AskedDatabase> => ({
      latencyMs: await timePing(db.ping),
      pending: await pendingMigrations(db.unscoped, schema),
      tasksWaiting: await countWaitingTasks(db.unscoped),
      turns: await listTurns(db.unscoped),
      ...(await findDatabaseFacts(db.unscoped)),
    }),
    judge: judgeMigrations,
    latencyMs: ({ latencyMs }) => latencyMs,
  });

const createValkeyCheck = (valkey: InstallationDeps["valkey"]) =>
  valkey
    ? createPartCheck({ id: "valkey", address: valkey.address, ask: valkey.readMemory })
    : async () => ({
        part: notConfigured(
          "valkey",
          "limits and streams are in the memory of this node, which is enough for one node",
        ),
        found: undefined,
      });

function toDatabase(
  { pools }: InstallationDeps["db"],
  maxConnections: number,
  found: AskedDatabase | undefined,
): Installation["database"] {
  if (!found) return null;
  const sum = (read: (pool: Database["pools"][number]) => number) => pools.reduce((all, pool) => all + read(pool), 0);
  return {
    pending_migrations: [...found.pending],
    size_bytes: found.sizeBytes,
    oldest_transaction_seconds: found.oldestTransactionSeconds,
    connections_open: sum(({ totalCount }) => totalCount),
    connections_in_use: sum(({ totalCount, idleCount }) => totalCount - idleCount),
    connections_max: maxConnections,
    requests_waiting: sum(({ waitingCount, idleCount }) => Math.max(0, waitingCount - idleCount)),
  };
}

const toValkey = (part: InstallationPart, memoryBytes: number | null | undefined): Installation["valkey"] => ({
  memory_bytes: memoryBytes ?? null,
  limits: part.status === "ok" ? "shared" : "per_node",
});

/** Asks all parts at once, each for a limited time, and gives all readers the same answer for a while. */
export function createReadInstallation(deps: InstallationDeps): () => Promise<Installation> {
  const { db, maxConnections, now } = deps;
  const startedAt = new Date(now() - process.uptime() * 1000).toISOString();
  const checkDatabase = createDatabaseCheck(deps);
  const checkEngine = createEngineCheck(deps);
  const checkValkey = createValkeyCheck(deps.valkey);

  const read = async (): Promise<Installation> => {
    const checkedAt = new Date(now()).toISOString();
    const [database, engine, valkey] = await Promise.all([checkDatabase(), checkEngine(), checkValkey()]);
    const { deployments, invocations } = engine;
    return {
      version,
      node: { name: hostname(), started_at: startedAt },
      checked_at: checkedAt,
      parts: [database.part, ...engine.parts, valkey.part],
      database: toDatabase(db, maxConnections, database.found),
      engine: { invocations, tasks_waiting: database.found?.tasksWaiting ?? null },
      valkey: toValkey(valkey.part, valkey.found),
      releases: deployments ? toReleases(deployments, database.found?.turns ?? [], now()) : null,
    };
  };

  let last: { readonly atMs: number; readonly answer: Promise<Installation> } | undefined;
  return () => {
    const nowMs = performance.now();
    if (!last || nowMs - last.atMs >= freshMs) last = { atMs: nowMs, answer: read() };
    return last.answer;
  };
}
