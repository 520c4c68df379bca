import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { closeCoreStep, composeCore } from "../../src/compose/core.ts";
import { composeWorker } from "../../src/compose/worker.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { shutDown } from "../../src/platform/shutdown.ts";
import { testConfig } from "../support/harness.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";

interface RegisteredService {
  readonly name: string;
  readonly retry_policy?: { readonly max_attempts?: number | string };
}

const logger = createLogger("silent");
let engine: Awaited<ReturnType<typeof startRestate>>;
let database: TestDatabase;
let stopWorker: () => Promise<unknown>;

beforeAll(async () => {
  engine = await startRestate();
  database = await createTestDatabase();
  const { ingressUrls, adminUrls } = engine;
  const core = composeCore(testConfig(database, { ingressUrls, adminUrls, workerPort: 0 }), logger);
  const worker = await composeWorker(core);
  stopWorker = () => shutDown([...worker.shutdownSteps, closeCoreStep(core)], logger);
});
afterAll(async () => {
  await stopWorker();
  await engine.stop();
  await database.drop();
});

test("the engine retries every service for years: a paused invocation would block its key", async () => {
  const response = await fetch(`${engine.adminUrls[0]}/services`);
  const { services } = (await response.json()) as { services: RegisteredService[] };
  expect(services.length).toBeGreaterThanOrEqual(8);
  for (const { name, retry_policy } of services)
    expect({ name, attempts: Number(retry_policy?.max_attempts) }).toEqual({ name, attempts: Number.MAX_SAFE_INTEGER });
});
