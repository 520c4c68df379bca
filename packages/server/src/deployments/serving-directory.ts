import type { Database } from "../db/database.ts";
import { createEpochCache } from "../gate/epoch-cache.ts";
import type { Epoch } from "../gate/gate.ts";
import { listServing } from "./deployment-queries.ts";
import type { Arm, Serving } from "./deployment-rules.ts";
import { type AgentKey, definitionOf, findVersion } from "./version-queries.ts";
import type { Definition } from "./version-rules.ts";

/** What an environment runs, remembered while the epoch holds; that nothing was deployed to it is remembered too. */
export interface ServingDirectory {
  readonly find: (agent: AgentKey, environment: string, epoch: Epoch) => Promise<Serving<Definition> | undefined>;
  readonly findVersion: (agent: AgentKey, label: string, epoch: Epoch) => Promise<Definition | undefined>;
}

interface ServingDirectoryDeps {
  readonly db: Database;
  readonly now: () => number;
}

const mostEnvironments = 20_000;
const mostVersions = 2000;

type ServingRow = Awaited<ReturnType<typeof listServing>>[number];

const toArm = (row: ServingRow): Arm<Definition> => ({
  deploymentId: row.id,
  version: row.version,
  trafficPercent: row.traffic_percent,
  definition: definitionOf(row),
  guarded: row.guards !== null,
});

function toServing(rows: readonly ServingRow[]): Serving<Definition> | undefined {
  const live = rows.find(({ traffic_percent }) => traffic_percent === 100);
  const canary = rows.find(({ traffic_percent }) => traffic_percent < 100);
  return live && { live: toArm(live), canary: canary && toArm(canary) };
}

export function createServingDirectory({ db, now }: ServingDirectoryDeps): ServingDirectory {
  const environments = createEpochCache<Serving<Definition> | undefined>({ most: mostEnvironments, now });
  const versions = createEpochCache<Definition | undefined>({ most: mostVersions, now });
  const keyOf = ({ organisationId, agentId }: AgentKey, name: string) => `${organisationId} ${agentId} ${name}`;
  return {
    find: (agent, environment, epoch) =>
      environments.load(keyOf(agent, environment), epoch, () =>
        db.inOrganisation(agent.organisationId, async (trx) => toServing(await listServing(trx, agent, environment))),
      ),
    findVersion: (agent, label, epoch) =>
      versions.load(keyOf(agent, label), epoch, async () => {
        const row = await db.inOrganisation(agent.organisationId, (trx) => findVersion(trx, agent, label));
        return row && definitionOf(row);
      }),
  };
}
