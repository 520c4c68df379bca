import type { Database } from "../../db/database.ts";
import type { FindSecrets, FoundSecret } from "../../outbound/secrets/find-secrets.ts";
import type { Logger } from "../../platform/logger.ts";
import type { Sealer } from "../../platform/sealing.ts";
import { openSecretValue } from "./seal-secret.ts";
import { listUsableSecrets, type UsableSecret, updateSecretsLastUsedAt } from "./secret-queries.ts";
import { originOf } from "./secret-rules.ts";

interface FindSecretsDeps {
  readonly db: Pick<Database, "inOrganisation" | "onBehalfOf">;
  readonly sealer: Sealer;
  readonly logger: Logger;
  readonly now: () => number;
}

/** How much `last_used_at` may be out of date. */
const useIsCurrentMs = 60_000;

/** Read for every call: a changed value counts from the next call on every worker, and none becomes part of a run's journal. */
export function createFindSecrets({ db, sealer, logger, now }: FindSecretsDeps): FindSecrets {
  const open = (row: UsableSecret): FoundSecret | undefined => {
    const { organisation_id: organisationId, agent_id: agentId, name, hosts, approval } = row;
    try {
      const value = openSecretValue(sealer, row.sealed_value, { organisationId, agentId, name, hosts, approval });
      return { value, origins: hosts.map(originOf), ...(approval !== null && { needsApproval: true }) };
    } catch (error) {
      // The row was changed in the database, so it counts as missing.
      logger.error({ err: error, organisationId, secret: name }, "secret cannot be opened, set its value again");
      return undefined;
    }
  };

  const recordUse = async (organisationId: string, rows: readonly UsableSecret[]): Promise<void> => {
    const at = new Date(now());
    const unlessSince = new Date(at.getTime() - useIsCurrentMs);
    const due = rows.filter(({ last_used_at }) => last_used_at === null || last_used_at < unlessSince);
    if (due.length === 0) return;
    try {
      await db.inOrganisation(organisationId, (trx) =>
        updateSecretsLastUsedAt(trx, organisationId, due, { at, unlessSince }),
      );
    } catch (error) {
      logger.debug({ err: error, organisationId }, "last use of secrets not written, the next use will be");
    }
  };

  return async (owner, names) => {
    const found = new Map<string, FoundSecret>();
    if (names.length === 0) return found;
    const rows = await db.onBehalfOf(owner.organisationId, (one) => listUsableSecrets(one, owner, names));
    for (const row of rows) {
      const secret = open(row);
      if (secret) found.set(row.name, secret);
    }
    void recordUse(
      owner.organisationId,
      rows.filter(({ name }) => found.has(name)),
    );
    return found;
  };
}
