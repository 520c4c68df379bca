import { setTimeout as sleep } from "node:timers/promises";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { startValkey, type ValkeyProcess } from "@perch/testkit/installation/valkey-process.ts";
import { startWithholdingProxy } from "@perch/testkit/installation/withholding-proxy.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { newUuid } from "../../src/platform/ids.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { shutDown } from "../../src/platform/shutdown.ts";
import { deploy } from "../support/deployment-calls.ts";
import { invokeStreaming } from "../support/event-stream-client.ts";
import { type Organisation, type Perch, startApi, startPerch } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";
import { addMemory, createAgentWithMemory } from "../support/memory-calls.ts";
import { type SilentNode, startSilentNode } from "../support/silent-node.ts";

const script = await startScriptServer((call) => {
  const message = lastUserMessage(call);
  return { reply: message, delay_ms: message.startsWith("slow") ? 4000 : message.startsWith("very slow") ? 12_000 : 0 };
});
let engine: RestateCluster;
let silent: SilentNode;
let valkey: ValkeyProcess;
let perch: Perch & { stop: () => Promise<void> };
let organisation: Organisation;

beforeAll(async () => {
  engine = await startRestate();
  silent = await startSilentNode();
  valkey = await startValkey();
  perch = await startPerch({
    ingressUrls: [silent.url, ...engine.ingressUrls],
    adminUrls: [silent.url, ...engine.adminUrls],
    scriptModelUrl: script.url,
    valkeyUrl: valkey.url,
  });
  await perch.addWorker();
  organisation = await perch.createOrganisation();
  await createScriptedAgent(organisation);
}, 60_000);
afterAll(async () => {
  await perch.stop();
  silent.close();
  await valkey.kill();
  await engine.stop();
  await script.close();
});

/** Another API node of the same installation, which has called no engine node yet. */
async function startApiNode(ingressUrls: readonly string[] = perch.server.core.config.ingressUrls) {
  const logger = createLogger("silent");
  const server = await startApi({ ...perch.server.core.config, ingressUrls: [...ingressUrls] }, logger);
  onTestFinished(() => shutDown(server.shutdownSteps, logger).then(() => undefined));
  const url = await server.app.listen({ host: "127.0.0.1", port: 0 });
  // So that the measurement includes no first connection to the database.
  const headers = { authorization: `Bearer ${organisation.adminKey}` };
  const answers = await Promise.all(Array.from({ length: 8 }, () => fetch(`${url}/v1/agents/bot`, { headers })));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  return { url };
}

/** A node of the engine that can become silent. */
async function startProxyOfEngine() {
  const proxy = await startWithholdingProxy(() => [Number(new URL(engine.ingressUrls[0] ?? "").port)]);
  onTestFinished(() => proxy.close());
  return { url: `http://127.0.0.1:${proxy.port}`, becomeSilent: () => proxy.withhold("server") };
}

interface ApiNode {
  readonly url: string;
}

const callsOf = (message: string): number => script.calls.filter((call) => lastUserMessage(call) === message).length;

