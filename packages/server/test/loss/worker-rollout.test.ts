import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { closeCoreStep, composeCore, depsOf } from "../../src/compose/core.ts";
import { composeWorker } from "../../src/compose/worker.ts";
import type { Config } from "../../src/config/config.ts";
import { openAsOwner } from "../../src/db/open-as-owner.ts";
import { activateRelease } from "../../src/db/releases.ts";
import { createEngineAdmin } from "../../src/engine/engine-admin.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { shutDown } from "../../src/platform/shutdown.ts";
import { createOrganisation } from "../../src/resources/organisations/create-organisation.ts";
import { ok, send } from "../support/contract-client.ts";
import { type ApiNode, startApi, testConfig } from "../support/harness.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";

const logger = createLogger("silent");
const script = JSON.stringify({
  steps: [
    { delay_ms: 30, tool_calls: [{ name: "perch_echo", arguments: {} }] },
    { delay_ms: 30, reply: "done" },
  ],
});

let engine: Awaited<ReturnType<typeof startRestate>>;
let database: TestDatabase;
let config: Config;
let node: ApiNode;
let apiKey: string;

/** Starts a worker of a release. */
async function startWorker(port: number, release: string): Promise<() => Promise<void>> {
  const core = composeCore({ ...config, workerPort: port, release }, logger);
  const worker = await composeWorker(core);
  return async () => void (await shutDown([...worker.shutdownSteps, closeCoreStep(core)], logger));
}

beforeAll(async () => {
  engine = await startRestate();
  database = await createTestDatabase();
  config = testConfig(database, { ingressUrls: engine.ingressUrls, adminUrls: engine.adminUrls });
  const server = await startApi(config, logger);
  node = { server, url: await server.app.listen({ host: "127.0.0.1", port: 0 }) };
  apiKey = (await createOrganisation(depsOf(server.core), { name: "Test", tier: "enterprise" })).key;
  ok(
    await send(node.url, apiKey, "POST /v1/agents", {
      body: { name: "bot", model: "perch/script", instructions: script },
    }),
  );
});
afterAll(async () => {
  await shutDown(node.server.shutdownSteps, logger);
  await engine.stop();
  await database.drop();
});

/** Runs 20 concurrent invokes until stopped, and collects their statuses. */
function load() {
  let running = true;
  const statuses: number[] = [];
  const client = async () => {
    while (running) {
      const { status } = await send(node.url, apiKey, "POST /v1/agents/{agent_id}/invoke", {
        params: { agent_id: "bot" },
        body: { message: "go" },
      });
      statuses.push(status);
    }
  };
  const clients = Array.from({ length: 20 }, client);
  return {
    /** Waits until `count` more have been answered. */
    more: (count: number) => {
      const before = statuses.length;
      return expect.poll(() => statuses.length - before, { timeout: 15_000 }).toBeGreaterThan(count);
    },
    stop: async () => {
      running = false;
      await Promise.all(clients);
      return statuses;
    },
  };
}

const activate = async (release: string): Promise<void> => {
  const db = openAsOwner(database.ownerUrl);
  await db.transaction().execute((trx) => activateRelease(trx, release));
  await db.destroy();
};

test("no request fails while a worker restarts and a second release follows the first", async () => {
  const port = await freePort();
  await activate("first");
  let stopFirst = await startWorker(port, "first");
  const running = load();
  await running.more(35);
  await stopFirst();
  stopFirst = await startWorker(port, "first");
  await running.more(35);
  await activate("second");
  const stopSecond = await startWorker(await freePort(), "second");
  await running.more(35);
  const statuses = await running.stop();
  expect(statuses.length).toBeGreaterThan(100);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  // New runs go to the second release, so they continue when the first one has stopped.
  await stopFirst();
  const { status } = await send(node.url, apiKey, "POST /v1/agents/{agent_id}/invoke", {
    params: { agent_id: "bot" },
    body: { message: "go" },
  });
  expect(status).toBe(200);
  await stopSecond();
}, 60_000);

test("many workers of one release that start at the same time register one address", async () => {
  const workerUrl = `http://127.0.0.1:${await freePort()}`;
  const port = Number(new URL(workerUrl).port);
  config = { ...config, workerUrl };
  await activate("third");
  const stops = await Promise.all([port, 0, 0, 0].map((each) => startWorker(each, "third")));
  const deployments = await createEngineAdmin(engine.adminUrls).listDeployments();
  expect(deployments.filter(({ uri }) => uri.includes("/releases/third/"))).toHaveLength(1);
  for (const stop of stops) await stop();
}, 30_000);
