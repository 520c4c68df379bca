import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";

/** The durations of one operation, in milliseconds, and its failures. */
export interface Measured {
  readonly times: number[];
  readonly errors: string[];
}

export const operations = ["invoke", "get", "list", "stream", "search", "delivery", "token"] as const;
export type Operation = (typeof operations)[number];
export type Measurements = Readonly<Record<Operation, Measured>>;

/**
 * The number of requests per operation. It is small, because the clients, all parts of Perch and the bad neighbours
 * share one machine.
 */
const perSecond = 3;
const timeoutMs = 15_000;

export interface VictimClients {
  /** The addresses that the victim's webhook and agent refer to. */
  readonly hookUrl: string;
  readonly issuer: string;
  /** Does every operation at a steady rate for so long, however long the answers take. */
  readonly measure: (seconds: number) => Promise<Measurements>;
  readonly close: () => Promise<void>;
}

/** An issuer that answers at once. Every token is new to Perch, so none is cached. */
async function startIssuer(): Promise<{ readonly issuer: string; readonly close: () => void }> {
  let issuer = "";
  const server = createServer((request, response) => {
    request.resume();
    const answers: Readonly<Record<string, object>> = {
      "/.well-known/openid-configuration": {
        issuer,
        jwks_uri: `${issuer}/keys`,
        introspection_endpoint: `${issuer}/introspect`,
      },
      "/keys": { keys: [] },
      "/introspect": { active: true, sub: "user", client_id: "perch", scope: "read:agents" },
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answers[request.url ?? ""]));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Deliveries {
  readonly url: string;
  /** Resolves when the event of the run with this message has arrived. */
  readonly wait: (message: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

async function startDeliveries(): Promise<Deliveries> {
  const waiting = new Map<string, () => void>();
  const receiver = await startWebhookReceiver(({ event }, reply) => {
    reply.end();
    const text = String(event.data.response);
    for (const [message, arrived] of waiting) if (text.includes(message)) arrived();
  });
  return {
    url: receiver.url,
    wait: async (message) => {
      const arrived = new Promise<void>((resolve) => waiting.set(message, resolve));
      const isLate = await Promise.race([arrived, sleep(timeoutMs, true, { ref: false })]);
      waiting.delete(message);
      if (isLate) throw new Error(`not delivered after ${timeoutMs} ms`);
    },
    close: receiver.close,
  };
}

type Call = (path: string, body?: object, headers?: Record<string, string>) => Promise<string>;

/** Requests go to the API nodes in turn. */
function createCall(apiUrls: readonly string[], token: string): Call {
  let calls = 0;
  return async (path, body, headers = {}) => {
    const response = await fetch(`${apiUrls[calls++ % apiUrls.length]}/v1/agents${path}`, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status} ${text.slice(0, 200)}`);
    return text;
  };
}

type Work = Readonly<Record<Operation, (n: number) => Promise<unknown>>>;

const createWork = (call: Call, deliveries: Deliveries): Work => ({
  invoke: (n) => call(`/agent-${1 + (n % 20)}/invoke`, { message: "hello" }),
  get: (n) => call(`/agent-${1 + (n % 20)}`),
  list: () => call("?limit=20"),
  stream: async (n) => {
    const text = await call(`/agent-${1 + (n % 20)}/invoke`, { message: "hello" }, { accept: "text/event-stream" });
    if (!text.includes("event: done")) throw new Error(`stream without an end: ${text.slice(-200)}`);
  },
  search: (n) => call("/agent-1/memory/search", { query: `Which colour does customer ${n % 200} like?` }),
  delivery: async (n) => {
    const message = `delivery-${n}-${performance.now()}.`;
    await Promise.all([deliveries.wait(message), call("/hooked/invoke", { message })]);
  },
  token: () => call("/guarded", undefined, { "x-user-token": `opaque-${performance.now()}` }),
});

async function measureOne(work: Work, operation: Operation, n: number, { times, errors }: Measured): Promise<void> {
  const startedMs = performance.now();
  try {
    await work[operation](n);
    times.push(performance.now() - startedMs);
  } catch (error) {
    errors.push(`${operation}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function measure(work: Work, seconds: number): Promise<Measurements> {
  const measured = Object.fromEntries(
    operations.map((name) => [name, { times: [], errors: [] } satisfies Measured]),
  ) as unknown as Measurements;
  const startedMs = performance.now();
  const running: Promise<void>[] = [];
  const steps = seconds * perSecond * operations.length;
  for (let step = 0; step < steps; step++) {
    const operation = operations[step % operations.length] as Operation;
    running.push(measureOne(work, operation, Math.floor(step / operations.length), measured[operation]));
    const nextMs = startedMs + ((step + 1) * 1000) / (perSecond * operations.length);
    await sleep(Math.max(0, nextMs - performance.now()));
  }
  await Promise.all(running);
  return measured;
}

export async function startVictimClients(apiUrls: readonly string[], token: string): Promise<VictimClients> {
  const deliveries = await startDeliveries();
  const { issuer, close: closeIssuer } = await startIssuer();
  const work = createWork(createCall(apiUrls, token), deliveries);
  return {
    hookUrl: deliveries.url,
    issuer,
    measure: (seconds) => measure(work, seconds),
    close: async () => {
      closeIssuer();
      await deliveries.close();
    },
  };
}
