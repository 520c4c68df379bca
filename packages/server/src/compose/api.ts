import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { createAdmission, createAdmitOrganisation } from "../api/admission.ts";
import { createAdmitToAgents } from "../api/admit-to-agents.ts";
import { createApp } from "../api/app.ts";
import { createChangeOnce } from "../api/change-once.ts";
import { databaseCheck } from "../api/health.ts";
import { createKeyDirectory } from "../auth/authenticate.ts";
import { createKeyUsage } from "../auth/key-usage.ts";
import { createSecondFactor } from "../auth/second-factor.ts";
import { currentSchema } from "../db/migrate.ts";
import { ingressProbes } from "../engine/engine-health.ts";
import { cacheRefusals } from "../limits/cache-refusals.ts";
import { countFullSlots } from "../limits/count-refusals.ts";
import { unauthenticatedBucket } from "../limits/rates.ts";
import type { ShutdownStep } from "../platform/shutdown.ts";
import { createAgentDirectory } from "../resources/agents/agent-directory.ts";
import { createResourceTypeOf } from "../resources/audit/audit-rules.ts";
import { createRefusalRecords } from "../resources/audit/record-refusals.ts";
import { createServingDirectory } from "../resources/deployments/serving-directory.ts";
import { createHasSecondFactor } from "../resources/keys/has-second-factor.ts";
import { createFindUsage } from "../resources/quotas/quota-usage.ts";
import { composeGuard } from "./compose-guard.ts";
import { composePreflight, listBuiltInModels } from "./compose-preflight.ts";
import { type Core, depsOf } from "./core.ts";
import { composeDecisions } from "./decisions.ts";
import { composeReadInstallation } from "./installation.ts";
import { composePeriodicWork } from "./periodic-work.ts";
import * as resources from "./resources.ts";
import { composePeopleSignIn } from "./sign-in.ts";
import { composeKeyDirectory } from "./signing.ts";
import { composeUrlCheck } from "./webhooks.ts";

export interface Api {
  readonly app: FastifyInstance;
  readonly shutdownSteps: readonly ShutdownStep[];
}

/** Limits of an API node, which counts whom it refuses. */
function composeLimits(core: Core) {
  const { nowMs, telemetry, shared } = core;
  return {
    gate: cacheRefusals(shared.gate, nowMs, telemetry.requestRefused),
    slots: countFullSlots(shared.slots, telemetry.requestRefused),
  };
}

/** An API node's caches of agents, versions and keys. */
function composeDirectories(core: Core) {
  const { config, db, nowMs: now, shares, definitions, keys } = core;
  const { cacheBytes, tiers } = shares;
  return {
    agents: createAgentDirectory({ db, cacheBytes, now }),
    serving: createServingDirectory({ db, definitions, draftByDefault: config.draftByDefault, cacheBytes, now }),
    keyDirectory: createKeyDirectory({ ...keys, db, rememberTier: tiers.remember, now }),
    findUsage: createFindUsage({ db, definitions: resources.quotaDefinitions, cacheBytes, now }),
  };
}

/** Second factors, and whether a caller has one. */
function composeFactors(core: Core) {
  const { nowMs, shares } = core;
  const secondFactor = createSecondFactor(depsOf(core));
  const { isEnrolled } = secondFactor;
  return {
    secondFactor,
    hasSecondFactor: createHasSecondFactor({ isEnrolled, cacheBytes: shares.cacheBytes, now: nowMs }),
  };
}

/** The parts of an API node besides its core. */
async function composeParts(core: Core) {
  const { db, logger, nowMs, telemetry } = core;
  const schema = await currentSchema();
  const limits = composeLimits(core);
  const factors = composeFactors(core);
  const work = composePeriodicWork(core, limits);
  return {
    now: () => new Date(nowMs()),
    directories: composeDirectories(core),
    people: composePeopleSignIn(core, work.changes),
    decisions: composeDecisions(core, work.continueRuns),
    guarding: composeGuard(core, factors.secondFactor),
    keyUsage: createKeyUsage({ db, logger, flushIntervalSeconds: 5 }),
    refusals: createRefusalRecords({ db, logger, onDropped: telemetry.refusalNotAudited }),
    ...{ schema, limits, factors, work },
  };
}
type Parts = Awaited<ReturnType<typeof composeParts>>;

