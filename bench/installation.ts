import { readFileSync } from "node:fs";
import { childrenOf } from "@perch/testkit/installation/child-processes.ts";
import type { Parts } from "@perch/testkit/installation/cpu-time.ts";
import { type DurablePostgres, startDurablePostgres } from "@perch/testkit/installation/durable-postgres.ts";
import { waitUntilRegistered } from "@perch/testkit/installation/engine-registration.ts";
import { installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { freePort, runCommand, startServer, startWorker } from "@perch/testkit/installation/server-process.ts";
import { startValkey } from "@perch/testkit/installation/valkey-process.ts";
import { type Observer, startObserver } from "./observer.ts";
import type { Stops } from "./stops.ts";
import { startWorkerBalancer } from "./worker-balancer.ts";

/** Stores of its own: PostgreSQL commits as in production, and no other load of this machine reaches them. */
export interface Stores {
  readonly database: DurablePostgres;
  readonly valkeyUrl: string;
  /** Of processes that are observed. */
  readonly settings: NodeJS.ProcessEnv;
  readonly parts: Parts;
  readonly observer: Observer;
}

/** Valkey writes its address into its command line. The function that starts it does not return its process id. */
const childAt = ({ host }: URL): number[] =>
  childrenOf(process.pid).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(` ${host}`));

export async function startStores(stops: Stops): Promise<Stores> {
  const database = await startDurablePostgres();
  stops.add(database.drop);
  const valkey = await startValkey();
  stops.add(valkey.kill);
  await runCommand(database, ["migrate"]);
  const valkeyPids = childAt(new URL(valkey.url));
  if (valkeyPids.length !== 1) throw new Error(`${valkeyPids.length} processes look like Valkey`);
  const observer = await startObserver();
  return {
    database,
    valkeyUrl: valkey.url,
    settings: {
      ...installationSettings({ valkeyUrl: valkey.url }),
      PERCH_DATABASE_MAX_CONNECTIONS: "20",
      ...observer.env,
    },
    parts: { PostgreSQL: database.pids, Valkey: () => valkeyPids },
    observer,
  };
}

export const toPids = (...pids: readonly (number | undefined)[]): number[] => pids.filter((pid) => pid !== undefined);

export const enginePids =
  ({ nodes }: RestateCluster) =>
  (): number[] =>
    toPids(...nodes.map(({ pid }) => pid()));

export interface Installation {
  readonly url: string;
  readonly database: DurablePostgres;
  readonly valkeyUrl: string;
  readonly engine: RestateCluster;
  readonly parts: Parts;
  readonly observer: Observer;
}

/** More settings for one of the workers, and for the API node. */
type WorkerSettings = (index: number) => NodeJS.ProcessEnv;

/** Starts one `serve`, and two `work` behind HAProxy. */
async function startSplit(
  stops: Stops,
  { database }: Stores,
  settings: NodeJS.ProcessEnv,
  engine: RestateCluster,
  workerSettings: WorkerSettings,
  serverSettings: NodeJS.ProcessEnv,
) {
  const ports = [await freePort(), await freePort()];
  const balancer = await startWorkerBalancer(ports);
  stops.add(balancer.stop);
  const workers: Record<string, Parts[string]> = {};
  for (const [i, port] of ports.entries()) {
    const own = { ...settings, PERCH_WORKER_PORT: String(port), PERCH_WORKER_URL: balancer.url, ...workerSettings(i) };
    const worker = await startWorker(database, own);
    stops.add(() => worker.end("SIGTERM"));
    workers[`worker ${i + 1}`] = () => toPids(worker.pid);
  }
  const server = await startServer(database, { ...settings, ...serverSettings });
  stops.add(server.stop);
  await waitUntilRegistered(engine);
  const parts: Parts = { server: () => toPids(server.child.pid), ...workers, balancer: balancer.pids };
  return { url: server.url, parts };
}

/** A process of `all`, and those that it started: PERCH_PROCESSES says how many. */
const withChildren = (pid: number | undefined): number[] => (pid === undefined ? [] : [pid, ...childrenOf(pid)]);

/** Starts all parts of Perch for a benchmark: `all`, or an API node with two workers. */
export async function startInstallation(
  stops: Stops,
  form: "all" | "split",
  workerSettings: WorkerSettings = () => ({}),
  serverSettings: NodeJS.ProcessEnv = {},
): Promise<Installation> {
  const stores = await startStores(stops);
  const engine = await startRestate(1, 2);
  stops.add(engine.stop);
  const { database, valkeyUrl, observer } = stores;
  const settings = {
    ...stores.settings,
    ...installationSettings({ engine }),
    PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
  };
  const base = { engine: enginePids(engine), ...stores.parts };
  if (form === "split") {
    const { url, parts } = await startSplit(stops, stores, settings, engine, workerSettings, serverSettings);
    return { url, database, valkeyUrl, engine, parts: { ...parts, ...base }, observer };
  }
  const server = await startServer(database, { ...settings, PERCH_WORKER_PORT: "0", ...serverSettings }, "all");
  stops.add(server.stop);
  return {
    url: server.url,
    database,
    valkeyUrl,
    engine,
    parts: { server: () => withChildren(server.child.pid), ...base },
    observer,
  };
}
