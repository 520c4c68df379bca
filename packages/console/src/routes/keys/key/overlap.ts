import type { ApiKey } from "@perch/sdk";

/** How long an old key stays valid, in seconds. */
export const overlaps: Readonly<Record<string, string>> = {
  "0": "no longer: it may have leaked",
  "3600": "an hour",
  "86400": "a day",
  "604800": "7 days",
};

/** The key's own expiry may come first. Undefined means at once. */
export function endOfOldKey(
  { expires_at }: Pick<ApiKey, "expires_at">,
  overlapSeconds: number,
  now: Date,
): Date | undefined {
  if (overlapSeconds === 0) return undefined;
  const overlapEnds = now.getTime() + overlapSeconds * 1000;
  return new Date(expires_at === null ? overlapEnds : Math.min(overlapEnds, Date.parse(expires_at)));
}
