import { startBalancer } from "./balancer.ts";
import { waitUntilRegistered } from "./engine-registration.ts";
import { installationSettings } from "./installation-settings.ts";
import { type RestateCluster, startRestate } from "./restate-process.ts";
import { createScratchDatabase, type ScratchDatabase } from "./scratch-database.ts";
import {
  freePort,
  runCommand,
  type ServerProcess,
  startServer,
  startWorker,
  type WorkerProcess,
} from "./server-process.ts";

interface InstallationOptions {
  /** API nodes, by default one. */
  readonly apis?: number;
  /** Workers in separate processes. Without any, the first API node is the worker too, if there is an engine. */
  readonly workers?: number;
  /** By default one. Without any, no agent runs. */
  readonly engineNodes?: 0 | 1 | 3;
  readonly enginePartitions?: number;
  /** A migrated database, which the caller drops, instead of a new one. */
  readonly database?: ScratchDatabase;
  /** More settings of every process. A function gets the address of the first API node. */
  readonly settings?: NodeJS.ProcessEnv | ((url: string) => NodeJS.ProcessEnv);
  /** The output of the API nodes' logs, by default the standard error. */
  readonly onLog?: (text: Buffer) => void;
}

export interface Installation {
  /** The address of the first API node. */
  readonly url: string;
  readonly urls: readonly string[];
  readonly apis: readonly ServerProcess[];
  /** Restarts an API node that has ended, by default the first, at the same address. */
  readonly startApi: (index?: number) => Promise<ServerProcess>;
  readonly workers: readonly WorkerProcess[];
  readonly database: ScratchDatabase;
  /** Has no nodes if there is no engine. */
  readonly engine: RestateCluster;
  /** With these, another process of the server joins the installation. */
  readonly settings: NodeJS.ProcessEnv;
  /** Runs one command of the server and returns its output. */
  readonly run: (...args: string[]) => Promise<string>;
  /** Creates an organisation and returns its admin key. */
  readonly createOrganisation: (name: string, tier?: "free" | "pro" | "enterprise") => Promise<string>;
  readonly stop: () => Promise<void>;
}

type Stops = (() => unknown)[];

const noEngine: RestateCluster = { nodes: [], ingressUrls: [], adminUrls: [], stop: async () => undefined };

async function createMigratedDatabase(stops: Stops): Promise<ScratchDatabase> {
  const database = await createScratchDatabase();
  stops.push(database.drop);
  await runCommand(database, ["migrate"]);
  return database;
}

async function startEngine(stops: Stops, nodes = 1, partitions?: number): Promise<RestateCluster> {
  if (nodes === 0) return noEngine;
  const engine = await startRestate(nodes, partitions);
  stops.push(engine.stop);
  return engine;
}

/** Waits for all before it fails, so that `stops` gets everything that has started. */
async function startAll<T extends readonly Promise<unknown>[]>(starting: readonly [...T]) {
  await Promise.allSettled(starting);
  return Promise.all(starting);
}

async function takePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

/** Several workers have one address, as behind a load balancer. */
async function startWorkers(stops: Stops, count: number, database: ScratchDatabase, settings: NodeJS.ProcessEnv) {
  const ports = await takePorts(count);
  const balancer = count > 1 ? await startBalancer(ports) : undefined;
  if (balancer) stops.push(balancer.close);
  const start = async (port: number): Promise<WorkerProcess> => {
    const own = { PERCH_WORKER_PORT: String(port), ...(balancer && { PERCH_WORKER_URL: balancer.url }) };
    const worker = await startWorker(database, { ...settings, ...own });
    stops.push(() => worker.end("SIGTERM"));
    return worker;
  };
  return startAll(ports.map(start));
}

/** The first is a worker too if there is an engine without separate workers. */
async function startApis(
  stops: Stops,
  ports: readonly number[],
  database: ScratchDatabase,
  settings: NodeJS.ProcessEnv,
  { isWorker, onLog }: { readonly isWorker: boolean; readonly onLog: InstallationOptions["onLog"] },
) {
  const workerPort = await freePort();
  const apis: ServerProcess[] = [];
  const startApi = async (index = 0): Promise<ServerProcess> => {
    const own = { PERCH_PORT: String(ports[index]), PERCH_WORKER_PORT: String(workerPort) };
    const role = isWorker && index === 0 ? "all" : "serve";
    const api = await startServer(database, { ...settings, ...own }, role, onLog);
    stops.push(api.stop);
    apis[index] = api;
    return api;
  };
  await startAll(ports.map((_, index) => startApi(index)));
  return { apis, startApi };
}

async function start(stops: Stops, options: InstallationOptions): Promise<Omit<Installation, "stop">> {
  const { apis: apiCount = 1, workers: workerCount = 0, settings: given = {}, onLog } = options;
  const [database, engine] = await startAll([
    options.database ? Promise.resolve(options.database) : createMigratedDatabase(stops),
    startEngine(stops, options.engineNodes, options.enginePartitions),
  ]);
  const hasEngine = engine.nodes.length > 0;
  const ports = await takePorts(apiCount);
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const [url = ""] = urls;
  const settings = {
    ...installationSettings(hasEngine ? { database, engine } : { database }),
    ...(typeof given === "function" ? given(url) : given),
  };
  const workers = await startWorkers(stops, workerCount, database, settings);
  const isWorker = hasEngine && workerCount === 0;
  const { apis, startApi } = await startApis(stops, ports, database, settings, { isWorker, onLog });
  if (hasEngine && workerCount > 0) await waitUntilRegistered(engine);
  const run = (...args: string[]) => runCommand(database, args, settings);
  const createOrganisation: Installation["createOrganisation"] = (name, tier = "pro") =>
    run("create-organisation", "--name", name, "--tier", tier);
  return { url, urls, apis, startApi, workers, database, engine, settings, run, createOrganisation };
}

/** Starts Perch as a user runs it, in separate processes, with its own database and engine. */
export async function startInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const stops: Stops = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    return { ...(await start(stops, options)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
