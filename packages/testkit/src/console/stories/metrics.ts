import type { Pages, Told } from "./told.ts";

const questions = ["Hello", "Where is my order 4217?", "Thank you", "Where is my parcel of order 4218?", "Hello again"];

/** The traffic of the last day already exists. The version in staging has a little too, for the comparison. */
export async function tellMetrics({ perch }: Told): Promise<Pages> {
  const ask = (message: string) => perch.agents.invoke("support", { message, context: { environment: "staging" } });
  await Promise.all(questions.map(ask));
  return {
    metrics: "/metrics",
    "metrics-agent": "/metrics?agent=support",
    "metrics-compared": "/metrics?agent=support&version=v2&compare=v3&granularity=1h",
    "metrics-no-runs": "/metrics?agent=night-report&range=1h",
    "metrics-no-such-agent": "/metrics?agent=nobody",
  };
}
