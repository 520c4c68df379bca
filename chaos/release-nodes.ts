import { startBalancer } from "@perch/testkit/installation/balancer.ts";
import { type DurablePostgres, startDurablePostgres } from "@perch/testkit/installation/durable-postgres.ts";
import { waitUntilRegistered } from "@perch/testkit/installation/engine-registration.ts";
import { createMasterKey, installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { acceptsConnections, freePort } from "@perch/testkit/installation/server-process.ts";
import { startValkey, type ValkeyProcess } from "@perch/testkit/installation/valkey-process.ts";
import { isOk } from "./is-ok.ts";
import { createPerchProcess, type PerchProcess, runPerch } from "./perch-process.ts";

/** The same code under two names, because a run that the engine binds to a release does not continue at the other. */
export type Release = "before" | "after";

/** A process of Perch that can be killed, and started as either release. */
export interface ReleaseNode {
  readonly name: string;
  readonly pid: () => number | undefined;
  readonly start: (release: Release) => Promise<void>;
  readonly kill: () => Promise<void>;
}

export interface Nodes {
  readonly settings: NodeJS.ProcessEnv;
  readonly postgres: DurablePostgres;
  readonly valkey: ValkeyProcess;
  readonly engine: RestateCluster;
  readonly workers: readonly ReleaseNode[];
  readonly apis: readonly ReleaseNode[];
  readonly apiUrls: readonly string[];
  /** One address for both API nodes. */
  readonly publicUrl: string;
}

export type Stops = (() => unknown)[];

function createNode(
  name: string,
  role: "serve" | "work",
  settingsOf: (release: Release) => NodeJS.ProcessEnv,
  answers: () => Promise<boolean>,
): ReleaseNode {
  let process: PerchProcess | undefined;
  return {
    name,
    pid: () => process?.pid(),
    start: async (release) => {
      process = createPerchProcess(role, settingsOf(release), answers);
      await process.start();
    },
    kill: async () => process?.kill(),
  };
}

/** Each release has an address of its own at which the engine calls its workers, as in an upgrade. */
async function createWorkers(settings: NodeJS.ProcessEnv, stops: Stops): Promise<ReleaseNode[]> {
  const ports = [await freePort(), await freePort()];
  const addresses = { before: await startBalancer(ports), after: await startBalancer(ports) };
  for (const { close } of Object.values(addresses)) stops.push(close);
  return ports.map((port, i) => {
    const settingsOf = (release: Release) => ({
      ...settings,
      PERCH_RELEASE: release,
      PERCH_WORKER_PORT: String(port),
      PERCH_WORKER_URL: addresses[release].url,
    });
    return createNode(`worker ${i + 1}`, "work", settingsOf, () => acceptsConnections(port));
  });
}

const createApis = (settings: NodeJS.ProcessEnv, ports: readonly number[]): ReleaseNode[] =>
  ports.map((port, i) => {
    const settingsOf = (release: Release) => ({ ...settings, PERCH_RELEASE: release, PERCH_PORT: String(port) });
    return createNode(`API node ${i + 1}`, "serve", settingsOf, () => isOk(`http://127.0.0.1:${port}/readyz`));
  });

/** Starts them at the same time. Those that have started are stopped even if another does not start. */
async function startStores(stops: Stops, engineNodes: 1 | 3) {
  const startAnd = async <T>(starting: Promise<T>, end: (started: T) => () => unknown): Promise<T> => {
    const started = await starting;
    stops.push(end(started));
    return started;
  };
  const starting = [
    startAnd(startDurablePostgres(), ({ drop }) => drop),
    startAnd(startValkey(), ({ kill }) => kill),
    startAnd(startRestate(engineNodes, engineNodes === 3 ? 6 : 4), ({ stop }) => stop),
  ] as const;
  await Promise.allSettled(starting);
  return Promise.all(starting);
}

/**
 * Starts two API nodes behind one address, two workers and as many engine nodes. Adds the functions that stop them to
 * `stops`.
 */
export async function startNodes(
  stops: Stops,
  engineNodes: 1 | 3,
  extraSettings: (publicUrl: string) => NodeJS.ProcessEnv,
): Promise<Nodes> {
  const [postgres, valkey, engine] = await startStores(stops, engineNodes);
  const apiPorts = [await freePort(), await freePort()];
  const { url: publicUrl, close } = await startBalancer(apiPorts);
  stops.push(close);
  const settings = {
    ...installationSettings({ database: postgres, valkeyUrl: valkey.url, engine, masterKey: createMasterKey() }),
    PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
    PERCH_LOG_LEVEL: "warn",
    ...extraSettings(publicUrl),
  };
  await runPerch({ ...settings, PERCH_RELEASE: "before" }, ["migrate"]);
  const workers = await createWorkers(settings, stops);
  const apis = createApis(settings, apiPorts);
  const nodes = [...workers, ...apis];
  stops.push(() => Promise.all(nodes.map((node) => node.kill())));
  await Promise.all(nodes.map((node) => node.start("before")));
  await waitUntilRegistered(engine);
  const apiUrls = apiPorts.map((port) => `http://127.0.0.1:${port}`);
  return { settings, postgres, valkey, engine, workers, apis, apiUrls, publicUrl };
}
