import type { QuotaName } from "@perch/contract";
import { answerResource } from "../api/answer-resource.ts";
import { epochResource } from "../cache/epoch-resource.ts";
import type { OrganisationTransaction } from "../db/database.ts";
import { ownTables } from "../db/own-tables.ts";
import { createPurgeSteps } from "../db/purge.ts";
import type { Tables } from "../db/tables.ts";
import type { AgentKey } from "../platform/agent-key.ts";
import type { Logger } from "../platform/logger.ts";
import { type KeySource, sealerFor } from "../platform/sealing.ts";
import type { OnAgentDelete } from "../resources/agents/agent-handlers.ts";
import { agentResource } from "../resources/agents/agent-resource.ts";
import { approvalResource } from "../resources/approvals/approval-resource.ts";
import { auditResource } from "../resources/audit/audit-resource.ts";
import { connectionResource } from "../resources/connections/connection-resource.ts";
import { consoleSessionResource } from "../resources/console-sessions/console-session-resource.ts";
import { deploymentResource } from "../resources/deployments/deployment-resource.ts";
import { engineTaskResource } from "../resources/engine-tasks/engine-task-resource.ts";
import type { EraseStage } from "../resources/erasure-stage.ts";
import { erasureResource } from "../resources/erasures/erasure-resource.ts";
import { inReceiptOrder } from "../resources/erasures/erasure-rules.ts";
import { eventResource } from "../resources/events/event-resource.ts";
import type { Handlers } from "../resources/handlers.ts";
import { installationResource } from "../resources/installation/installation-resource.ts";
import { keyResource } from "../resources/keys/key-resource.ts";
import { logResource } from "../resources/logs/log-resource.ts";
import { memoryResource } from "../resources/memory/memory-resource.ts";
import { metricResource } from "../resources/metrics/metric-resource.ts";
import { mfaResource } from "../resources/mfa/mfa-resource.ts";
import { organisationResource } from "../resources/organisations/organisation-resource.ts";
import { providerResource } from "../resources/providers/provider-resource.ts";
import type { DataKey, PagedStep, Quota, Resource, Step, Sweep } from "../resources/resource.ts";
import { secretResource } from "../resources/secrets/secret-resource.ts";
import { waitingRunResource } from "../resources/waiting-runs/waiting-run-resource.ts";
import { webhookResource } from "../resources/webhooks/webhook-resource.ts";
import { runResource } from "../runs/run-resource.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";

/**
 * Every resource. The order counts:
 *  - reconciling looks for lost runs first,
 *  - housekeeping tells providers of connections, and finishes clears of memory, before it purges agents, and
 *  - an erasure under way goes on with the stage after the one that it has reached, so stages never change places.
 */
export const resources = [
  runResource,
  deploymentResource,
  waitingRunResource,
  connectionResource,
  memoryResource,
  approvalResource,
  logResource,
  eventResource,
  webhookResource,
  answerResource,
  auditResource,
  agentResource,
  keyResource,
  mfaResource,
  consoleSessionResource,
  secretResource,
  providerResource,
  metricResource,
  installationResource,
  organisationResource,
  engineTaskResource,
  epochResource,
  { name: "tables of the installation", tables: ownTables, dataKeys: { signingKeySealer: sealerFor("signing keys") } },
  erasureResource,
] as const satisfies readonly Resource[];

type Declared = (typeof resources)[number];
type PartOf<D, K extends keyof Resource> = D extends { readonly [P in K]: infer V } ? V : never;
type Part<K extends keyof Resource> = PartOf<Declared, K>;
type All<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void ? I : never;
type FirstArgument<F> = F extends () => unknown ? never : F extends (deps: infer D) => unknown ? D : never;
/** The dependencies of the functions of all resources together. */
type DepsOf<K extends keyof Resource> = All<FirstArgument<Part<K>>>;
type StagesOf<E> = E extends { readonly stages: infer S } ? S : never;

/** The values of several objects in one. */
const merge = <T>(parts: readonly object[]): T => Object.assign({}, ...parts) as T;

type DataKeys = All<Part<"dataKeys">>;
export type KeyUses = { readonly [K in keyof DataKeys]: ReturnType<DataKeys[K]["create"]> };
const dataKeys = merge<Readonly<Record<string, DataKey>>>(
  resources.flatMap((resource) => ("dataKeys" in resource ? [resource.dataKeys] : [])),
);
export const dataKeyPurposes: readonly string[] = [...new Set(Object.values(dataKeys).map(({ purpose }) => purpose))];
/** The resources' uses of their data keys: sealers, digests and keys. */
export const createKeyUses = (keyFor: (purpose: string) => KeySource): KeyUses =>
  Object.fromEntries(
    Object.entries(dataKeys).map(([name, { purpose, create }]) => [name, create(keyFor(purpose))]),
  ) as KeyUses;

