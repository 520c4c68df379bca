import type { AgentMetrics } from "@perch/sdk";
import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-17T23:20:00Z") });
  vi.stubGlobal("location", { origin: "https://perch.example" });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const json = (data: unknown) =>
  Promise.resolve(new Response(JSON.stringify({ data }), { headers: { "content-type": "application/json" } }));

test.each(["1h", "24h", "7d", "30d", "2026-11-10T08:30:00Z..2026-11-10T22:50:00Z"])(
  "the list of agents and the charts of one cover the same time: %s",
  async (range) => {
    const asked = { list: new Set<string>(), charts: new Set<string>() };
    const ends = { list: [] as string[], charts: [] as string[] };
    vi.stubGlobal("fetch", (url: string | URL) => {
      const { pathname, searchParams } = new URL(url);
      const isList = pathname === "/v1/metrics";
      const page = isList ? "list" : "charts";
      asked[page].add(searchParams.get("granularity") ?? "the server's");
      ends[page].push(searchParams.get("start_time") ?? "", searchParams.get("end_time") ?? "");
      return json(
        isList
          ? { granularity: "1h", timestamps: [], series: [], has_more: false }
          : { granularity: "1h", metric: "tokens", unit: "", values: [] },
      );
    });
    const { allMetricsQuery } = await import("./all-metrics-query.ts");
    const { trafficQuery } = await import("./metrics-queries.ts");
    const { historyQuery } = await import("./agent-history-queries.ts");
    const client = new QueryClient();
    await client.fetchQuery(allMetricsQuery(range, undefined));
    await client.fetchQuery(trafficQuery({ agentIds: ["agent_1"], range, environment: undefined }));
    await client.fetchQuery(historyQuery({ agent: "support", range, environment: undefined }));
    const timeOf = (times: readonly string[]) => [times.toSorted()[0], times.toSorted().at(-1)];
    expect(asked.list.size).toBe(1);
    expect(asked.list).toEqual(asked.charts);
    expect(timeOf(ends.list)).toEqual(timeOf(ends.charts));
  },
);

test("two parts of a range become one", async () => {
  const { joinMetrics } = await import("./metrics-of-many.ts");
  const part = (timestamps: string[], ...agents: [string, number[]][]): AgentMetrics => ({
    ...{ granularity: "1h", timestamps, has_more: false },
    series: agents.map(([id, values]) => ({
      ...{ agent_id: id, agent_name: id, metric: "throughput", unit: "", values },
    })),
  });
  const joined = joinMetrics(part(["a", "b"], ["agent_1", [1, 2]]), part(["c"], ["agent_2", [9]], ["agent_1", [3]]));
  expect(joined).toEqual(part(["a", "b", "c"], ["agent_2", [0, 0, 9]], ["agent_1", [1, 2, 3]]));
});
