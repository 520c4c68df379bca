import type { FastifyInstance } from "fastify";
import { createAgentDirectory } from "../agents/agent-directory.ts";
import { agentHandlers } from "../agents/agent-handlers.ts";
import { auditHandlers } from "../audit/audit-handlers.ts";
import { createRefusalRecords } from "../audit/record-refusals.ts";
import { deploymentHandlers } from "../deployments/deployment-handlers.ts";
import { createServingDirectory } from "../deployments/serving-directory.ts";
import { versionHandlers } from "../deployments/version-handlers.ts";
import { createEngine } from "../engine/engine.ts";
import { checkIngressHealth } from "../engine/reach-engine.ts";
import { eventHandlers } from "../events/event-handlers.ts";
import { countFullSlots, countRefusals } from "../gate/count-refusals.ts";
import { createOrganisationChanges } from "../gate/organisation-changes.ts";
import { unauthenticatedBucket } from "../gate/rates.ts";
import { cacheRefusals } from "../gate/remember-refusals.ts";
import { createAdmission } from "../http/admit.ts";
import { createApp } from "../http/app.ts";
import { createKeyDirectory } from "../http/authenticate.ts";
import { databaseCheck } from "../http/health.ts";
import { createChangeOnce } from "../idempotency/change-once.ts";
import { invocationHandlers } from "../invocations/invocation-handlers.ts";
import { keyHandlers } from "../keys/key-handlers.ts";
import { createKeyUsage } from "../keys/key-usage.ts";
import { logHandlers } from "../logs/log-handlers.ts";
import { memoryHandlers } from "../memory/memory-handlers.ts";
import { metricHandlers } from "../metrics/metric-handlers.ts";
import { mfaHandlers } from "../mfa/mfa-handlers.ts";
import { createSecondFactor } from "../mfa/second-factor.ts";
import type { ShutdownStep } from "../platform/shutdown.ts";
import { providerHandlers } from "../providers/provider-handlers.ts";
import { createUrlCheck } from "../webhooks/check-url.ts";
import { deliveryHandlers } from "../webhooks/delivery-handlers.ts";
import { webhookHandlers } from "../webhooks/webhook-handlers.ts";
import type { Core } from "./core.ts";
import { composeGuard } from "./guard.ts";
import { webhookAddressPolicy } from "./webhooks.ts";

export interface Api {
  readonly app: FastifyInstance;
  readonly shutdownSteps: readonly ShutdownStep[];
}

/** Builds the API, and the steps that shut it down, in order. */
export async function composeApi(core: Core): Promise<Api> {
  const { config, logger, nowMs, telemetry, db, streams, logNotifications, keyDigest, providerKeys, agentAuth } = core;
  const { webhookSecrets } = core;
  await core.dataKeys.load();
  await core.gate.ready();
  const now = () => new Date(nowMs());
  const gate = countRefusals(cacheRefusals(core.gate, nowMs), telemetry.requestRefused);
  const slots = countFullSlots(core.slots, telemetry.requestRefused);
  const agents = createAgentDirectory({ db, now: nowMs });
  const serving = createServingDirectory({ db, now: nowMs });
  const keys = createKeyDirectory({ db, keyDigest, now: nowMs });
  const keyUsage = createKeyUsage({ db, logger, flushIntervalSeconds: 5 });
  const changes = createOrganisationChanges({ db, gate, logger, repairEverySeconds: 1 });
  const engine = createEngine({ ingressUrls: config.ingressUrls, logger, onFailure: telemetry.engineFailed });
  telemetry.watchDependency("engine", () => checkIngressHealth(config.ingressUrls));
  const refusals = createRefusalRecords({ db, logger });
  const factorDeps = { ...core, now: nowMs };
  const secondFactor = createSecondFactor(factorDeps);
  const { guard, close: closeGuard } = composeGuard(core, secondFactor);
  const unauthenticatedLimit = unauthenticatedBucket(config.unauthenticatedRequestsPerMinute);
  const app = await createApp({
    config,
    logger,
    telemetry,
    handlers: {
      ...agentHandlers({ db, agents, engine, logger, agentAuth }),
      ...invocationHandlers({ db, agents, serving, engine, slots, streams, telemetry, logger }),
      ...deploymentHandlers({ db, agents, engine }),
      ...versionHandlers({ db, agents }),
      ...logHandlers({ db, agents, logNotifications, now: nowMs }),
      ...memoryHandlers({ db, agents, engine, logger, ...core.memory }),
      ...metricHandlers({ db, agents, now: nowMs }),
      ...webhookHandlers({ db, checkUrl: createUrlCheck(webhookAddressPolicy(config)), webhookSecrets, now }),
      ...deliveryHandlers({ db, engine }),
      ...eventHandlers({ db, agents }),
      ...keyHandlers({ db, changes, keyDigest, now }),
      ...providerHandlers({ db, installation: config.providers, providerKeys }),
      ...auditHandlers({ db }),
      ...mfaHandlers({ ...factorDeps, secondFactor }),
    },
    admission: createAdmission({ gate, keys, agents, keyUsage, unauthenticatedLimit, now }),
    changeOnce: createChangeOnce({ changes, answers: core.idempotentAnswers }),
    agents,
    guard,
    refusals,
    tracing: core.tracing,
    readiness: { database: databaseCheck(db) },
  });
  return {
    app,
    shutdownSteps: [
      { name: "stop accepting and drain requests", limitSeconds: 30, run: () => app.close() },
      { name: "close the engine client", limitSeconds: 5, run: engine.close },
      { name: "flush key usage", limitSeconds: 5, run: keyUsage.stop },
      { name: "settle epochs", limitSeconds: 5, run: changes.stop },
      { name: "close connections to token issuers", limitSeconds: 2, run: closeGuard },
      { name: "flush audit entries of refusals", limitSeconds: 5, run: refusals.stop },
    ],
  };
}
