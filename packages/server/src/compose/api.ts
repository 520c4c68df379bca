import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { createAdmission, createAdmitOrganisation } from "../api/admission.ts";
import { createAdmitToAgents } from "../api/admit-to-agents.ts";
import { createApp } from "../api/app.ts";
import { createChangeOnce } from "../api/change-once.ts";
import { databaseCheck } from "../api/health.ts";
import { createKeyDirectory } from "../auth/authenticate.ts";
import { createConnectionTokens } from "../auth/connection-token.ts";
import { createKeyUsage } from "../auth/key-usage.ts";
import { createSecondFactor } from "../auth/second-factor.ts";
import { createOrganisationChanges } from "../cache/organisation-changes.ts";
import { currentSchema } from "../db/migrate.ts";
import { createEngine } from "../engine/engine.ts";
import { ingressProbes } from "../engine/engine-health.ts";
import { cacheRefusals } from "../limits/cache-refusals.ts";
import { countFullSlots, countRefusals } from "../limits/count-refusals.ts";
import { unauthenticatedBucket } from "../limits/rates.ts";
import type { AgentKey } from "../platform/agent-key.ts";
import type { ShutdownStep } from "../platform/shutdown.ts";
import { createAgentDirectory } from "../resources/agents/agent-directory.ts";
import { agentHandlers, type OnAgentDelete } from "../resources/agents/agent-handlers.ts";
import { approvalHandlers } from "../resources/approvals/approval-handlers.ts";
import { createCheckSchema } from "../resources/approvals/check-schema.ts";
import { createContinueRuns } from "../resources/approvals/continue-runs.ts";
import { createDecideApproval } from "../resources/approvals/decide-approval.ts";
import { createCancelRunsOfAgent } from "../resources/approvals/settle-waiting-runs.ts";
import { updateDueOfAgent } from "../resources/approvals/waiting-run-queries.ts";
import { auditHandlers } from "../resources/audit/audit-handlers.ts";
import { createRefusalRecords } from "../resources/audit/record-refusals.ts";
import { connectionHandlers } from "../resources/connections/connection-handlers.ts";
import { createConsentByLink } from "../resources/connections/consent-by-link.ts";
import { createRegistrations } from "../resources/connections/registrations.ts";
import { createRevokeAtProvider } from "../resources/connections/revoke-at-provider.ts";
import { consoleSessionHandlers } from "../resources/console-sessions/console-session-handlers.ts";
import { deploymentHandlers } from "../resources/deployments/deployment-handlers.ts";
import { createServingDirectory } from "../resources/deployments/serving-directory.ts";
import { versionHandlers } from "../resources/deployments/version-handlers.ts";
import { createEngineTasks } from "../resources/engine-tasks/engine-tasks.ts";
import { erasureHandlers } from "../resources/erasures/erasure-handlers.ts";
import { eventHandlers } from "../resources/events/event-handlers.ts";
import { installationHandlers } from "../resources/installation/installation-handlers.ts";
import { createHasSecondFactor } from "../resources/keys/has-second-factor.ts";
import { keyHandlers } from "../resources/keys/key-handlers.ts";
import { updateAgentKeysRevokedAt } from "../resources/keys/key-queries.ts";
import { logHandlers } from "../resources/logs/log-handlers.ts";
import { clearDeletedAgent } from "../resources/memory/clear-deleted-agent.ts";
import { memoryHandlers } from "../resources/memory/memory-handlers.ts";
import { metricHandlers } from "../resources/metrics/metric-handlers.ts";
import { mfaHandlers } from "../resources/mfa/mfa-handlers.ts";
import { providerHandlers } from "../resources/providers/provider-handlers.ts";
import { createFindUsage } from "../resources/quotas/usage.ts";
import { secretHandlers } from "../resources/secrets/secret-handlers.ts";
import { deleteSecretsOfAgent } from "../resources/secrets/secret-queries.ts";
import { createUrlCheck } from "../resources/webhooks/check-url.ts";
import { createDecideByLink } from "../resources/webhooks/decide-by-link.ts";
import { deliveryHandlers } from "../resources/webhooks/delivery-handlers.ts";
import { webhookHandlers } from "../resources/webhooks/webhook-handlers.ts";
import { deleteWebhooksOfAgent } from "../resources/webhooks/webhook-queries.ts";
import { invocationHandlers } from "../runs/accept/invocation-handlers.ts";
import { stepHandlers } from "../runs/accept/step-handlers.ts";
import { composeExpireApprovals } from "./approvals.ts";
import type { Core } from "./core.ts";
import { composeGuard } from "./guard.ts";
import { composeReadInstallation } from "./installation.ts";
import { composePreflight } from "./preflight.ts";
import { composePeopleSignIn } from "./sign-in.ts";
import { composeKeyDirectory } from "./signing.ts";
import { webhookAddressPolicy } from "./webhooks.ts";

