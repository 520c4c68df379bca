import { type SecuritySettings, type Tier, tierLimits } from "@perch/contract";
import type { Bucket } from "./gate.ts";
import type { Rate } from "./gcra.ts";

const minuteMs = 60_000;
const unitMs = { s: 1000, m: minuteMs, h: 60 * minuteMs, d: 24 * 60 * minuteMs };

export const organisationBucket = (tier: Tier): Bucket => {
  const { requestsPerMinute, burst } = tierLimits[tier];
  return { key: "requests", rate: { capacity: burst, intervalMs: minuteMs / requestsPerMinute } };
};

/** Some ten pages that are open at the same time, in a tier that has less. */
const consoleRequestsPerMinute = 600;

/** For reads of people in the console: as much as the tier has, but at least enough to show pages. */
export const consoleBucket = (tier: Tier): Bucket => {
  const perMinute = Math.max(tierLimits[tier].requestsPerMinute, consoleRequestsPerMinute);
  return { key: "console", rate: { capacity: perMinute, intervalMs: minuteMs / perMinute } };
};

/** `requests` per `window`, with a burst of the same size; undefined if the agent sets no limit. */
export function agentRate({ rateLimit }: SecuritySettings): Rate | undefined {
  if (!rateLimit?.enabled) return undefined;
  const unit = rateLimit.window.slice(-1) as keyof typeof unitMs;
  const windowMs = Number(rateLimit.window.slice(0, -1)) * unitMs[unit];
  return { capacity: rateLimit.requests, intervalMs: windowMs / rateLimit.requests };
}

export const agentBucket = (agentId: string, rate: Rate): Bucket => ({ key: `agent:${agentId}`, rate });

/** The owner of the limit, as the header fields of the IETF draft name it. */
export type LimitName = "organisation" | "console" | "agent";

export function limitName({ key }: Bucket): LimitName {
  if (key.startsWith("agent:")) return "agent";
  return key === "console" ? "console" : "organisation";
}

/** For requests without a valid key. A request with a key that this node has cached as active does not count here. */
export const unauthenticatedBucket = (requestsPerMinute: number): Bucket => ({
  key: "unauthenticated",
  rate: { capacity: requestsPerMinute, intervalMs: minuteMs / requestsPerMinute },
});

/** A household has one IPv4 address or one IPv6 /64, so a /64 counts as one address: no client gets 2^64 buckets. */
export function addressOwner(ip: string | undefined): string {
  // A request whose client has gone has no address any more.
  if (ip === undefined) return "address gone";
  const plain = ip.replace(/^::ffff:(?=\d+\.)/i, "");
  if (!plain.includes(":")) return `address ${plain}`;
  const [head = "", tail] = plain.split("::");
  const groups = head.split(":").filter(Boolean);
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(":").filter(Boolean).length;
  const full = [...groups, ...Array.from({ length: missing }, () => "0"), ...(tail ?? "").split(":").filter(Boolean)];
  return `address ${full
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}`;
}
