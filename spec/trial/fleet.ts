import { randomBytes } from "node:crypto";
import { type Balancer, startBalancer } from "@perch/testkit/installation/balancer.ts";
import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import type { RunningCommand } from "../builders-way/measured-command.ts";
import { prepareDatabase } from "./bare-database.ts";
import type { Trial } from "./trial.ts";

export interface FleetProcess {
  readonly port: number;
  readonly url: string;
  readonly running: RunningCommand;
}

/** Two API nodes and two workers, each pair behind a balancer. */
export interface Fleet {
  readonly nodes: readonly FleetProcess[];
  readonly workers: readonly FleetProcess[];
  readonly nodeBalancer: Balancer;
  readonly workerBalancer: Balancer;
  readonly apiKey: string;
}

const isReady = (url: string) => (): Promise<boolean> =>
  fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
    ({ ok }) => ok,
    () => false,
  );

/** An engine of its own: one engine has one set of workers, and the one that runs may have those of somebody else. */
async function startEngine(trial: Trial): Promise<NodeJS.ProcessEnv> {
  const engine = await startRestate();
  trial.onEnd(engine.stop);
  return {
    PERCH_RESTATE_INGRESS_URL: engine.ingressUrls.join(","),
    PERCH_RESTATE_ADMIN_URL: engine.adminUrls.join(","),
  };
}

async function balance(trial: Trial, ports: readonly number[]): Promise<Balancer> {
  const balancer = await startBalancer(ports);
  trial.onEnd(balancer.close);
  return balancer;
}

/** `folder` is where `@perch/server` is installed. */
export async function startFleet(trial: Trial, folder: string): Promise<Fleet> {
  const { ownerUrl, serverUrl } = await prepareDatabase(trial, folder);
  const shared: NodeJS.ProcessEnv = {
    ...(await startEngine(trial)),
    PERCH_DATABASE_URL: serverUrl,
    PERCH_VALKEY_URL: serviceUrl("PERCH_VALKEY_URL"),
    PERCH_MASTER_KEY: randomBytes(32).toString("base64"),
    PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
  };
  const options = (env: NodeJS.ProcessEnv = {}) => ({ cwd: folder, env: { ...shared, ...env } });
  await trial.run(["perch-server", "migrate"], options({ PERCH_MIGRATION_DATABASE_URL: ownerUrl }));
  const create = ["perch-server", "create-organisation", "--name", "Acme", "--tier", "pro"];
  const [apiKey = ""] = /perch_\S+/.exec(await trial.run(create, options())) ?? [];
  const nodePorts = [await freePort(), await freePort()];
  const workerPorts = [await freePort(), await freePort()];
  const nodeBalancer = await balance(trial, nodePorts);
  const workerBalancer = await balance(trial, workerPorts);
  const workers: FleetProcess[] = [];
  for (const port of workerPorts) {
    const env = { PERCH_WORKER_PORT: String(port), PERCH_WORKER_URL: workerBalancer.url };
    const running = await trial.start(["perch-server", "work"], "worker registered with the engine", options(env));
    workers.push({ port, url: `http://127.0.0.1:${port}`, running });
  }
  const nodes: FleetProcess[] = [];
  for (const port of nodePorts) {
    const url = `http://127.0.0.1:${port}`;
    const env = { PERCH_PORT: String(port) };
    nodes.push({ port, url, running: await trial.start(["perch-server", "serve"], isReady(url), options(env)) });
  }
  return { nodes, workers, nodeBalancer, workerBalancer, apiKey };
}