export interface Api {
  readonly app: FastifyInstance;
  readonly shutdownSteps: readonly ShutdownStep[];
}

/** Revokes the keys of a deleted agent, deletes its webhooks and secrets, and clears its memory. */
const deleteWhatAgentOwns: OnAgentDelete = async (trx, agent, add) => {
  const scope = { organisationId: agent.organisationId, onlyAgentId: null };
  await updateAgentKeysRevokedAt(trx, scope, agent.agentId);
  await deleteWebhooksOfAgent(trx, scope, agent.agentId);
  await deleteSecretsOfAgent(trx, agent);
  await clearDeletedAgent(trx, agent, add);
};

/** Builds the API, and the steps that shut it down, in order. */
export async function composeApi(core: Core): Promise<Api> {
  const { config, logger, nowMs, telemetry, db, streams, logNotifications, keyDigest, providerKeys, agentAuth } = core;
  const { webhookSecrets, quotas, sessionDigest } = core;
  await core.dataKeys.load();
  await core.signingKeys.load();
  await core.gate.ready();
  const now = () => new Date(nowMs());
  const gate = countRefusals(cacheRefusals(core.gate, nowMs), telemetry.requestRefused);
  const slots = countFullSlots(core.slots, telemetry.requestRefused);
  const agents = createAgentDirectory({ db, cacheBytes: core.shares.cacheBytes, now: nowMs });
  const serving = createServingDirectory({
    db,
    definitions: core.definitions,
    draftByDefault: config.draftByDefault,
    cacheBytes: core.shares.cacheBytes,
    now: nowMs,
  });
  const keys = createKeyDirectory({
    db,
    keyDigest,
    sessionDigest,
    rememberTier: core.shares.tiers.remember,
    now: nowMs,
  });
  const findUsage = createFindUsage({ db, cacheBytes: core.shares.cacheBytes, now: nowMs });
  const keyUsage = createKeyUsage({ db, logger, flushIntervalSeconds: 5 });
  const changes = createOrganisationChanges({ db, replaceEpoch: gate.replaceEpoch, logger, repairEverySeconds: 1 });
  const engine = createEngine({ ingressUrls: config.ingressUrls, logger, onFailure: telemetry.engineFailed });
  telemetry.watchEngineNodes(ingressProbes(config.ingressUrls));
  const onCounted = telemetry.engineTasksCounted;
  const engineTasks = createEngineTasks({ db, engine, logger, now: nowMs, onCounted, sweepEverySeconds: 1 });
  const continueRuns = createContinueRuns({ db, engine, slots, logger, sweepEverySeconds: 1 });
  const expireApprovals = composeExpireApprovals(core, continueRuns);
  const cancelRunsOfAgent = createCancelRunsOfAgent({ db, continueRuns, now: nowMs });
  const cancelWaitingRuns = (agent: AgentKey): void =>
    void cancelRunsOfAgent(agent).catch((error: unknown) => {
      logger.warn({ err: error, ...agent }, "waiting runs of a deleted agent not cancelled, reconciling will retry");
    });
  const refusals = createRefusalRecords({ db, logger, onDropped: telemetry.refusalNotAudited });
  const { waitingRuns, logSearches, readsAcrossAgents, comparisons, agentChecks, schemaChecks } = core.shares.of;
  const factorDeps = { ...core, now: nowMs };
  const secondFactor = createSecondFactor(factorDeps);
  const { isEnrolled } = secondFactor;
  const hasSecondFactor = createHasSecondFactor({ isEnrolled, cacheBytes: core.shares.cacheBytes, now: nowMs });
  const { guard, close: closeGuard } = composeGuard(core, secondFactor);
  const unauthenticatedLimit = unauthenticatedBucket(config.unauthenticatedRequestsPerMinute);
  const checkUrl = createUrlCheck({ ...webhookAddressPolicy(config), own: core.ownAddresses });
  const people = composePeopleSignIn(core, changes);
  const checkSchema = createCheckSchema({ schemaChecks });
  const decideApproval = createDecideApproval(core);
  const schema = await currentSchema();
  const connectionTokens = createConnectionTokens(core.connectionLinkKey);
  const app = await createApp({
    http: config,
    logger,
    telemetry,
    handlers: {
      ...agentHandlers({
        db,
        agents,
        engineTasks,
        quotas,
        agentAuth,
        onDelete: deleteWhatAgentOwns,
        onResume: updateDueOfAgent,
        onDeleted: cancelWaitingRuns,
        now,
      }),
      ...invocationHandlers({
        db,
        agents,
        serving,
        engine,
        slots,
        quotas,
        waitingRuns,
        continueRuns,
        readsAcrossAgents,
        streams,
        telemetry,
        logger,
        now: nowMs,
      }),
      ...stepHandlers({ db, agents, runContents: core.runContents, now: nowMs }),
      ...approvalHandlers({
        db,
        agents,
        readsAcrossAgents,
        approvalContents: core.approvalContents,
        secondFactor,
        checkSchema: checkSchema.check,
        decideApproval,
        continueRuns,
      }),
      ...connectionHandlers({
        ...core,
        agents,
        serving,
        agentChecks,
        connectionTokens,
        registrationsOf: createRegistrations(core),
        revokeAtProvider: createRevokeAtProvider(core),
        publicUrl: config.publicUrl,
      }),
      ...deploymentHandlers({
        db,
        agents,
        engine,
        engineTasks,
        quotas,
        agentChecks,
        preflight: composePreflight(core),
      }),
      ...versionHandlers({ db, agents, comparisons }),
      ...logHandlers({ db, agents, quotas, logNotifications, logSearches, now: nowMs }),
      ...memoryHandlers({ db, agents, engineTasks, quotas, logger, ...core.memory }),
      ...metricHandlers({ db, agents, readsAcrossAgents, now: nowMs }),
      ...webhookHandlers({ db, checkUrl, quotas, webhookSecrets, publicUrl: config.publicUrl, now }),
      ...deliveryHandlers({ db, engine }),
      ...eventHandlers({ db, agents }),
      ...keyHandlers({
        db,
        changes,
        keyDigest,
        quotas,
        findUsage,
        listOrganisations: people.listOrganisations,
        hasSecondFactor,
        now,
      }),
      ...consoleSessionHandlers({
        db,
        changes,
        keyDigest,
        sessionDigest,
        admitOrganisation: createAdmitOrganisation(gate),
        onSignIn: telemetry.signedIn,
        people: people.source,
        hasConsole: config.console,
        now,
      }),
      ...providerHandlers({ db, installation: config.providers, providerKeys, quotas }),
      ...secretHandlers({ db, agents, quotas, secrets: core.secrets }),
      ...auditHandlers({ db }),
      ...erasureHandlers({ db, engine, sealer: core.erasedUsers, userDigest: core.userDigest, logger }),
      ...installationHandlers({ readInstallation: composeReadInstallation(core, schema) }),
      ...mfaHandlers({ ...factorDeps, secondFactor, instanceDemandsMfa: config.security.mfa?.enabled === true }),
    },
    admission: createAdmission({
      gate,
      keys,
      agents,
      keyUsage,
      unauthenticatedLimit,
      recheckPerson: people.recheck,
      now,
    }),
    people: people.signIn,
    decideByLink: createDecideByLink({ ...core, decideApproval, checkSchema: checkSchema.check, continueRuns, now }),
    consentByLink: createConsentByLink({ ...core, connectionTokens }),
    changeOnce: createChangeOnce({
      changes,
      answers: core.idempotentAnswers,
      bodyDigest: core.idempotentBodies,
      userDigest: core.userDigest,
    }),
    agents,
    guard,
    admitToAgents: createAdmitToAgents({ db, agents, guard }),
    refusals,
    tracing: core.tracing,
    openStreams: core.shares.of.openStreams,
    readKeyDirectory: composeKeyDirectory(core),
    readiness: {
      checks: { database: databaseCheck(db, schema) },
      listSilent: core.dependencies.listSilent,
    },
  });
  app.addHook("onListen", async () => {
    for (const { address, port } of app.addresses() as AddressInfo[]) core.ownAddresses.add({ host: address, port });
  });
  return {
    app,
    shutdownSteps: [
      { name: "stop accepting and drain requests", limitSeconds: 30, run: () => app.close() },
      { name: "end the thread that checks schemas", limitSeconds: 2, run: checkSchema.stop },
      { name: "send engine tasks", limitSeconds: 5, run: engineTasks.stop },
      { name: "expire approvals", limitSeconds: 5, run: expireApprovals.stop },
      { name: "continue runs", limitSeconds: 5, run: continueRuns.stop },
      { name: "close the engine client", limitSeconds: 5, run: engine.close },
      { name: "flush key usage", limitSeconds: 5, run: keyUsage.stop },
      { name: "settle epochs", limitSeconds: 5, run: changes.stop },
      {
        name: "close connections to token issuers",
        limitSeconds: 2,
        run: async () => void (await Promise.all([closeGuard(), people.close()])),
      },
      { name: "flush audit entries of refusals", limitSeconds: 5, run: refusals.stop },
    ],
  };
}
