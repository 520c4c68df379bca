import type { Deployment } from "@perch/sdk";
import type { ChartMark } from "../parts/time-chart-options.ts";

/** The deployments that took effect in this environment, or in any, as marks of charts. */
export const marksOf = (deployments: readonly Deployment[], environment: string | undefined): ChartMark[] =>
  deployments.flatMap((one) =>
    one.activated_at !== null && (environment === undefined || one.environment === environment)
      ? [{ atSeconds: Date.parse(one.activated_at) / 1000, label: one.version }]
      : [],
  );
