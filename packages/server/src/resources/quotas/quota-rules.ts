import { type QuotaName, storedQuotas, type Tier, tierLimits, tiers } from "@perch/contract";
import type { Quota } from "../resource.ts";

const formatted = (value: number): string => value.toLocaleString("en-US");
const isStored = (quota: QuotaName): boolean => storedQuotas.some((name) => name === quota);
const isLargest = (tier: Tier): boolean => tier === tiers.at(-1);

/** Names the quota, its limit, and the advice. */
export function quotaMessage({ reached, advice }: Quota, quota: QuotaName, tier: Tier): string {
  const limit = tierLimits[tier][quota];
  const [amount, allowed] = isStored(quota)
    ? [formatted(limit / 1_000_000), "as much as its tier"]
    : [formatted(limit), "as many as its tier"];
  const next = isLargest(tier) ? `${advice}.` : `${advice}, or ask for a larger tier.`;
  return `${reached.replace("#", amount)}, ${allowed} (${tier}) allows. ${next}`;
}
