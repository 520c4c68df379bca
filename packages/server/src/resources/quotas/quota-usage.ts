import { organisationQuotas, type Tier, type TierLimits, tierLimits, type Usage } from "@perch/contract";
import { sql } from "kysely";
import type { Epoch } from "../../cache/epoch.ts";
import { createEpochCache } from "../../cache/epoch-cache.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { Shares } from "../../fairness/shares.ts";
import type { QuotaDefinitions, QuotaHolder } from "./quotas.ts";

type Counts = Readonly<Record<string, number>>;

const toSnakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * An organisation whose tier became smaller has more than its limit, so it is counted up to the largest limit of any
 * tier.
 */
const maxCounted = tierLimits.enterprise;

async function countAll(
  trx: OrganisationTransaction,
  definitions: QuotaDefinitions,
  organisationId: string,
): Promise<Counts> {
  const counts = organisationQuotas.map(
    (quota) => sql`${definitions[quota].count({ organisationId }, maxCounted[quota])} as ${sql.id(quota)}`,
  );
  const { rows } = await sql<Counts>`select ${sql.join(counts)}`.execute(trx);
  if (!rows[0]) throw new Error("a statement without a table returned no row");
  return rows[0];
}

/** An organisation's usage, and its limits. */
export type FindUsage = (organisation: QuotaHolder, epoch: Epoch) => Promise<Usage>;

interface UsageDeps {
  readonly definitions: QuotaDefinitions;
  readonly db: Database;
  readonly cacheBytes: Shares["cacheBytes"];
  readonly now: () => number;
}

const bounds = { maxEntries: 10_000, maxBytes: 16 * 1024 * 1024 };

/**
 * Counted by one statement after a change, and cached until the next, so that repeated requests cost the database
 * nothing.
 */
export function createFindUsage({ db, definitions, cacheBytes, now }: UsageDeps): FindUsage {
  const cache = createEpochCache<Counts>({ ...bounds, partOf: cacheBytes, now });
  return async ({ id, tier }, epoch) => {
    const counts = await cache.load(`${id} usage`, epoch, () =>
      db.inOrganisation(id, (trx) => countAll(trx, definitions, id)),
    );
    const uses = organisationQuotas.map((quota) => [
      toSnakeCase(quota),
      { used: counts[quota] ?? 0, limit: tierLimits[tier][quota] },
    ]);
    return Object.fromEntries(uses) as Usage;
  };
}

export function toLimits(tier: Tier): TierLimits {
  const limits = tierLimits[tier];
  return {
    requests_per_minute: limits.requestsPerMinute,
    burst: limits.burst,
    calls_per_minute: limits.callsPerMinute,
    concurrent_runs: limits.concurrentRuns,
    log_days: limits.logDays,
    versions_per_agent: limits.versionsPerAgent,
    deployments_per_agent: limits.deploymentsPerAgent,
    memories_per_agent: limits.memoriesPerAgent,
  };
}
