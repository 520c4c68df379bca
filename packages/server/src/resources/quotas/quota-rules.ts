import { type QuotaName, type Tier, tierLimits, tiers } from "@perch/contract";

interface QuotaText {
  readonly holder: string;
  /** What is counted. */
  readonly counted: string;
  /** What makes room, without the last full stop. */
  readonly advice: string;
}

const ofOrganisation = { holder: "This organisation" };
const ofAgent = { holder: "This agent" };

const quotaTexts: Readonly<Record<QuotaName, QuotaText>> = {
  agents: { ...ofOrganisation, counted: "agents", advice: "Delete one" },
  keys: { ...ofOrganisation, counted: "active API keys", advice: "Revoke one" },
  webhooks: { ...ofOrganisation, counted: "webhooks", advice: "Delete one" },
  providers: { ...ofOrganisation, counted: "model providers", advice: "Delete one" },
  versionsPerAgent: {
    ...ofAgent,
    counted: "versions",
    advice: 'Deploy one of them with "redeploy": true, create another agent',
  },
  deploymentsPerAgent: {
    ...ofAgent,
    counted: "pending and active deployments",
    advice: "Wait until pending ones have ended, create another agent for more environments",
  },
};

const isLargest = (tier: Tier): boolean => tier === tiers.at(-1);

/** Names the quota, its limit, and what to do. */
export function quotaMessage(quota: QuotaName, tier: Tier): string {
  const { holder, counted, advice } = quotaTexts[quota];
  const limit = tierLimits[tier][quota].toLocaleString("en-US");
  const next = isLargest(tier) ? `${advice}.` : `${advice}, or ask for a larger tier.`;
  return `${holder} has ${limit} ${counted}, as many as its tier (${tier}) allows. ${next}`;
}
