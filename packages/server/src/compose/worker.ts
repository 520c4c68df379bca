import { maintainPartitions } from "../db/partitions.ts";
import { createDeploymentSteps } from "../deployments/activation.ts";
import { createPreflight } from "../deployments/preflight.ts";
import { createEngine } from "../engine/engine.ts";
import { ensureHousekeeping } from "../engine/ensure-housekeeping.ts";
import { checkAdminHealth } from "../engine/reach-engine.ts";
import { registerWorker } from "../engine/register.ts";
import { type Endpoint, serveEndpoint } from "../engine/serve-endpoint.ts";
import { createOrganisationChanges } from "../gate/organisation-changes.ts";
import { createRunSteps } from "../invocations/run-steps.ts";
import { createClearStep, finishOpenClears } from "../memory/clear-memory.ts";
import { createEmbedMemories } from "../memory/embed-memories.ts";
import { createBuiltInModels } from "../models/models.ts";
import { createCallRemoteAgent } from "../models/remote-agent.ts";
import type { ShutdownStep } from "../platform/shutdown.ts";
import { createFindModel } from "../providers/find-model.ts";
import { createTools } from "../tools/create-tools.ts";
import { version } from "../version.ts";
import { deploymentServices } from "../workflows/activate-deployment.ts";
import { housekeepingService } from "../workflows/housekeeping.ts";
import { memoryServices } from "../workflows/keep-memory.ts";
import { runServices } from "../workflows/run-agent.ts";
import type { Core } from "./core.ts";
import { composeDeliveries } from "./webhooks.ts";

export interface Worker {
  readonly endpoint: Endpoint;
  readonly shutdownSteps: readonly ShutdownStep[];
}

/** Builds a worker, which serves the workflows and registers with the engine. */
export async function composeWorker(core: Core): Promise<Worker> {
  const { config, logger, nowMs, telemetry, db, gate, slots, streams, logNotifications, tracing, providerKeys } = core;
  const { guarded, trusted, memory } = core;
  await core.dataKeys.load();
  const outbound = { fetch: guarded.fetch, version };
  const findModel = createFindModel({
    db,
    builtIn: createBuiltInModels({ scriptUrl: config.scriptModelUrl }),
    installation: config.providers,
    providerKeys,
    guardedFetch: guarded.fetch,
    trustedFetch: trusted.fetch,
    idleTimeoutMs: config.modelIdleTimeoutSeconds * 1000,
    withTiming: telemetry.timeModel,
  });
  const { list, call } = createTools(outbound);
  const tools = { list, call: telemetry.countToolCalls(call) };
  const callRemoteAgent = telemetry.timeModel("remote_agent", createCallRemoteAgent(outbound));
  const runSteps = createRunSteps({
    db,
    slots,
    streams,
    logNotifications,
    telemetry,
    tracing,
    logger,
    now: nowMs,
    findModel,
    prices: config.modelPrices,
    tools,
    callRemoteAgent,
    searchMemory: memory.searchMemory,
  });
  const memorySteps = {
    embed: createEmbedMemories({ db, findEmbedder: memory.findEmbedder, logger, now: nowMs }),
    clear: createClearStep(memory.runClear),
  };
  const changes = createOrganisationChanges({ db, gate, logger, repairEverySeconds: 1 });
  const engine = createEngine({ ingressUrls: config.ingressUrls, logger, onFailure: telemetry.engineFailed });
  const deliveries = composeDeliveries(core);
  const preflight = createPreflight({ findModel, tools, fetch: guarded.fetch });
  const deploymentSteps = createDeploymentSteps({
    db,
    changes,
    preflight,
    dispatchDeliveries: engine.dispatchDeliveries,
    now: nowMs,
  });
  const housekeeping = {
    now: async () => nowMs(),
    partitions: () => maintainPartitions(db.unscoped),
    clears: () => finishOpenClears(db, memory.runClear),
  };
  const services = [
    ...runServices(telemetry.countSteps(runSteps)),
    ...deploymentServices(deploymentSteps),
    ...memoryServices(memorySteps),
    ...deliveries.services,
    housekeepingService(housekeeping),
  ];
  const { workerHost: host, workerPort: port, identityKeys, adminUrls } = config;
  const endpoint = await serveEndpoint({ services, identityKeys, host, port, logger });
  const stopped = new AbortController();
  const workerUrl = config.workerUrl ?? `http://${host}:${endpoint.port}`;
  telemetry.watchDependency("engine", () => checkAdminHealth(adminUrls));
  await registerWorker({ adminUrls, workerUrl, logger, signal: stopped.signal });
  void ensureHousekeeping({ ingressUrls: config.ingressUrls, logger, signal: stopped.signal });
  return {
    endpoint,
    shutdownSteps: [
      { name: "stop registering", limitSeconds: 1, run: async () => stopped.abort() },
      { name: "stop the worker endpoint", limitSeconds: 10, run: endpoint.close },
      { name: "settle epochs", limitSeconds: 5, run: changes.stop },
      {
        name: "close outbound connections",
        limitSeconds: 2,
        run: async () => void (await Promise.all([deliveries.close(), engine.close()])),
      },
    ],
  };
}