export type ResourceMetrics = All<ReturnType<Part<"metrics">>>;
export const addMetrics = (telemetry: Pick<Telemetry, "add">): ResourceMetrics =>
  merge(resources.flatMap((resource) => ("metrics" in resource ? [telemetry.add<object>(resource.metrics)] : [])));

export const addGauges = (telemetry: Pick<Telemetry, "add">, deps: All<Parameters<Part<"gauges">>[1]>): void => {
  for (const resource of resources)
    if ("gauges" in resource) telemetry.add((registry) => resource.gauges(registry, deps));
};

export const quotaDefinitions: Readonly<Record<QuotaName, Quota>> = merge<All<Part<"quotas">>>(
  resources.flatMap((resource) => ("quotas" in resource ? [resource.quotas] : [])),
);

/** How the audit log names a member of each collection in a path. */
export const auditedCollections = merge<Readonly<Record<string, string>>>(
  resources.flatMap((resource) => ("audited" in resource ? [resource.audited] : [])),
);

export const agentOfResource = merge<All<Part<"agentOf">>>(
  resources.flatMap((resource) => ("agentOf" in resource ? [resource.agentOf] : [])),
);

export const tables = merge<Tables>(resources.map((resource) => resource.tables));
/**
 * Tables whose rows are deleted one by one, and counted. All other tables that grow have partitions, which are dropped
 * whole.
 */
export const purgedTables: readonly string[] = Object.entries(tables).flatMap(([name, { purge, agent }]) =>
  purge || agent === "purge_agent" ? [name] : [],
);

export const receiptParts = inReceiptOrder(
  merge(resources.flatMap((resource) => ("erasure" in resource ? [resource.erasure.receipt] : []))),
);
export const eraseStages = (deps: All<FirstArgument<StagesOf<Part<"erasure">>>>): readonly EraseStage[] =>
  resources.flatMap((resource) =>
    "erasure" in resource && "stages" in resource.erasure ? resource.erasure.stages(deps) : [],
  );

/** One handler for each operation: a missing one is a compile error. */
export const createHandlers = (deps: DepsOf<"handlers">): Handlers =>
  merge<All<ReturnType<Part<"handlers">>>>(
    resources.flatMap((resource) => ("handlers" in resource ? [resource.handlers(deps)] : [])),
  );

export const createSweeps = (deps: DepsOf<"sweeps">): readonly Sweep[] =>
  resources.flatMap((resource) => ("sweeps" in resource ? resource.sweeps(deps) : []));

/** In the order of the resources, each before the purge of its tables. Steps with the same name are one. */
export function createHousekeeping(
  deps: DepsOf<"housekeeping"> & Parameters<typeof createPurgeSteps>[0],
): readonly Step[] {
  const steps = resources.flatMap((resource) => [
    ...("housekeeping" in resource ? resource.housekeeping(deps) : []),
    ...createPurgeSteps(deps, resource.tables),
  ]);
  return [...Map.groupBy(steps, ({ name }) => name)].map(([name, parts]) => ({
    name,
    run: async () => {
      for (const { run } of parts) await run();
    },
  }));
}

export const createReconcile = (deps: DepsOf<"reconcile">): readonly (Step | PagedStep)[] =>
  resources.flatMap((resource): readonly (Step | PagedStep)[] =>
    "reconcile" in resource ? resource.reconcile(deps) : [],
  );

/** From the last to the first: a clear of memory may wait for other writers, so its lock is taken last. */
export const onAgentDelete: OnAgentDelete = async (trx, agent, add) => {
  for (const resource of resources.toReversed())
    if ("onAgentDelete" in resource) await resource.onAgentDelete(trx, agent, add);
};
export const onAgentResume = async (trx: OrganisationTransaction, agent: AgentKey): Promise<void> => {
  for (const resource of resources) if ("onAgentResume" in resource) await resource.onAgentResume(trx, agent);
};
/** In the background: reconciling repeats failed work. */
export const createAfterAgentDelete = (
  deps: DepsOf<"afterAgentDelete"> & { readonly logger: Logger },
): ((agent: AgentKey) => void) => {
  const works = resources.flatMap((resource) =>
    "afterAgentDelete" in resource ? [{ name: resource.name, run: resource.afterAgentDelete(deps) }] : [],
  );
  return (agent) => {
    for (const { name: resource, run } of works)
      void run(agent).catch((error: unknown) =>
        deps.logger.warn(
          { err: error, resource, ...agent },
          "work after the deletion of an agent failed, reconciling will retry",
        ),
      );
  };
};
