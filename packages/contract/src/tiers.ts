import { z } from "zod";

export const tiers = ["free", "pro", "enterprise"] as const;
export const Tier = z.enum(tiers).meta({ id: "Tier" });
export type Tier = z.infer<typeof Tier>;

/** Resources of an organisation whose number the tier limits. */
const countedQuotas = ["agents", "keys", "webhooks", "providers", "secrets", "waitingRuns", "connections"] as const;
/** Resources of each agent whose number the tier limits. */
const agentQuotas = ["versionsPerAgent", "deploymentsPerAgent"] as const;
/** How much it may store: memories, and the records of runs with sessions, events, logs, deliveries and kept answers. */
export const storedQuotas = ["memoryBytes", "recordBytes"] as const;
export const organisationQuotas = [...countedQuotas, ...storedQuotas] as const;
export const quotaNames = [...countedQuotas, ...agentQuotas, ...storedQuotas] as const;
export type CountedQuota = (typeof countedQuotas)[number] | (typeof agentQuotas)[number];
export type StoredQuota = (typeof storedQuotas)[number];
export type QuotaName = (typeof quotaNames)[number];

const MB = 1_000_000;
const GB = 1000 * MB;

interface LimitsOfTier extends Readonly<Record<QuotaName, number>> {
  /** Sustained, and `burst` at once. */
  readonly requestsPerMinute: number;
  readonly burst: number;
  /** Calls to tools, MCP servers, remote agents and authorization servers: sustained, and half of them at once. */
  readonly callsPerMinute: number;
  readonly concurrentRuns: number;
  /** How long logs and metrics are stored. */
  readonly logDays: number;
  readonly memoriesPerAgent: number;
}

/** Everything that depends on the tier of an organisation. */
export const tierLimits = {
  free: {
    requestsPerMinute: 60,
    burst: 100,
    callsPerMinute: 120,
    concurrentRuns: 20,
    logDays: 7,
    agents: 20,
    keys: 20,
    webhooks: 20,
    providers: 5,
    secrets: 20,
    versionsPerAgent: 100,
    deploymentsPerAgent: 100,
    waitingRuns: 1000,
    connections: 1000,
    memoriesPerAgent: 10_000,
    memoryBytes: 200 * MB,
    recordBytes: 1 * GB,
  },
  pro: {
    requestsPerMinute: 1000,
    burst: 2000,
    callsPerMinute: 2000,
    concurrentRuns: 200,
    logDays: 14,
    agents: 500,
    keys: 500,
    webhooks: 200,
    providers: 20,
    secrets: 500,
    versionsPerAgent: 1000,
    deploymentsPerAgent: 1000,
    waitingRuns: 100_000,
    connections: 100_000,
    memoriesPerAgent: 1_000_000,
    memoryBytes: 20 * GB,
    recordBytes: 100 * GB,
  },
  enterprise: {
    requestsPerMinute: 10_000,
    burst: 20_000,
    callsPerMinute: 20_000,
    concurrentRuns: 2000,
    logDays: 30,
    agents: 10_000,
    keys: 10_000,
    webhooks: 1000,
    providers: 50,
    secrets: 5000,
    versionsPerAgent: 10_000,
    deploymentsPerAgent: 10_000,
    waitingRuns: 1_000_000,
    connections: 10_000_000,
    memoriesPerAgent: 10_000_000,
    memoryBytes: 1000 * GB,
    recordBytes: 2000 * GB,
  },
} as const satisfies Record<Tier, LimitsOfTier>;

const Use = z.object({ used: z.int().min(0), limit: z.int().min(0) }).meta({ id: "Use" });

export const Usage = z
  .object({
    agents: Use,
    keys: Use.describe("API keys that are active."),
    webhooks: Use,
    providers: Use.describe("Model providers of your own."),
    secrets: Use.describe("Secrets of the organisation and of its agents."),
    waiting_runs: Use.describe("Runs that wait for a person, or for a turn before theirs that does."),
    connections: Use.describe(
      "Accounts that users connected, those that were not confirmed or were revoked lately included.",
    ),
    memory_bytes: Use.describe("Texts and metadata of memories."),
    record_bytes: Use.describe(
      "Messages, responses, sessions, events, logs, contents of runs, deliveries and answers for retries of the last 30 days.",
    ),
  })
  .meta({ id: "Usage" });
export type Usage = z.infer<typeof Usage>;

const count = z.int().min(0);
export const TierLimits = z
  .object({
    requests_per_minute: count,
    burst: count.describe("Requests at once."),
    calls_per_minute: count.describe(
      "Calls to tools, MCP servers, remote agents and authorization servers. Half of them may be made at once.",
    ),
    concurrent_runs: count,
    log_days: count.describe("How far back logs and metrics can be read."),
    versions_per_agent: count,
    deployments_per_agent: count.describe("How many are kept. Those that ended first make room for new ones."),
    memories_per_agent: count.describe("The oldest make room for new ones."),
  })
  .meta({ id: "TierLimits" });
export type TierLimits = z.infer<typeof TierLimits>;