async function timed<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly ms: number }> {
  const startedAt = performance.now();
  const result = await work();
  return { result, ms: performance.now() - startedAt };
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0;

/** 20 invokes at once at a node which does not know yet that its first ingress is silent, then, when those ended, 20 more. */
async function invokeTwice(
  invoke: (node: ApiNode, message: string) => Promise<number>,
  kind: string,
  ended: () => Promise<unknown> = async () => undefined,
) {
  const node = await startApiNode();
  const before = silent.connections();
  const attempt = newUuid();
  const times: number[][] = [];
  for (const round of ["first", "second"]) {
    const messages = Array.from({ length: 20 }, (_, i) => `${kind}, ${round} ${i} ${attempt}`);
    const answers = await Promise.all(messages.map((message) => timed(() => invoke(node, message))));
    const expected = kind === "in the background" ? 202 : 200;
    expect(answers.map(({ result }) => result)).toEqual(messages.map(() => expected));
    times.push(answers.map(({ ms }) => ms));
    await ended();
    expect(messages.map(callsOf)).toEqual(messages.map(() => 1));
  }
  expect(silent.connections()).toBeGreaterThan(before);
  const [first = [], second = []] = times;
  console.log(
    `${kind}: p99 ${percentile(first, 0.99).toFixed(0)} ms, once the node is known to be silent ${percentile(second, 0.99).toFixed(0)} ms`,
  );
  return { first: percentile(first, 0.99), second: percentile(second, 0.99) };
}

describe("the first of two engine nodes accepts connections and never answers", () => {
  test("the worker has registered at the other node", async () => {
    const response = await fetch(`${engine.adminUrls[0]}/deployments`);
    expect(((await response.json()) as { deployments: unknown[] }).deployments).toHaveLength(1);
  });

  test("clients that wait get their answers from the other node, and each run runs once", async () => {
    const p99 = await invokeTwice(
      async (node, message) => (await invokeAgent(node, organisation.adminKey, { message })).status,
      "waiting",
    );
    expect(p99.first).toBeLessThan(25_000);
    expect(p99.second).toBeLessThan(20_000);
  }, 60_000);

  test("runs in the background are handed to the other node", async () => {
    const started: string[] = [];
    const start = async (node: ApiNode, message: string) => {
      started.push(await invokeInBackground(node, organisation.adminKey, { message }));
      return 202;
    };
    const ended = () => Promise.all(started.map((requestId) => waitForRunRecord(organisation, requestId)));
    const p99 = await invokeTwice(start, "in the background", ended);
    expect(p99.first).toBeLessThan(25_000);
    expect(p99.second).toBeLessThan(20_000);
  }, 60_000);

  test("streams get their events", async () => {
    const p99 = await invokeTwice(async (node, message) => {
      const stream = await invokeStreaming(node, organisation.adminKey, { message });
      const events = await stream.readAll();
      expect(events.at(-1)).toMatchObject({ event: "done", data: { response: message } });
      return stream.status;
    }, "streamed");
    expect(p99.first).toBeLessThan(25_000);
    expect(p99.second).toBeLessThan(20_000);
  }, 60_000);

  test("a deployment becomes active, and a memory is cleared", async () => {
    expect((await deploy(organisation, { version: "v1", environment: "staging" })).status).toBe("active");
    await createAgentWithMemory(organisation, {}, "with-memory");
    await addMemory(organisation, "a fact", "with-memory");
    const cleared = await organisation.call("DELETE /v1/agents/{agent_id}/memory", {
      params: { agent_id: "with-memory" },
    });
    expect(cleared.status).toBe(200);
  }, 60_000);
});

describe("an engine node becomes silent while clients wait there", () => {
  test("they get their answers from the other node, and each run runs once", async () => {
    const proxy = await startProxyOfEngine();
    const other = await startApiNode([proxy.url, ...engine.ingressUrls]);
    const messages = Array.from({ length: 20 }, (_, i) => `slow ${i}`);
    const waiting = messages.map((message) =>
      timed(() => invokeAgent(other, organisation.adminKey, { message, context: { session_id: message } })),
    );
    await expect.poll(() => messages.every((each) => callsOf(each) === 1), { timeout: 10_000 }).toBe(true);
    proxy.becomeSilent();
    const answers = await Promise.all(waiting);
    expect(answers.map(({ result }) => [result.status, result.data.response])).toEqual(
      messages.map((each) => [200, each]),
    );
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(20_000);
    expect(messages.map(callsOf)).toEqual(messages.map(() => 1));
  }, 60_000);
});

describe("no engine node can be reached", () => {
  const prefer = (value: string) => ({ headers: { prefer: value } });
  const kinds = {
    "that waits": (node: ApiNode) => invokeAgent(node, organisation.adminKey, { message: "hello" }),
    "that waits for a second": (node: ApiNode) =>
      invokeAgent(node, organisation.adminKey, { message: "hello" }, prefer("wait=1")),
    "that does not wait": (node: ApiNode) =>
      invokeAgent(node, organisation.adminKey, { message: "hello" }, prefer("respond-async")),
    "that reads a stream": (node: ApiNode) =>
      invokeAgent(node, organisation.adminKey, { message: "hello" }, { headers: { accept: "text/event-stream" } }),
    "with an Idempotency-Key": (node: ApiNode) =>
      invokeAgent(node, organisation.adminKey, { message: "hello" }, { headers: { "idempotency-key": "unreachable" } }),
  };
  test.each(["silent", "closed"])(
    "%s: every client gets 503 within 5 s, with the next step",
    async (how) => {
      const ingressUrls = how === "silent" ? [silent.url, silent.url, silent.url] : ["http://127.0.0.1:1"];
      const other = await startApiNode(ingressUrls);
      const answers = await Promise.all(Object.values(kinds).map((invoke) => timed(() => invoke(other))));
      for (const { result, ms } of answers) {
        expect([result.status, result.error.code]).toEqual([503, "unavailable"]);
        expect(result.error.message).toContain("Try again shortly, with the same Idempotency-Key");
        // On a machine that stands still meanwhile, the others may be later.
        expect(ms).toBeLessThan(15_000);
      }
      expect(Math.min(...answers.map(({ ms }) => ms))).toBeLessThan(5000);
    },
    200_000,
  );

  test("after it took the run: the client gets 202 when its wait is over, and the run ends", async () => {
    const proxy = await startProxyOfEngine();
    const other = await startApiNode([proxy.url]);
    const message = "very slow, and taken";
    const waiting = timed(() =>
      invokeAgent(other, organisation.adminKey, { message }, { headers: { prefer: "wait=3" } }),
    );
    await expect.poll(() => callsOf(message), { timeout: 10_000 }).toBe(1);
    await sleep(600);
    proxy.becomeSilent();
    const { result, ms } = await waiting;
    expect(result.status).toBe(202);
    expect(ms).toBeLessThan(8500);
    expect(await waitForRunRecord(organisation, result.data.request_id)).toMatchObject({ status: "completed" });
    expect(callsOf(message)).toBe(1);
  }, 60_000);
});
