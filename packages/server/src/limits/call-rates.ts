import { type Tier, tierLimits } from "@perch/contract";
import type { Bucket, Gate } from "./gate.ts";
import type { Rate } from "./gcra.ts";

const minuteMs = 60_000;
/** As many calls at once as the rate allows in this time. */
const burstMs = minuteMs / 2;
/** Calls beyond that wait for up to this long. */
const maxWaitMs = 3000;

function rateOf(perMinute: number): Rate {
  const intervalMs = minuteMs / perMinute;
  return { intervalMs, capacity: (burstMs + maxWaitMs) / intervalMs };
}

/**
 * A host gets no more than the largest tier may send. Its callers share that, but each has at least what the smallest
 * tier may send.
 */
const rateOfHost = rateOf(tierLimits.enterprise.callsPerMinute);
const maxPartIntervalMs = rateOf(tierLimits.free.callsPerMinute).intervalMs;

const callBuckets = (tier: Tier, host: string): readonly Bucket[] => [
  { key: "calls", rate: rateOf(tierLimits[tier].callsPerMinute) },
  { key: `calls:${host}`, rate: rateOfHost, maxPartIntervalMs },
];

type CallLimit = "calls" | "calls_to_host";

const refusals: Readonly<Record<CallLimit, (tier: Tier) => string>> = {
  calls: (tier) =>
    `This organisation used up its ${tierLimits[tier].callsPerMinute} calls to other servers a minute (tier ${tier}). Make fewer calls, or ask for a larger tier.`,
  calls_to_host: () =>
    "This organisation used up its part of the calls to this host. Make fewer calls to it, or make them later.",
};

/** When a call may be sent, or why it may not. */
export type CallTurn = { readonly waitMs: number } | { readonly refused: string; readonly retryAfterMs: number };

interface TakeCallDeps {
  readonly gate: Pick<Gate, "pass">;
  readonly tierOf: (organisationId: string) => Promise<Tier>;
  readonly onRefused: (limit: CallLimit, organisationId: string) => void;
}

/** Counts a call of an organisation, in all processes together. */
export const createTakeCall =
  ({ gate, tierOf, onRefused }: TakeCallDeps) =>
  async (organisationId: string, host: string): Promise<CallTurn> => {
    const tier = await tierOf(organisationId);
    const { allowed, refusedBy, waitMs, nowMs, buckets } = await gate.pass(organisationId, callBuckets(tier, host));
    if (allowed) return { waitMs: Math.max(0, ...buckets.map(({ fullAtMs }) => fullAtMs - nowMs - burstMs)) };
    const limit = refusedBy === 0 ? "calls" : "calls_to_host";
    onRefused(limit, organisationId);
    // Then several calls fit, because calls that are refused together come back together.
    return { refused: refusals[limit](tier), retryAfterMs: Math.ceil(waitMs) + maxWaitMs };
  };
