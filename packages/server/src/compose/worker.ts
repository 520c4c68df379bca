import { createOrganisationChanges } from "../cache/organisation-changes.ts";
import { createEngine } from "../engine/engine.ts";
import { createEngineAdmin } from "../engine/engine-admin.ts";
import { adminProbes } from "../engine/engine-health.ts";
import { createEngineRuns } from "../engine/engine-runs.ts";
import { keepPeriodicServices, type PeriodicServices } from "../engine/ensure-periodic-services.ts";
import type { Endpoint } from "../engine/serve-endpoint.ts";
import { createCallRemoteAgent } from "../outbound/models/remote-agent.ts";
import { createTools } from "../outbound/tools/tools.ts";
import { actForFirstArgument } from "../platform/acting-organisation.ts";
import type { ShutdownStep } from "../platform/shutdown.ts";
import { version } from "../platform/version.ts";
import { createContinueRuns } from "../resources/approvals/continue-runs.ts";
import { countWaiting } from "../resources/approvals/count-waiting.ts";
import { countConnectionsToRevoke } from "../resources/connections/revocation-queries.ts";
import { createRevokeAtProvider } from "../resources/connections/revoke-at-provider.ts";
import { createDeploymentSteps } from "../resources/deployments/deployment-steps.ts";
import { createEngineTasks } from "../resources/engine-tasks/engine-tasks.ts";
import { createEraseStep } from "../resources/erasures/erase-user.ts";
import { countAllOpenErasures } from "../resources/erasures/erasure-queries.ts";
import { createEmbedMemories } from "../resources/memory/embed-memories.ts";
import { createClearStep } from "../resources/memory/run-clear.ts";
import { createRunSteps } from "../runs/execute/run-steps.ts";
import { deploymentServices } from "../workflows/activate-deployment.ts";
import { erasureServices } from "../workflows/erase-user.ts";
import { memoryServices } from "../workflows/memory-services.ts";
import { runServices } from "../workflows/run-agent.ts";
import { composeExpireApprovals } from "./approvals.ts";
import { composeFindToken } from "./connections.ts";
import type { Core } from "./core.ts";
import { composeHousekeeping } from "./housekeeping.ts";
import { composeFindModel, composePreflight } from "./preflight.ts";
import { composeReconcile } from "./reconcile.ts";
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
  const { config, logger, nowMs, telemetry, db, gate, slots, streams, logNotifications, tracing } = core;
  const { memory, resolveCall } = core;
  await core.dataKeys.load();
  await core.signingKeys.load();
  const signedFetch = composeSignedFetch(core);
  const engine = createEngine({ ingressUrls: config.ingressUrls, logger, onFailure: telemetry.engineFailed });
  const outbound = { fetch: signedFetch, version, resolveCall };
  const findModel = composeFindModel(core);
  const findToken = composeFindToken(core, engine.dispatchDeliveries);
  const { list, call } = createTools({ ...outbound, findToken });
  const tools = { list, call: telemetry.countToolCalls(call) };
  const callRemoteAgent = telemetry.timeModel("remote_agent", createCallRemoteAgent(outbound));
  const continueRuns = createContinueRuns({ db, engine, slots, logger, sweepEverySeconds: 1 });
  const expireApprovals = composeExpireApprovals(core, continueRuns);
  const runSteps = createRunSteps({
    db,
    slots,
    streams,
    logNotifications,
    telemetry,
    tracing,
    runContents: core.runContents,
    approvalContents: core.approvalContents,
    approvalDigest: core.approvalDigest,
    continueRuns,
    quotas: core.quotas,
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
  const changes = createOrganisationChanges({ db, replaceEpoch: gate.replaceEpoch, logger, repairEverySeconds: 1 });
  const onCounted = telemetry.engineTasksCounted;
  const engineTasks = createEngineTasks({ db, engine, logger, now: nowMs, onCounted, sweepEverySeconds: 1 });
  const deliveries = composeDeliveries(core);
  const engineRuns = createEngineRuns(config.adminUrls);
  const erase = createEraseStep({
    ...core,
    sealer: core.erasedUsers,
    runClear: memory.runClear,
    continueRuns,
    revokeAtProvider: createRevokeAtProvider(core),
    engineRuns,
    now: nowMs,
    pauseMs: erasurePauseMs,
  });
  telemetry.watchWaitingRuns(() => countWaiting(db.unscoped));
  telemetry.watchRevocations(() => countConnectionsToRevoke(db.unscoped));
  telemetry.watchErasures(() => countAllOpenErasures(db.unscoped));
  const deploymentSteps = createDeploymentSteps({
    db,
    changes,
    preflight: composePreflight(core),
    dispatchDeliveries: engine.dispatchDeliveries,
    now: nowMs,
  });
  const services = [
    ...runServices({
      steps: telemetry.countSteps(actForFirstArgument(runSteps)),
      findDefinition: core.definitions.find,
      kill: createEngineAdmin(config.adminUrls).kill,
      defaultLogs: config.defaultLogs,
    }),
    ...deploymentServices(deploymentSteps),
    ...memoryServices(actForFirstArgument(memorySteps)),
    ...deliveries.services,
    ...erasureServices(actForFirstArgument({ erase })),
    composeHousekeeping(core, engine),
    composeReconcile(core, engine, engineRuns, runSteps.record, continueRuns),
  ];
  telemetry.watchEngineNodes(adminProbes(config.adminUrls));
  let periodic: PeriodicServices | undefined;
  // An engine that does not know this worker may have come back empty, and has lost what was scheduled.
  const onRegistered = () => periodic?.ensure();
  const { endpoint, registration, drain } = await serveRelease(core, services, onRegistered);
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
      { name: "settle epochs", limitSeconds: 5, run: changes.stop },
      { name: "send engine tasks", limitSeconds: 5, run: engineTasks.stop },
      { name: "expire approvals", limitSeconds: 5, run: expireApprovals.stop },
      { name: "continue runs", limitSeconds: 5, run: continueRuns.stop },
      {
        name: "close outbound connections",
        limitSeconds: 2,
        run: async () => void (await Promise.all([deliveries.close(), engine.close()])),
      },
    ],
  };
}
