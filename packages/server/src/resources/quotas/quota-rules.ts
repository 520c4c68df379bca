import { type CountedQuota, type QuotaName, type StoredQuota, type Tier, tierLimits, tiers } from "@perch/contract";

interface QuotaText {
  /** What has reached its limit, with the limit where `#` is. */
  readonly reached: string;
  /** What makes room, without the last full stop. */
  readonly advice: string;
}

const countedTexts: Readonly<Record<CountedQuota, QuotaText>> = {
  agents: { reached: "This organisation has # agents", advice: "Delete one" },
  keys: { reached: "This organisation has # active API keys", advice: "Revoke one" },
  webhooks: { reached: "This organisation has # webhooks", advice: "Delete one" },
  providers: { reached: "This organisation has # model providers", advice: "Delete one" },
  secrets: { reached: "This organisation has # secrets, those of its agents included", advice: "Delete one" },
  versionsPerAgent: {
    reached: "This agent has # versions",
    advice: 'Deploy one of them with "redeploy": true, create another agent',
  },
  deploymentsPerAgent: {
    reached: "This agent has # pending and active deployments",
    advice: "Wait until pending ones have ended, create another agent for more environments",
  },
  waitingRuns: {
    reached: "This organisation has # runs that wait for a person",
    advice: "Decide the open approvals, which `GET /v1/approvals?status=open` lists, cancel runs that wait",
  },
  connections: {
    reached: "This organisation has # connections of users, those that were revoked in the last 30 days included",
    advice: "Delete agents or erase users that are gone",
  },
};

const storedTexts: Readonly<Record<StoredQuota, QuotaText>> = {
  memoryBytes: {
    reached: "This organisation stores # MB of memories",
    advice: "Delete some, which counts within two minutes, set `memory.remember` of its agents to false",
  },
  recordBytes: {
    reached: "This organisation has stored # MB of runs, sessions and logs in the last 30 days",
    advice: "Wait until the oldest have expired",
  },
};

const formatted = (value: number): string => value.toLocaleString("en-US");
const isStored = (quota: QuotaName): quota is StoredQuota => quota in storedTexts;
const isLargest = (tier: Tier): boolean => tier === tiers.at(-1);

/** Names the quota, its limit, and what to do. */
export function quotaMessage(quota: QuotaName, tier: Tier): string {
  const limit = tierLimits[tier][quota];
  const { reached, advice } = isStored(quota) ? storedTexts[quota] : countedTexts[quota];
  const [amount, allowed] = isStored(quota)
    ? [formatted(limit / 1_000_000), "as much as its tier"]
    : [formatted(limit), "as many as its tier"];
  const next = isLargest(tier) ? `${advice}.` : `${advice}, or ask for a larger tier.`;
  return `${reached.replace("#", amount)}, ${allowed} (${tier}) allows. ${next}`;
}