/** The handlers of the operations. */
function composeHandlers(core: Core, { directories, limits, factors, work, decisions, people, now, schema }: Parts) {
  const { config, telemetry } = core;
  const { agents, serving, findUsage } = directories;
  const deps = { ...depsOf(core), ...work, ...factors, ...decisions.deps, agents, serving, slots: limits.slots, now };
  return resources.createHandlers({
    ...deps,
    findUsage,
    receiptParts: resources.receiptParts,
    onDelete: resources.onAgentDelete,
    onResume: resources.onAgentResume,
    onDeleted: resources.createAfterAgentDelete(deps),
    preflight: composePreflight(core),
    checkUrl: composeUrlCheck(core),
    publicUrl: config.publicUrl,
    installation: config.providers,
    builtInModels: listBuiltInModels(core),
    readInstallation: composeReadInstallation(core, schema),
    instanceDemandsMfa: config.security.mfa?.enabled === true,
    people: people.source,
    listOrganisations: people.listOrganisations,
    admitOrganisation: createAdmitOrganisation(limits.gate),
    onSignIn: telemetry.signedIn,
    hasConsole: config.console,
  });
}

/** The app that receives requests and admits callers. */
function composeApp(core: Core, parts: Parts, heartbeatMs: number | undefined): Promise<FastifyInstance> {
  const { config, db, keys, logger, telemetry } = core;
  const { directories, limits, guarding, people, decisions, keyUsage, refusals, work, now, schema } = parts;
  const { agents, keyDirectory } = directories;
  const { guard } = guarding;
  return createApp({
    http: config,
    logger,
    telemetry,
    heartbeatMs,
    handlers: composeHandlers(core, parts),
    resourceTypeOf: createResourceTypeOf(resources.auditedCollections),
    admission: createAdmission({
      gate: limits.gate,
      keys: keyDirectory,
      agents,
      keyUsage,
      unauthenticatedLimit: unauthenticatedBucket(config.unauthenticatedRequestsPerMinute),
      recheckPerson: people.recheck,
      now,
    }),
    people: people.signIn,
    decideByLink: decisions.decideByLink,
    consentByLink: decisions.consentByLink,
    changeOnce: createChangeOnce({
      changes: work.changes,
      answers: keys.idempotentAnswers,
      contents: keys.answerContents,
      quotas: core.quotas,
      bodyDigest: keys.idempotentBodies,
      userDigest: keys.userDigest,
    }),
    agents,
    guard,
    admitToAgents: createAdmitToAgents({ db, agents, guard, agentOfResource: resources.agentOfResource }),
    refusals,
    tracing: core.tracing,
    openStreams: core.shares.of.openStreams,
    readKeyDirectory: composeKeyDirectory(core),
    now,
    readiness: {
      checks: { database: databaseCheck(db, schema) },
      listSilent: core.dependencies.listSilent,
    },
  });
}

/** In the order in which a node ends. */
const shutdownStepsOf = (app: FastifyInstance, parts: Parts): readonly ShutdownStep[] => [
  { name: "stop accepting and drain requests", limitSeconds: 30, run: () => app.close() },
  ...parts.work.shutdownSteps,
  { name: "close the engine client", limitSeconds: 5, run: parts.work.engine.close },
  { name: "flush key usage", limitSeconds: 5, run: parts.keyUsage.stop },
  {
    name: "close connections to token issuers",
    limitSeconds: 2,
    run: async () => void (await Promise.all([parts.guarding.close(), parts.people.close()])),
  },
  { name: "flush audit entries of refusals", limitSeconds: 5, run: parts.refusals.stop },
];

interface ApiOptions {
  /** How often event streams show that they are alive, and check their key. */
  readonly heartbeatMs?: number | undefined;
}

/** Builds the API, and the steps that shut it down. */
export async function composeApi(core: Core, { heartbeatMs }: ApiOptions = {}): Promise<Api> {
  await core.dataKeys.load();
  await core.outbound.signingKeys.load();
  await core.shared.gate.ready();
  core.telemetry.watchEngineNodes(ingressProbes(core.config.ingressUrls));
  const parts = await composeParts(core);
  const app = await composeApp(core, parts, heartbeatMs);
  app.addHook("onListen", async () => {
    for (const { address, port } of app.addresses() as AddressInfo[])
      core.outbound.ownAddresses.add({ host: address, port });
  });
  return { app, shutdownSteps: shutdownStepsOf(app, parts) };
}
