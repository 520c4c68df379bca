import { createEngineAdmin } from "../engine/engine-admin.ts";
import { adminProbes } from "../engine/engine-health.ts";
import { createEngineRuns } from "../engine/engine-runs.ts";
import { keepPeriodicServices, type PeriodicServices } from "../engine/ensure-periodic-services.ts";
import type { Endpoint } from "../engine/serve-endpoint.ts";
import { actForFirstArgument } from "../fairness/acting-organisation.ts";
import { createCallRemoteAgent } from "../outbound/models/remote-agent.ts";
import { createTools } from "../outbound/tools/tools.ts";
import type { ShutdownStep } from "../platform/shutdown.ts";
import { version } from "../platform/version.ts";
import { createRevokeAtProvider } from "../resources/connections/revoke-at-provider.ts";
import { createDeploymentSteps } from "../resources/deployments/deployment-steps.ts";
import { createEraseStep } from "../resources/erasures/erase-user.ts";
import { createEmbedMemories } from "../resources/memory/embed-memories.ts";
import { createClearStep } from "../resources/memory/run-clear.ts";
import { createRunSteps } from "../runs/execute/run-steps.ts";
import { deploymentServices } from "../workflows/activate-deployment.ts";
import { erasureServices } from "../workflows/erasure-services.ts";
import { memoryServices } from "../workflows/memory-services.ts";
import { runServices } from "../workflows/run-agent.ts";
import { createRunOneStep } from "../workflows/try-one-step.ts";
import { composeHousekeeping } from "./compose-housekeeping.ts";
import { composeFindModel, composePreflight } from "./compose-preflight.ts";
import { composeReconcile } from "./compose-reconcile.ts";
import { composeFindToken } from "./connections.ts";
import { type Core, depsOf } from "./core.ts";
import { composePeriodicWork } from "./periodic-work.ts";
import { addGauges, eraseStages, receiptParts } from "./resources.ts";
import { serveRelease } from "./serve-release.ts";
import { composeSignedFetch } from "./signing.ts";
import { composeDeliveries } from "./webhooks.ts";

export interface Worker {
  readonly endpoint: Endpoint;
  readonly shutdownSteps: readonly ShutdownStep[];
}

interface WorkerOptions {
  /** Tests wait for less. */
  readonly erasurePauseMs?: number | undefined;
}

/** Builds a worker, which serves the workflows and registers with the engine. */
export async function composeWorker(core: Core, { erasurePauseMs = 2000 }: WorkerOptions = {}): Promise<Worker> {
  const { config, logger, nowMs: now, telemetry, memory } = core;
  await core.dataKeys.load();
  await core.outbound.signingKeys.load();
  const work = composePeriodicWork(core, core.shared);
  const { engine, changes, continueRuns } = work;
  const engineRuns = createEngineRuns(config.adminUrls);
  const deps = { ...depsOf(core), ...work, engineRuns, now };
  const { resolveCall, createRedactor } = core.outbound;
  const outbound = { fetch: composeSignedFetch(core), version, resolveCall, createRedactor };
  const { list, call } = createTools({ ...outbound, findToken: composeFindToken(core, engine.dispatchDeliveries) });
  const runSteps = createRunSteps({
    ...deps,
    findModel: composeFindModel(core),
    prices: config.modelPrices,
    tools: { list, call: telemetry.countToolCalls(call) },
    callRemoteAgent: telemetry.timeModel("remote_agent", createCallRemoteAgent(outbound)),
  });
  const memorySteps = { embed: createEmbedMemories(deps), clear: createClearStep(memory.runClear) };
  const deliveries = composeDeliveries(core);
  const stages = eraseStages({ ...deps, revokeAtProvider: createRevokeAtProvider(deps) });
  const erase = createEraseStep({ ...deps, receiptParts, pauseMs: erasurePauseMs }, stages);
  addGauges(telemetry, deps);
  const deploymentSteps = createDeploymentSteps({
    ...deps,
    changes,
    preflight: composePreflight(core),
    dispatchDeliveries: engine.dispatchDeliveries,
  });
  const runDeps = {
    steps: telemetry.countSteps(actForFirstArgument(runSteps, core.shares.tiers)),
    findDefinition: core.definitions.find,
    defaultLogs: config.defaultLogs,
  };
  const services = [
    ...runServices({ ...runDeps, kill: createEngineAdmin(config.adminUrls).kill }),
    ...deploymentServices(deploymentSteps),
    ...memoryServices(actForFirstArgument(memorySteps)),
    ...deliveries.services,
    ...erasureServices(actForFirstArgument({ erase })),
    composeHousekeeping(core, engine),
    composeReconcile(core, engine, engineRuns, runSteps.record, continueRuns),
  ];
  telemetry.watchEngineNodes(adminProbes(config.adminUrls));
  let periodic: PeriodicServices | undefined;
  // An engine that does not know this worker may have come back empty, without its schedules.
  const onRegistered = () => periodic?.ensure();
  const runOneStep = config.oneStepRuns ? createRunOneStep(runDeps) : undefined;
  const { endpoint, registration, drain } = await serveRelease(core, { services, runOneStep }, onRegistered);
  periodic = keepPeriodicServices({ ingressUrls: config.ingressUrls, logger });
  return {
    endpoint,
    shutdownSteps: [
      { name: "wait for runs of this release", limitSeconds: config.drainSeconds + 10, run: drain },
      {
        name: "stop registering",
        limitSeconds: 1,
        run: async () => {
          registration.stop();
          periodic.stop();
        },
      },
      { name: "stop the worker endpoint", limitSeconds: 10, run: endpoint.close },
      ...work.shutdownSteps,
      {
        name: "close outbound connections",
        limitSeconds: 2,
        run: async () => void (await Promise.all([deliveries.close(), engine.close()])),
      },
    ],
  };
}
