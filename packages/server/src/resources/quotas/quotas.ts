import { type QuotaName, type Tier, tierLimits } from "@perch/contract";
import { sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import { conflict } from "../../platform/api-error.ts";
import { quotaCounts } from "./quota-counts.ts";
import { quotaMessage } from "./quota-rules.ts";

/** An organisation, and how much it may have. */
export interface QuotaHolder {
  readonly id: string;
  readonly tier: Tier;
}

export interface Quotas {
  /**
   * Refuses what the transaction is about to create, where there are as many as the tier allows. Who creates the same kind at the
   * same time waits for this transaction to end, so the limit is exact.
   */
  readonly requireRoom: (
    trx: OrganisationTransaction,
    organisation: QuotaHolder,
    quota: QuotaName,
    agentId?: string,
  ) => Promise<void>;
}

interface QuotaDeps {
  readonly onRefused: (quota: QuotaName, organisationId: string) => void;
}

/** By a statement of its own: the count after it sees what was committed while this one waited. */
const lockQuota = async (trx: OrganisationTransaction, { id }: QuotaHolder, quota: QuotaName): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`perch quota ${quota} ${id}`}, 0))`.execute(trx);
};

export const createQuotas = ({ onRefused }: QuotaDeps): Quotas => ({
  requireRoom: async (trx, organisation, quota, agentId) => {
    const limit = tierLimits[organisation.tier][quota];
    await lockQuota(trx, organisation, quota);
    const counted = quotaCounts[quota]({ organisationId: organisation.id, agentId }, limit);
    const { rows } = await sql<{ used: number }>`select ${counted} as used`.execute(trx);
    if ((rows[0]?.used ?? 0) < limit) return;
    onRefused(quota, organisation.id);
    throw conflict(quotaMessage(quota, organisation.tier));
  },
});
