import { once } from "node:events";
import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { parseArgs } from "node:util";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import * as restate from "@restatedev/restate-sdk";

/**
 * Measures how a Service of Kubernetes spreads runs over workers, with a real engine. The Service is a forwarder that gives each
 * new connection to any of the workers, as kube-proxy does. A run here only waits until all of them have begun.
 */

const { values } = parseArgs({
  options: { workers: { type: "string", default: "4" }, rounds: { type: "string", default: "10" } },
});
const workerCount = Number(values.workers);
const rounds = Number(values.rounds);

interface Worker {
  readonly port: number;
  /** Runs that have begun here in this round. */
  runs: number;
}

let allBegun = Promise.withResolvers<void>();
let open: Promise<void>;

async function startWorker(): Promise<Worker> {
  const worker = { port: 0, runs: 0 };
  const handlers = {
    run: async () => {
      worker.runs += 1;
      if (workers.reduce((sum, { runs }) => sum + runs, 0) === wanted) allBegun.resolve();
      await open;
    },
  };
  const endpoint = restate.endpoint().bind(restate.service({ name: "Waiting", handlers }));
  endpoint.setLogger(() => undefined);
  const server = createHttp2Server(endpoint.http2Handler()).listen(0, "127.0.0.1");
  await once(server, "listening");
  worker.port = (server.address() as AddressInfo).port;
  return worker;
}

/** A new address, so that the engine has no connections to it yet. */
async function startService(): Promise<{ readonly url: string; readonly connections: Set<Socket> }> {
  const connections = new Set<Socket>();
  const server = createServer((client) => {
    const { port = 0 } = workers[Math.floor(Math.random() * workers.length)] ?? {};
    const target = connect(port, "127.0.0.1");
    connections.add(client);
    for (const socket of [client, target]) socket.on("error", () => undefined);
    client.on("close", () => target.destroy());
    target.on("close", () => client.destroy());
    client.pipe(target).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections };
}

async function post(url: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

/** How many connections there are, and the share of the runs that the busiest worker has, while all of them are under way. */
async function measureRound({ adminUrls: [admin], ingressUrls: [ingress] }: RestateCluster) {
  for (const worker of workers) worker.runs = 0;
  allBegun = Promise.withResolvers();
  const gate = Promise.withResolvers<void>();
  open = gate.promise;
  const { url, connections } = await startService();
  await post(`${admin}/deployments`, { uri: url, force: true });
  connections.clear();
  const calls = Array.from({ length: wanted }, () => post(`${ingress}/Waiting/run`, {}));
  await Promise.race([allBegun.promise, Promise.all(calls)]);
  const busiest = Math.max(...workers.map(({ runs }) => runs)) / wanted;
  const idle = workers.filter(({ runs }) => runs === 0).length;
  gate.resolve();
  await Promise.all(calls);
  return { connections: connections.size, busiest, idle };
}

let wanted = 0;
const workers: Worker[] = [];
for (let i = 0; i < workerCount; i++) workers.push(await startWorker());
const mean = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

console.log(`${workerCount} workers, one engine node, means of ${rounds} rounds`);
console.log(
  "| runs under way | streams per connection | connections | runs in the busiest worker | workers without a run |",
);
console.log("|---|---|---|---|---|");
for (const limit of [128, 16, 8, 4]) {
  const engine = await startRestate(1, 2, {
    RESTATE_WORKER__INVOKER__HTTP2_STREAMS_PER_CONNECTION_LIMIT: String(limit),
  });
  try {
    for (wanted of [40, 160]) {
      const measured: Awaited<ReturnType<typeof measureRound>>[] = [];
      for (let round = 0; round < rounds; round++) measured.push(await measureRound(engine));
      const cells = [
        wanted,
        limit,
        mean(measured.map(({ connections }) => connections)).toFixed(1),
        `${(100 * mean(measured.map(({ busiest }) => busiest))).toFixed(0)} %`,
        mean(measured.map(({ idle }) => idle)).toFixed(1),
      ];
      console.log(`| ${cells.join(" | ")} |`);
    }
  } finally {
    await engine.stop();
  }
}
process.exit();
