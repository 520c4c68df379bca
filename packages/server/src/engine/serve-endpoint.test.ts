import { once } from "node:events";
import { connect } from "node:http2";
import { connect as connectSocket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { createLogger } from "../platform/logger.ts";
import type { RunSteps } from "../runs/execute/run-steps.ts";
import { runServices } from "../workflows/run-agent.ts";
import { type Endpoint, serveEndpoint } from "./serve-endpoint.ts";

const steps: RunSteps = {
  begin: () => Promise.reject(new Error("not called")),
  recall: () => Promise.reject(new Error("not called")),
  model: () => Promise.reject(new Error("not called")),
  tools: () => Promise.reject(new Error("not called")),
  tool: () => Promise.reject(new Error("not called")),
  suspend: () => Promise.reject(new Error("not called")),
  resume: () => Promise.reject(new Error("not called")),
  cancel: () => Promise.reject(new Error("not called")),
  settle: () => Promise.reject(new Error("not called")),
  record: () => Promise.reject(new Error("not called")),
};

let endpoint: Endpoint | undefined;
afterEach(() => endpoint?.close());

async function serve(identityKeys: readonly string[] = []): Promise<Endpoint> {
  endpoint = await serveEndpoint({
    services: [
      ...runServices({
        steps,
        findDefinition: () => Promise.reject(new Error("not called")),
        kill: () => Promise.reject(new Error("not called")),
        defaultLogs: "shapes",
      }),
    ],
    identityKeys,
    host: "127.0.0.1",
    port: 0,
    release: "1.0.0",
    describe: () => ({ turn: 1 }),
    logger: createLogger("silent"),
  });
  return endpoint;
}

/** The status of an unauthenticated request of the engine. */
async function statusOf(port: number, path: string): Promise<number> {
  const client = connect(`http://127.0.0.1:${port}`);
  const request = client.request({ ":path": path, accept: "application/vnd.restate.endpointmanifest.v4+json" });
  const [headers] = (await once(request, "response")) as [{ ":status": number }];
  // A response that is not read keeps the connection open.
  await once(request.resume(), "close");
  client.close();
  return headers[":status"];
}

const discover = async (identityKeys: readonly string[]): Promise<number> =>
  statusOf((await serve(identityKeys)).port, "/releases/1.0.0/1/discover");

test("a worker without an identity key answers unsigned requests", async () => {
  expect(await discover([])).toBe(200);
});

test("a worker with an identity key refuses unsigned requests", async () => {
  expect(await discover(["publickeyv1_2G8dCQhArfvGpzPw5Vx2ALciR4xCLHfS5YaT93XjNxX9"])).toBe(401);
});

test("a worker answers 503 to the paths of every release but its own", async () => {
  const { port } = await serve();
  expect(await statusOf(port, "/releases/1.0.0/1/discover")).toBe(200);
  expect(await statusOf(port, "/releases/1.0.0/7/discover")).toBe(200);
  expect(await statusOf(port, "/releases/1.0.0/1/health")).toBe(200);
  expect(await statusOf(port, "/health")).toBe(200);
  for (const path of [
    "/discover",
    "/releases/1.0.1/1/discover",
    "/releases/1.0.1/1/health",
    "/releases/1.0.1/1/invoke/AgentRuns/run",
  ])
    expect(await statusOf(port, path)).toBe(503);
});

test("the health pages of a worker answer over HTTP/1.1, and below the path of its own release only", async () => {
  const { port } = await serve();
  const read = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return [response.status, await response.json()];
  };
  expect(await read("/healthz")).toEqual([200, { data: { status: "alive" } }]);
  expect(await read("/readyz")).toEqual([200, { data: { status: "ready", turn: 1 } }]);
  expect(await read("/releases/1.0.0/1/healthz")).toEqual([200, { data: { status: "alive" } }]);
  expect((await read("/releases/1.0.1/1/healthz"))[0]).toBe(503);
  expect((await read("/discover"))[0]).toBe(404);
});

test("a request whose first bytes come one by one is answered, and a silent one does not delay the end", async () => {
  const { port, close } = await serve();
  const slow = connectSocket(port, "127.0.0.1");
  for (const byte of "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") {
    slow.write(byte);
    await sleep(1);
  }
  expect(await text(slow)).toContain('"alive"');
  // The beginning of HTTP/2, and then nothing.
  const undecided = connectSocket(port, "127.0.0.1").on("error", () => undefined);
  undecided.write("PR");
  await sleep(50);
  const startedAt = performance.now();
  await close();
  expect(performance.now() - startedAt).toBeLessThan(1000);
});

test("a worker that is about to stop refuses what is new, and still answers that it is healthy", async () => {
  const { port, setAccepting } = await serve();
  setAccepting(false);
  expect(await statusOf(port, "/releases/1.0.0/1/discover")).toBe(503);
  expect(await statusOf(port, "/releases/1.0.0/1/health")).toBe(200);
  setAccepting(true);
  expect(await statusOf(port, "/releases/1.0.0/1/discover")).toBe(200);
});

test("a run counts while its request is open, however that ends, and nothing else does", async () => {
  const { port, countRuns } = await serve();
  const client = connect(`http://127.0.0.1:${port}`);
  const begin = (path: string, method = "POST") =>
    client
      .request({ ":path": path, ":method": method, "content-type": "application/vnd.restate.invocation.v6" })
      .on("error", () => undefined);
  const runs = ["AgentRuns", "AgentSessions"].map((service) => begin(`/releases/1.0.0/1/invoke/${service}/run`));
  begin("/releases/1.0.0/1/invoke/Housekeeping/tick");
  begin("/releases/1.0.1/1/invoke/AgentRuns/run");
  await expect.poll(countRuns).toBe(2);
  await sleep(50);
  expect(countRuns()).toBe(2);
  runs[0]?.destroy();
  await expect.poll(countRuns).toBe(1);
  // An engine that is gone.
  client.destroy();
  await expect.poll(countRuns).toBe(0);
});
