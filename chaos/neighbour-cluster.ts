import { startBalancer } from "@perch/testkit/installation/balancer.ts";
import { type DurablePostgres, startDurablePostgres } from "@perch/testkit/installation/durable-postgres.ts";
import { waitUntilRegistered } from "@perch/testkit/installation/engine-registration.ts";
import { createMasterKey, installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { startValkey } from "@perch/testkit/installation/valkey-process.ts";
import { isOk } from "./is-ok.ts";
import { logProgress } from "./log-progress.ts";
import { createPerchProcess, runPerch } from "./perch-process.ts";

/** A process of Perch, as the suite watches it. */
export interface WatchedProcess {
  readonly name: string;
  readonly metricsUrl: string;
  /** Undefined once it has ended. */
  readonly pid: () => number | undefined;
}

export type Tenant = "free" | "pro" | "victim";

export interface NeighbourCluster {
  readonly apiUrls: readonly string[];
  readonly processes: readonly WatchedProcess[];
  readonly postgres: DurablePostgres;
  readonly engine: RestateCluster;
  /** The admin key of each organisation. */
  readonly tokens: Readonly<Record<Tenant, string>>;
  readonly stop: () => Promise<void>;
}

const maxHeapMegabytes = 512;

type Stops = (() => unknown)[];

async function startProcesses(settings: NodeJS.ProcessEnv, stops: Stops) {
  const workerPorts = [await freePort(), await freePort()];
  const apiPorts = [await freePort(), await freePort()];
  const balancer = await startBalancer(workerPorts);
  stops.push(balancer.close);
  const create = async (role: "serve" | "work", number: number, port: number) => {
    const metricsPort = await freePort();
    const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
    const own = {
      ...settings,
      PERCH_METRICS_PORT: String(metricsPort),
      ...(role === "serve"
        ? { PERCH_PORT: String(port) }
        : { PERCH_WORKER_PORT: String(port), PERCH_WORKER_URL: balancer.url }),
    };
    const readyUrl = role === "serve" ? `http://127.0.0.1:${port}/readyz` : metricsUrl;
    const name = `${role === "serve" ? "API node" : "worker"} ${number}`;
    return { name, metricsUrl, ...createPerchProcess(role, own, () => isOk(readyUrl)) };
  };
  const processes = [
    ...(await Promise.all(workerPorts.map((port, i) => create("work", i + 1, port)))),
    ...(await Promise.all(apiPorts.map((port, i) => create("serve", i + 1, port)))),
  ];
  stops.push(() => Promise.all(processes.map(({ kill }) => kill())));
  await Promise.all(processes.map(({ start }) => start()));
  return { processes, apiUrls: apiPorts.map((port) => `http://127.0.0.1:${port}`) };
}

async function createTenants(settings: NodeJS.ProcessEnv): Promise<Record<Tenant, string>> {
  const create = (name: string, tier: string) =>
    runPerch(settings, ["create-organisation", "--name", name, "--tier", tier]);
  const victim = await create("Victim", "enterprise");
  return { victim, free: await create("Bad and free", "free"), pro: await create("Bad and paying", "pro") };
}

async function start(stops: Stops): Promise<Omit<NeighbourCluster, "stop">> {
  const postgres = await startDurablePostgres();
  stops.push(postgres.drop);
  const valkey = await startValkey();
  stops.push(valkey.kill);
  const engine = await startRestate(1, 4);
  stops.push(engine.stop);
  const settings = {
    ...installationSettings({ database: postgres, valkeyUrl: valkey.url, engine, masterKey: createMasterKey() }),
    PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
    PERCH_WEBHOOK_ALLOW_LOOPBACK: "true",
    PERCH_LOG_LEVEL: "warn",
    NODE_OPTIONS: `--max-old-space-size=${maxHeapMegabytes}`,
  };
  await runPerch(settings, ["migrate"]);
  const tokens = await createTenants(settings);
  const { processes, apiUrls } = await startProcesses(settings, stops);
  await waitUntilRegistered(engine);
  logProgress("started PostgreSQL, Valkey, the engine, two API nodes and two workers");
  return { apiUrls, processes, postgres, engine, tokens };
}

/** Starts two API nodes and two workers with small heaps; `stop` ends whatever was started. */
export async function startNeighbourCluster(): Promise<NeighbourCluster> {
  const stops: Stops = [];
  const stop = async () => {
    for (const end of stops.toReversed()) await Promise.resolve(end()).catch((error: unknown) => console.error(error));
  };
  try {
    return { ...(await start(stops)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
