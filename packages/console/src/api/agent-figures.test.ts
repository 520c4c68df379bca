import type { AgentMetrics } from "@perch/sdk";
import { expect, test } from "vitest";
import { figuresOf } from "./agent-figures.ts";

const agent = { agent_id: "agent_1", agent_name: "support", unit: "" };
const series = [
  { ...agent, metric: "throughput", values: [2, 0, 1] },
  { ...agent, metric: "error_rate", values: [0.5, 0, 0] },
  { ...agent, metric: "response_time", values: [100, 0, 400] },
  { ...agent, metric: "tokens", values: [20, 0, 10] },
  { ...agent, metric: "cost", values: [0.2, 0, 0.1] },
] as const;
const metrics: AgentMetrics = { granularity: "1m", timestamps: [], series: [], has_more: false };

test("the average of a range is that of its runs, and intervals without runs are gaps", () => {
  const { agents } = figuresOf({ ...metrics, series: series.map((one) => ({ ...one, values: [...one.values] })) });
  expect(agents).toMatchObject([
    { name: "support", runs: 3, averageMs: 200, averagesMs: [100, null, 400], tokens: [20, null, 10] },
  ]);
  expect(agents[0]?.errorRate).toBeCloseTo(1 / 3);
});

test("agents are in the order of their names", () => {
  const named = ["b", "a"].map((name) => ({
    ...agent,
    ...{ agent_id: name, agent_name: name, metric: "throughput" as const, values: [0] },
  }));
  const { agents } = figuresOf({ ...metrics, series: named });
  expect(agents.map(({ name, averageMs }) => [name, averageMs])).toEqual([
    ["a", 0],
    ["b", 0],
  ]);
});
