import { startBalancer } from "@perch/testkit/installation/balancer.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { waitUntil } from "@perch/testkit/services/commands.ts";
import { createEngineAdmin } from "../../packages/server/src/engine/engine-admin.ts";
import { agentRuns } from "../../packages/server/src/engine/services.ts";
import { isOk } from "../is-ok.ts";
import type { Installation } from "./installation.ts";
import type { Release, ReleaseProcess } from "./release.ts";

const nodesOfEachRole = 2;
const startSeconds = 120;

export interface ApiNode {
  readonly port: number;
  readonly process: ReleaseProcess;
}

/** A release that serves: its workers behind an address of their own, and its API nodes behind HAProxy. */
export interface Serving {
  readonly release: Release;
  readonly workerUrl: string;
  readonly workers: readonly ReleaseProcess[];
  readonly apis: ApiNode[];
}

async function untilTrue(process: ReleaseProcess, what: string, check: () => Promise<boolean>): Promise<void> {
  const checkOrFail = async () => {
    if (process.hasEnded()) throw new Error(`${process.title} has ended before ${what}`);
    return check();
  };
  if (!(await waitUntil(checkOrFail, startSeconds)))
    throw new Error(`${process.title}: ${what} did not happen in ${startSeconds} s`);
}

/** The engine sends new runs to this address. */
async function takesNewRuns({ engine }: Installation, workerUrl: string): Promise<boolean> {
  const deployments = await createEngineAdmin(engine.adminUrls).listDeployments();
  return deployments.some(({ uri, current }) => uri.startsWith(workerUrl) && current.includes(agentRuns));
}

/** A release with turns comes back to the address that it had. Release 0.1.0 must never use one again. */
async function findWorkerAddress({ workerAddresses, stops }: Installation, { name, hasTurns }: Release) {
  const known = workerAddresses.get(name);
  if (known && hasTurns) return known;
  const ports: number[] = [];
  while (ports.length < nodesOfEachRole) ports.push(await freePort());
  const balancer = await startBalancer(ports);
  stops.unshift(balancer.close);
  const address = { url: balancer.url, ports };
  workerAddresses.set(name, address);
  return address;
}

/** Starts workers and waits until new runs go to them. */
export async function startWorkers(installation: Installation, release: Release): Promise<Serving> {
  const { url, ports } = await findWorkerAddress(installation, release);
  const workers = ports.map((port) =>
    release.start("work", {
      ...installation.settings,
      PERCH_WORKER_PORT: String(port),
      PERCH_WORKER_URL: url,
    }),
  );
  installation.processes.push(...workers);
  for (const worker of workers)
    await untilTrue(worker, "its registration with the engine", () => takesNewRuns(installation, url));
  return { release, workerUrl: url, workers, apis: [] };
}

/** Starts one API node and waits until HAProxy sends requests to it. */
export async function addApiNode(installation: Installation, { release, apis }: Serving): Promise<void> {
  const port = installation.freeApiPorts.shift();
  if (port === undefined) throw new Error("HAProxy has no place for one more API node");
  const process = release.start("serve", { ...installation.settings, PERCH_PORT: String(port) });
  installation.processes.push(process);
  await untilTrue(process, "its first answer to /readyz", () => isOk(`http://127.0.0.1:${port}/readyz`));
  await installation.haproxy.untilServing(port, true);
  apis.push({ port, process });
}

export async function removeApiNode(installation: Installation, { apis }: Serving): Promise<void> {
  const node = apis.shift();
  if (!node) return;
  await stopProcess(installation, node.process);
  await installation.haproxy.untilServing(node.port, false);
  installation.freeApiPorts.push(node.port);
}

/** Stops a process as an operator does; it should end with success. */
export async function stopProcess({ uncleanEnds }: Installation, process: ReleaseProcess): Promise<void> {
  const code = await process.stop();
  if (code !== 0) uncleanEnds.push(`${process.title} ended with ${code}`);
}

/** The first release of an installation. */
export async function startFirst(installation: Installation, release: Release): Promise<Serving> {
  await release.run(installation.settings, ["migrate"]);
  const serving = await startWorkers(installation, release);
  await Promise.all(Array.from({ length: nodesOfEachRole }, () => addApiNode(installation, serving)));
  return serving;
}
