import { hash } from "node:crypto";
import type { AgentDefinition, SecuritySettings } from "@perch/contract";
import type { Epoch } from "../../cache/epoch.ts";
import { createEpochCache } from "../../cache/epoch-cache.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { Shares } from "../../fairness/shares.ts";
import { floorOf, secretsOfTool } from "../../outbound/tools/floor-rules.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import type { ApprovalFloor } from "../../platform/approval-floor.ts";
import { listSecretsWithApproval } from "./secret-queries.ts";

interface Floored {
  readonly definition: Pick<AgentDefinition, "runtime" | "tools">;
  readonly security: SecuritySettings;
}

const secretsOf = ({ tools }: Floored["definition"]): string[] => [...new Set(tools.flatMap(secretsOfTool))];

/** The floor of a run that would begin now. A definition without secrets reads nothing. */
export async function findApprovalFloor(
  trx: OrganisationTransaction,
  agent: AgentKey,
  { definition, security }: Floored,
): Promise<ApprovalFloor | undefined> {
  const names = secretsOf(definition);
  return floorOf(definition, security, names.length === 0 ? [] : await listSecretsWithApproval(trx, agent, names));
}

/** The same, with the secrets that need approval cached while the organisation's epoch is current. */
export type ApprovalFloors = (agent: AgentKey, floored: Floored, epoch: Epoch) => Promise<ApprovalFloor | undefined>;

interface ApprovalFloorsDeps {
  readonly db: Database;
  readonly cacheBytes: Shares["cacheBytes"];
  readonly now: () => number;
}

const bounds = { maxEntries: 20_000, maxBytes: 16 * 1024 * 1024 };

export function createApprovalFloors({ db, cacheBytes, now }: ApprovalFloorsDeps): ApprovalFloors {
  const cache = createEpochCache<readonly string[]>({ ...bounds, partOf: cacheBytes, now });
  return async (agent, { definition, security }, epoch) => {
    const names = secretsOf(definition);
    if (names.length === 0) return floorOf(definition, security, []);
    const { organisationId, agentId } = agent;
    // Names may be long and many, and an entry is counted by its value.
    const secrets = await cache.load(`${organisationId} ${agentId} ${hash("sha256", names.join(" "))}`, epoch, () =>
      db.inOrganisation(organisationId, (trx) => listSecretsWithApproval(trx, agent, names)),
    );
    return floorOf(definition, security, secrets);
  };
}
