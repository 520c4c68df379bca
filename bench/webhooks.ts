import { once } from "node:events";
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { startInstallation } from "@perch/testkit/installation/installation.ts";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { createOrganisationsWithAgent } from "./bench-organisations.ts";
import { median } from "./load.ts";

const receivers = 10;
const perSecond = Number(process.env.BENCH_EVENTS_PER_SECOND ?? 200);
const phaseSeconds = 20;
const rounds = 3;
const tickMs = 20;

type Headers = Record<string, string>;

const percentile = (values: readonly number[], q: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length * q)] ?? 0);

/**
 * One server plays all receivers, each with its own path. It records the age of each event on arrival; `/hang` never
 * answers.
 */
async function startReceivers() {
  let delays: number[] = [];
  const handleDelivery = async (request: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray()).toString("utf8");
    if (request.url?.startsWith("/hang")) return;
    const { type, created_at } = JSON.parse(body) as { type: string; created_at: string };
    // Skip the tenth, so that both phases measure the same nine.
    if (type === "agent.completed" && request.url !== `/${receivers - 1}`)
      delays.push(Date.now() - Date.parse(created_at));
    reply.end();
  };
  const server = createServer((request, reply) => void handleDelivery(request, reply).catch(() => reply.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takeDelays: () => {
      const taken = delays;
      delays = [];
      return taken;
    },
    count: () => delays.length,
    close: () => server.close().closeAllConnections(),
  };
}

async function post(url: string, headers: Headers, body: object): Promise<string> {
  const response = await fetch(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { data: { id?: string } }).data.id ?? "";
}

/** More connections would only wait in another queue. */
const agent = new Agent({ keepAlive: true, maxSockets: 128 });

const invoke = (url: string, headers: Headers): Promise<void> =>
  new Promise((resolve, reject) => {
    const call = httpRequest(`${url}/v1/agents/bench/invoke`, {
      method: "POST",
      agent,
      headers: { ...headers, "content-type": "application/json" },
    });
    call.on("error", reject);
    call.on("response", (response) => {
      response.resume().on("end", resolve);
      if (response.statusCode !== 200) reject(new Error(`invoke answers ${response.statusCode}`));
    });
    call.end('{"message": "hello"}');
  });

/** Invokes at a steady rate, without waiting for earlier runs, for each receiver in turn. */
async function load(url: string, headers: readonly Headers[]): Promise<number> {
  const total = perSecond * phaseSeconds;
  const running: Promise<void>[] = [];
  const startedAt = performance.now();
  while (running.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - startedAt) / 1000) * perSecond));
    while (running.length < due) running.push(invoke(url, headers[running.length % receivers] ?? {}));
    await sleep(tickMs);
  }
  await Promise.all(running);
  return Math.round(total / ((performance.now() - startedAt) / 1000));
}

/** Delivery delays of the same nine receivers, next to a tenth that works and next to one that never answers. */
export async function webhooks(): Promise<Record<string, number>> {
  const perch = await startInstallation({
    workers: 1,
    enginePartitions: 2,
    settings: {
      PERCH_VALKEY_URL: serviceUrl("PERCH_VALKEY_URL"),
      PERCH_DATABASE_MAX_CONNECTIONS: "20",
      PERCH_WEBHOOK_ALLOW_LOOPBACK: "true",
    },
  });
  const receiver = await startReceivers();
  try {
    const { headers } = await createOrganisationsWithAgent(perch.database, perch.url, "perch/echo");
    const events = ["agent.completed"];
    const webhookAt = (i: number, path: string) =>
      post(`${perch.url}/v1/webhooks`, headers[i] ?? {}, { url: `${receiver.url}/${path}`, events });
    for (let i = 0; i < receivers - 1; i++) await webhookAt(i, String(i));
    const expected = perSecond * phaseSeconds * ((receivers - 1) / receivers);
    const rates: number[] = [];
    const phase = async (name: string, tenth: string): Promise<number[]> => {
      const last = headers[receivers - 1] ?? {};
      const id = await webhookAt(receivers - 1, tenth);
      rates.push(await load(perch.url, headers));
      for (let waited = 0; waited < 600 && receiver.count() < expected; waited++) await sleep(100);
      const delays = receiver.takeDelays();
      await fetch(`${perch.url}/v1/webhooks/${id}`, { method: "DELETE", headers: last });
      console.error(
        `${name}: ${delays.length} of ${expected} deliveries, ${rates.at(-1)} events/s, p50 ${percentile(delays, 0.5)} ms, p99 ${percentile(delays, 0.99)} ms`,
      );
      return delays;
    };
    await phase("warming up", String(receivers - 1));
    const healthy: number[][] = [];
    const beside: number[][] = [];
    // Alternate, so that other load on the machine affects both.
    for (let round = 1; round <= rounds; round++) {
      healthy.push(await phase(`round ${round}, all healthy`, String(receivers - 1)));
      beside.push(await phase(`round ${round}, one hangs`, "hang"));
    }
    const p99 = (delays: readonly number[]) => percentile(delays, 0.99);
    const ratios = beside.map((delays, i) => p99(delays) / p99(healthy[i] ?? []));
    return {
      events_per_second: Math.min(...rates.slice(1)),
      healthy_p99_ms: median(healthy.map(p99)),
      beside_hanging_p99_ms: median(beside.map(p99)),
      p99_ratio: Math.round(median(ratios) * 100) / 100,
      delivered_share: Math.round((beside.flat().length / (expected * rounds)) * 1000) / 1000,
    };
  } finally {
    agent.destroy();
    receiver.close();
    await perch.stop();
  }
}
