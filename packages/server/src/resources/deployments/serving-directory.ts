import type { Epoch } from "../../cache/epoch.ts";
import { createEpochCache } from "../../cache/epoch-cache.ts";
import type { Database } from "../../db/database.ts";
import type { Shares } from "../../fairness/shares.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import type { AgentRow } from "../agents/agent-queries.ts";
import { type ApprovalFloors, createApprovalFloors } from "../secrets/approval-floors.ts";
import type { Definitions, NamedDefinition } from "./definitions.ts";
import { listServingDeployments } from "./deployment-queries.ts";
import type { Arm, Serving } from "./deployment-rules.ts";
import { findVersion } from "./version-queries.ts";

/**
 * The version that an environment runs, cached while the epoch is current; an environment without deployments is cached
 * too.
 */
export interface ServingDirectory {
  readonly find: (agent: AgentKey, environment: string, epoch: Epoch) => Promise<Serving<NamedDefinition> | undefined>;
  readonly findVersion: (agent: AgentKey, label: string, epoch: Epoch) => Promise<NamedDefinition | undefined>;
  readonly nameDraft: (agent: AgentRow) => Promise<NamedDefinition>;
  /** The calls that a person must approve in a run of any version, by the settings outside it. */
  readonly findApprovalFloor: ApprovalFloors;
  /** For development: the draft runs if neither an environment nor a version is named, whatever is deployed. */
  readonly draftByDefault: boolean;
}

interface ServingDirectoryDeps {
  readonly db: Database;
  readonly definitions: Definitions;
  readonly draftByDefault: boolean;
  readonly cacheBytes: Shares["cacheBytes"];
  readonly now: () => number;
}

const environmentBounds = { maxEntries: 20_000, maxBytes: 32 * 1024 * 1024 };
const versionBounds = { maxEntries: 2000, maxBytes: 16 * 1024 * 1024 };

type ServingRow = Awaited<ReturnType<typeof listServingDeployments>>[number];

function toServing(
  rows: readonly ServingRow[],
  nameVersion: (row: ServingRow) => NamedDefinition,
): Serving<NamedDefinition> | undefined {
  const toArm = (row: ServingRow): Arm<NamedDefinition> => ({
    deploymentId: row.id,
    version: row.version,
    trafficPercent: row.traffic_percent,
    definition: nameVersion(row),
    guarded: row.guards !== null,
  });
  const live = rows.find(({ traffic_percent }) => traffic_percent === 100);
  const canary = rows.find(({ traffic_percent }) => traffic_percent < 100);
  return live && { live: toArm(live), canary: canary && toArm(canary) };
}

export function createServingDirectory(deps: ServingDirectoryDeps): ServingDirectory {
  const { db, definitions, draftByDefault, cacheBytes: partOf, now } = deps;
  const environments = createEpochCache<Serving<NamedDefinition> | undefined>({ ...environmentBounds, partOf, now });
  const versions = createEpochCache<NamedDefinition | undefined>({ ...versionBounds, partOf, now });
  const cacheKey = ({ organisationId, agentId }: AgentKey, name: string) => `${organisationId} ${agentId} ${name}`;
  return {
    find: (agent, environment, epoch) =>
      environments.load(cacheKey(agent, environment), epoch, () =>
        db.inOrganisation(agent.organisationId, async (trx) =>
          toServing(await listServingDeployments(trx, agent, environment), (row) =>
            definitions.nameVersion(agent, row),
          ),
        ),
      ),
    findVersion: (agent, label, epoch) =>
      versions.load(cacheKey(agent, label), epoch, async () => {
        const row = await db.inOrganisation(agent.organisationId, (trx) => findVersion(trx, agent, label));
        return row && definitions.nameVersion(agent, row);
      }),
    nameDraft: definitions.nameDraft,
    findApprovalFloor: createApprovalFloors({ db, cacheBytes: partOf, now }),
    draftByDefault,
  };
}
