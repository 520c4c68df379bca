import { type CountedQuota, type QuotaName, type StoredQuota, type Tier, tierLimits } from "@perch/contract";
import { sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import { conflict } from "../../platform/api-error.ts";
import type { Counted, Quota } from "../resource.ts";
import { quotaMessage } from "./quota-rules.ts";
import type { KnownBytes } from "./stored-bytes.ts";

/** An organisation, and how much it may have. */
export interface QuotaHolder {
  readonly id: string;
  readonly tier: Tier;
}

export interface Quotas {
  /**
   * Refuses a resource that the transaction is about to create, if there are as many as the tier allows. Another
   * transaction that creates the same kind waits for this one to end, so the limit is exact.
   */
  readonly requireRoom: (
    trx: OrganisationTransaction,
    organisation: QuotaHolder,
    quota: CountedQuota,
    agentId?: string,
  ) => Promise<void>;
  /**
   * Whether one more run may wait for a person. Runs that are suspended at the same time do not wait for each other here, so they may
   * exceed the limit together, by no more than run at once.
   */
  readonly hasRoomToWait: (trx: OrganisationTransaction, organisationId: string, tier: Tier) => Promise<boolean>;
  /** Names the quota, its limit, and the advice. */
  readonly message: (quota: QuotaName, tier: Tier) => string;
  /** Whether it may store more, as far as this process knows. Makes no query, so it costs a run nothing. */
  readonly hasSpace: (organisation: QuotaHolder, quota: StoredQuota) => boolean;
  /** Refuses to store more if the organisation stores as much as its tier allows. */
  readonly requireSpace: (organisation: QuotaHolder, quotas: readonly StoredQuota[]) => void;
}

/** How each quota is counted, and the words of its refusal. */
export type QuotaDefinitions = Readonly<Record<QuotaName, Quota>>;

interface QuotaDeps {
  readonly definitions: QuotaDefinitions;
  readonly knownBytes: KnownBytes;
  readonly onRefused: (quota: QuotaName, organisationId: string) => void;
}

/** By its own statement, so that the count after it sees changes that were committed while this one waited. */
const lockQuota = async (trx: OrganisationTransaction, { id }: QuotaHolder, quota: CountedQuota): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`perch quota ${quota} ${id}`}, 0))`.execute(trx);
};

export function createQuotas({ definitions, knownBytes, onRefused }: QuotaDeps): Quotas {
  const message = (quota: QuotaName, tier: Tier) => quotaMessage(definitions[quota], quota, tier);
  const refuse = (quota: QuotaName, { id, tier }: QuotaHolder): never => {
    onRefused(quota, id);
    throw conflict(message(quota, tier));
  };
  const countUsed = async (trx: OrganisationTransaction, quota: CountedQuota, of: Counted, max: number) => {
    const { rows } = await sql<{ used: number }>`select ${definitions[quota].count(of, max)} as used`.execute(trx);
    return rows[0]?.used ?? 0;
  };
  const hasSpace: Quotas["hasSpace"] = ({ id, tier }, quota) =>
    (knownBytes(id)?.[quota] ?? 0) < tierLimits[tier][quota];
  return {
    requireRoom: async (trx, organisation, quota, agentId) => {
      const limit = tierLimits[organisation.tier][quota];
      await lockQuota(trx, organisation, quota);
      const used = await countUsed(trx, quota, { organisationId: organisation.id, agentId }, limit);
      if (used >= limit) refuse(quota, organisation);
    },
    hasRoomToWait: async (trx, organisationId, tier) => {
      const limit = tierLimits[tier].waitingRuns;
      const hasRoom = (await countUsed(trx, "waitingRuns", { organisationId }, limit)) < limit;
      if (!hasRoom) onRefused("waitingRuns", organisationId);
      return hasRoom;
    },
    message,
    hasSpace,
    requireSpace: (organisation, quotas) => {
      const full = quotas.find((quota) => !hasSpace(organisation, quota));
      if (full) refuse(full, organisation);
    },
  };
}
