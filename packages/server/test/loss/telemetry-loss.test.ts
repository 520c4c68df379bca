import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { afterAll, describe, expect, test, vi } from "vitest";
import { ok } from "../support/contract-client.ts";
import type { Organisation } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent } from "../support/invoke-calls.ts";
import { getLogPage } from "../support/log-calls.ts";
import { usePerchWithWorkerProcesses } from "../support/worker-processes.ts";

const runCount = 60;
const echo = { tool_calls: [{ name: "perch_echo", arguments: {} }], tokens: 2 };
const stepsOf = (message: string): number => 1 + (Number(message.replace("run ", "")) % 3);
/** Runs of one, two and three model calls with different durations, so that the kills happen at every point of a run. */
const script = await startScriptServer((call) => {
  const message = lastUserMessage(call);
  if (message === "warm up") return { reply: "warm" };
  const delay_ms = 20 + ((Number(message.replace("run ", "")) * 37) % 400);
  return call.step < stepsOf(message) ? { ...echo, delay_ms } : { reply: "done", tokens: 3, delay_ms };
});
afterAll(() => script.close());
const perchWithWorkers = usePerchWithWorkerProcesses({ PERCH_SCRIPT_MODEL_URL: script.url });

const sumOf = async ({ call }: Organisation, metric: "throughput" | "tokens" | "error_rate") => {
  const query = { metric, granularity: "1m" as const };
  const start_time = new Date(Date.now() - 3_600_000).toISOString();
  const params = { agent_id: "bot" };
  const { values } = ok(
    await call("GET /v1/agents/{agent_id}/metrics", { params, query: { ...query, start_time } }),
  ).data;
  return values.reduce((sum, { value }) => sum + value, 0);
};

describe("workers are killed repeatedly during runs", () => {
  test("every run has each of its log entries exactly once, and the metrics count every run exactly once", async () => {
    const { perch, ensureWorkers, endActiveWorker } = perchWithWorkers();
    await ensureWorkers(1);
    const organisation = await perch.createOrganisation();
    await createScriptedAgent(organisation);
    await invokeAgent(perch, organisation.adminKey, { message: "warm up" });
    await ensureWorkers(2);
    const messages = Array.from({ length: runCount }, (_, i) => `run ${i}`);
    let kills = 0;
    const runs = messages.map(async (message, i) => {
      await new Promise((resolve) => setTimeout(resolve, i * 60));
      // A machine on which workers start slowly must not be out of runs by the second kill.
      if (i >= runCount - 5) await vi.waitUntil(() => kills >= 2, { timeout: 60_000 });
      const context = i % 4 === 0 ? { session_id: `s${i % 8}` } : {};
      return invokeAgent(perch, organisation.adminKey, { message, context });
    });
    let ended = false;
    const all = Promise.all(runs).finally(() => {
      ended = true;
    });
    for (; kills < 3 && !ended; kills++) {
      await new Promise((resolve) => setTimeout(resolve, 700));
      await endActiveWorker("SIGKILL");
      await ensureWorkers(2);
    }
    const answers = await all;
    expect(kills).toBeGreaterThanOrEqual(2);
    expect(answers.map(({ status, text }) => (status === 200 ? "" : text)).filter(Boolean)).toEqual([]);
    // The kills did interrupt runs: their model calls were repeated.
    const modelCalls = script.calls.filter((call) => lastUserMessage(call) !== "warm up").length;
    const minModelCalls = messages.reduce((sum, message) => sum + stepsOf(message), 0);
    expect(modelCalls).toBeGreaterThan(minModelCalls);

    for (const [i, { data }] of answers.entries()) {
      const { data: entries } = await getLogPage(organisation, { request_id: data.request_id, limit: 1000 });
      const count = (type: string) => entries.filter(({ metadata }) => metadata.type === type).length;
      const steps = stepsOf(`run ${i}`);
      // A step that a kill interrupted has a log line about it.
      const lines = entries.length - count("interrupted");
      const seen = [i, count("model_call"), count("tool_call"), count("ended"), lines];
      expect(seen).toEqual([i, steps, steps - 1, 1, 2 * steps]);
      // One kill interrupts one step of a run at most.
      expect(count("interrupted")).toBeLessThanOrEqual(kills);
    }
    // The warm-up run is one of them, with one token.
    expect(Math.round(await sumOf(organisation, "throughput"))).toBe(runCount + 1);
    const tokens = messages.reduce((sum, message) => sum + 3 + 2 * (stepsOf(message) - 1), 0);
    expect(await sumOf(organisation, "tokens")).toBe(tokens + 1);
    expect(await sumOf(organisation, "error_rate")).toBe(0);
    const { rows } = await withClient(perch.database.adminUrl, (client) =>
      client.query("select count(*)::int as runs from invocations where status = 'completed'"),
    );
    expect(rows).toEqual([{ runs: runCount + 1 }]);
  }, 120_000);
});
