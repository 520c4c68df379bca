import type { RequestOf } from "@perch/sdk";

/** As typed: in percentage points, factors, runs and minutes. An empty value is not guarded. */
export interface GuardValues {
  readonly errorPoints: string;
  readonly p95Ratio: string;
  readonly tokensRatio: string;
  readonly minRuns: string;
  readonly windowMinutes: string;
}

export const noGuards: GuardValues = {
  errorPoints: "",
  p95Ratio: "",
  tokensRatio: "",
  minRuns: "50",
  windowMinutes: "60",
};

type NewGuards = NonNullable<RequestOf<"POST /v1/agents/{agent_id}/deployments">["body"]["guards"]>;

const numberOf = (text: string): number | undefined => (text.trim() === "" ? undefined : Number(text));

/** The guards with these values; undefined if none of the three is given, because a canary without them is not watched. */
export function toGuards(values: GuardValues): NewGuards | undefined {
  const points = numberOf(values.errorPoints);
  const p95 = numberOf(values.p95Ratio);
  const tokens = numberOf(values.tokensRatio);
  if (points === undefined && p95 === undefined && tokens === undefined) return undefined;
  return {
    // Rounded, or 7 points would be 0.07000000000000001.
    ...(points !== undefined && { max_error_rate_increase: Math.round(points * 1e6) / 1e8 }),
    ...(p95 !== undefined && { max_p95_ratio: p95 }),
    ...(tokens !== undefined && { max_mean_tokens_ratio: tokens }),
    min_runs: numberOf(values.minRuns) ?? 50,
    window_seconds: Math.round((numberOf(values.windowMinutes) ?? 60) * 60),
  };
}
