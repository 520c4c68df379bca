import type { Deployment, DeploymentStats, GuardReport, Guards } from "@perch/sdk";
import { isCanary } from "../../../api/is-canary.ts";

export type VerdictTone = "waiting" | "healthy" | "failed" | "none";

export interface Verdict {
  readonly tone: VerdictTone;
  readonly sentence: string;
}

function waitingSentence({ canary, live }: GuardReport, { min_runs }: Guards): string {
  const rest = live.runs < min_runs ? `, and ${live.runs} of ${min_runs} of the live version` : "";
  return `Waiting: ${canary.runs} of ${min_runs} runs${rest}.`;
}

/** The result of the last check of a canary's guards, in a sentence; undefined if the deployment is not a canary. */
export function verdictOf(deployment: Deployment): Verdict | undefined {
  const { guards, guard_report: report, status } = deployment;
  if (report?.verdict === "rolled_back" && status === "rolled_back")
    return { tone: "failed", sentence: `Rolled back by its guards. ${report.reason ?? ""}`.trim() };
  if (!isCanary(deployment)) return undefined;
  if (!guards) return { tone: "none", sentence: "No guards: it stays until it is promoted or aborted." };
  if (!report) return { tone: "waiting", sentence: "Waiting for the first check of its guards." };
  if (report.verdict === "waiting") return { tone: "waiting", sentence: waitingSentence(report, guards) };
  return { tone: "healthy", sentence: `Healthy: no guard was violated in ${report.canary.runs} runs.` };
}

export interface GuardLine {
  readonly name: string;
  /** The limits of the guards, in the units of the columns; undefined for a value without a guard. */
  readonly limit: string | undefined;
  readonly canary: string;
  readonly live: string;
  readonly isBroken: boolean;
}

const percent = (rate: number): string => `${Math.round(rate * 1000) / 10} %`;
const orNone = (value: number | null, format: (value: number) => string): string =>
  value === null ? "–" : format(value);
const isAbove = (canary: number | null, live: number | null, ratio: number | undefined): boolean =>
  ratio !== undefined && canary !== null && live !== null && live > 0 && canary / live > ratio;

const times = (ratio: number | undefined): string | undefined =>
  ratio === undefined ? undefined : `at most ${ratio} × live`;

const nothing: DeploymentStats = { runs: 0, error_rate: 0, p95_ms: null, mean_tokens: null };

/** The figures of canary and live version side by side, with the limit of each guard. */
export function guardLines(
  guards: Guards | null,
  report: GuardReport | null,
  formatMs: (ms: number) => string,
): readonly GuardLine[] {
  const { canary, live } = report ?? { canary: nothing, live: nothing };
  const increase = guards?.max_error_rate_increase;
  const rate = (stats: DeploymentStats) => (stats.runs === 0 ? "–" : percent(stats.error_rate));
  return [
    {
      name: "Runs",
      limit: guards ? `at least ${guards.min_runs}` : undefined,
      canary: String(canary.runs),
      live: String(live.runs),
      isBroken: false,
    },
    {
      name: "Error rate",
      limit: increase === undefined ? undefined : `at most ${percent(increase).replace(" %", "")} points above live`,
      canary: rate(canary),
      live: rate(live),
      isBroken: increase !== undefined && Math.round((canary.error_rate - live.error_rate) * 1e6) / 1e6 > increase,
    },
    {
      name: "Run time, 95th percentile",
      limit: times(guards?.max_p95_ratio),
      canary: orNone(canary.p95_ms, formatMs),
      live: orNone(live.p95_ms, formatMs),
      isBroken: isAbove(canary.p95_ms, live.p95_ms, guards?.max_p95_ratio),
    },
    {
      name: "Mean tokens",
      limit: times(guards?.max_mean_tokens_ratio),
      canary: orNone(canary.mean_tokens, (value) => value.toFixed(0)),
      live: orNone(live.mean_tokens, (value) => value.toFixed(0)),
      isBroken: isAbove(canary.mean_tokens, live.mean_tokens, guards?.max_mean_tokens_ratio),
    },
  ];
}
