import type { Pages, Told } from "./told.ts";

/** The traffic of the last day is there already; what was live at which time makes it comparable. */
export async function tellMetrics(_told: Told): Promise<Pages> {
  return {
    metrics: "/metrics",
    "metrics-agent": "/metrics?agent=support",
    "metrics-compared": "/metrics?agent=support&version=v2&compare=v3&granularity=1h&env=production",
    "metrics-no-runs": "/metrics?agent=night-report&range=1h",
    "metrics-no-such-agent": "/metrics?agent=nobody",
  };
}
