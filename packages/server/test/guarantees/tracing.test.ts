import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent, invokeInBackground } from "../support/invoke-calls.ts";
import { type Span, startSpanCollector } from "../support/span-collector.ts";

const invokeName = "POST /v1/agents/{agent_id}/invoke";
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const callerSpan = "00f067aa0ba902b7";
const traceparent = `00-${traceId}-${callerSpan}-01`;

const collector = await startSpanCollector();
afterAll(() => collector.close());
beforeEach(() => collector.setBehaviour("accept"));

const traced = usePerch({ otlpUrl: collector.url }, { withWorker: true });

const echo = { tool_calls: [{ name: "perch_echo", arguments: { secret: "argument-text" } }], tokens: 2 };
const twoSteps = [echo, { reply: "answer-text: {message}", tokens: 3 }];

const inTrace = (id: string) => collector.spans().filter((span) => span.traceId === id);
/** Waits until a trace has `count` spans. */
const waitForSpans = async (id: string, count: number): Promise<readonly Span[]> => {
  await expect.poll(() => inTrace(id).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(count);
  // A span that should not exist would arrive with the next batch.
  await sleep(1200);
  return inTrace(id);
};
const waitForTraceOfRun = async (requestId: string): Promise<string> => {
  const find = () =>
    collector.spans().find(({ attributes, kind }) => kind !== "server" && attributes["perch.request_id"] === requestId);
  await expect.poll(find, { timeout: 10_000 }).toBeDefined();
  return find()?.traceId ?? "";
};
const findSpan = (spans: readonly Span[], name: string): Span => {
  const found = spans.filter((span) => span.name === name);
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} spans ${name}`);
  return found[0];
};
/** API keys that must not appear in any span. */
const keys: string[] = [];
async function createOrganisationWithAgent(steps: readonly object[]): Promise<Organisation> {
  const organisation = await traced().createOrganisation();
  keys.push(organisation.adminKey);
  await createScriptedAgent(organisation, steps);
  return organisation;
}
const agentIdOf = async ({ call }: Organisation): Promise<string> =>
  ok(await call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } })).data.id;

describe("tracing", () => {
  test("an invocation is one trace below the caller's span: the request, the run and its steps", async () => {
    const organisation = await createOrganisationWithAgent(twoSteps);
    const agentId = await agentIdOf(organisation);
    const before = Date.now();
    const { data, headers } = await invokeAgent(
      traced(),
      organisation.adminKey,
      { message: "message-text", context: { user_id: "user-text", session_id: "session-text" } },
      { headers: { traceparent } },
    );
    const spans = await waitForSpans(traceId, 5);
    expect(spans.map(({ name }) => name).sort()).toEqual(
      ["chat script", "chat script", "execute_tool perch_echo", `invoke_agent ${agentId}`, invokeName].sort(),
    );
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(5);

    const request = findSpan(spans, invokeName);
    expect(request).toMatchObject({ parentId: callerSpan, kind: "server", failed: false });
    expect(request.attributes).toEqual({
      "http.request.method": "POST",
      "http.route": "/v1/agents/{agent_id}/invoke",
      "http.response.status_code": 200,
      "perch.correlation_id": headers.get("x-correlation-id"),
      "perch.organisation_id": organisation.id,
    });

    const run = findSpan(spans, `invoke_agent ${agentId}`);
    expect(run).toMatchObject({ parentId: request.spanId, kind: "internal", failed: false });
    expect(run.attributes).toEqual({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.id": agentId,
      "gen_ai.usage.total_tokens": 5,
      "perch.request_id": data.request_id,
      "perch.organisation_id": organisation.id,
      "perch.environment": "production",
      "perch.status": "completed",
      "perch.steps": 2,
    });

    const steps = spans.filter((span) => span !== request && span !== run);
    expect(steps.map(({ parentId }) => parentId)).toEqual([run.spanId, run.spanId, run.spanId]);
    const model = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "perch",
      "gen_ai.request.model": "script",
    };
    const attributes = steps
      .map((span) => span.attributes)
      .sort((a, b) => Number(a["perch.step"]) - Number(b["perch.step"]));
    const sizes = { "perch.input.characters": expect.any(Number), "perch.output.characters": expect.any(Number) };
    expect(attributes).toEqual([
      { ...model, ...sizes, "gen_ai.usage.total_tokens": 2, "perch.step": 1, "perch.attempt": 1 },
      {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "perch_echo",
        ...sizes,
        "perch.step": 1,
        "perch.attempt": 1,
      },
      { ...model, ...sizes, "gen_ai.usage.total_tokens": 3, "perch.step": 2, "perch.attempt": 1 },
    ]);
    for (const { startMs, endMs } of spans) {
      expect(startMs).toBeGreaterThanOrEqual(before);
      expect(endMs).toBeGreaterThanOrEqual(startMs);
      expect(endMs).toBeLessThanOrEqual(Date.now());
    }
    for (const step of steps) expect(step.startMs).toBeGreaterThanOrEqual(run.startMs);
  });

  test("without a valid traceparent the request is the root of a new trace", async () => {
    const organisation = await createOrganisationWithAgent([{ reply: "hi" }]);
    const headers = { traceparent: `00-${"0".repeat(32)}-${callerSpan}-01` };
    const { data } = await invokeAgent(traced(), organisation.adminKey, { message: "hello" }, { headers });
    const spans = await waitForSpans(await waitForTraceOfRun(data.request_id), 3);
    expect(spans.map(({ name }) => name)).toContain(invokeName);
    expect(findSpan(spans, invokeName).parentId).toBeUndefined();
    expect(spans).toHaveLength(3);
  });

  test("a run in the background outlives its request, and its span is still below the request's", async () => {
    const organisation = await createOrganisationWithAgent([{ reply: "later", delay_ms: 300 }]);
    const requestId = await invokeInBackground(traced(), organisation.adminKey, { message: "hello" });
    const spans = await waitForSpans(await waitForTraceOfRun(requestId), 3);
    const request = findSpan(spans, invokeName);
    const run = spans.find(({ parentId }) => parentId === request.spanId);
    expect(request.attributes["http.response.status_code"]).toBe(202);
    expect(run?.name).toMatch(/^invoke_agent agent_/);
    expect(run?.endMs).toBeGreaterThan(request.endMs);
  });

  test("an invocation repeated with its Idempotency-Key has the spans of one run and of two requests", async () => {
    const organisation = await createOrganisationWithAgent([{ reply: "once" }]);
    const repeat = (trace: string) =>
      invokeAgent(
        traced(),
        organisation.adminKey,
        { message: "hello" },
        {
          headers: { "idempotency-key": "traced-once", traceparent: `00-${trace}-${callerSpan}-01` },
        },
      );
    const [first, second] = ["1".repeat(32), "2".repeat(32)];
    await repeat(first);
    await repeat(second);
    expect((await waitForSpans(first, 3)).length).toBe(3);
    expect((await waitForSpans(second, 1)).map(({ name }) => name)).toEqual([invokeName]);
  });

  test("every attempt has a span, and a failed attempt or run has an error type", async () => {
    const organisation = await createOrganisationWithAgent([{ reply: "failure-text", fail: "permanent" }]);
    const trace = "3".repeat(32);
    const headers = { traceparent: `00-${trace}-${callerSpan}-01` };
    const body = { model: "perch/script", fallback_models: ["perch/script"] };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body }));
    const { status } = await invokeAgent(traced(), organisation.adminKey, { message: "hello" }, { headers });
    expect(status).toBe(422);
    const spans = await waitForSpans(trace, 4);
    expect(spans).toHaveLength(4);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(4);
    // The request was answered correctly, because the run failed, not the server.
    expect(findSpan(spans, invokeName)).toMatchObject({ failed: false });
    const failed = spans.filter((span) => span.failed);
    expect(failed.map(({ attributes }) => attributes["error.type"]).sort()).toEqual(
      ["PermanentModelError", "PermanentModelError", "_OTHER"].sort(),
    );
  });

  test("the span of a tool that the model invented does not have its name", async () => {
    const organisation = await createOrganisationWithAgent([
      { tool_calls: [{ name: "invented-text", arguments: {} }] },
      { reply: "so be it" },
    ]);
    const trace = "5".repeat(32);
    const headers = { traceparent: `00-${trace}-${callerSpan}-01` };
    await invokeAgent(traced(), organisation.adminKey, { message: "hello" }, { headers });
    const tool = findSpan(await waitForSpans(trace, 5), "execute_tool unknown");
    expect(tool).toMatchObject({ failed: true, attributes: { "error.type": "tool_error" } });
  });

  test("the span of a remote agent does not have its address, which may contain a token", async () => {
    const organisation = await traced().createOrganisation();
    const runtime = { type: "http" as const, url: "http://127.0.0.1:9/?token=address-text" };
    ok(await organisation.call("POST /v1/agents", { body: { name: "bot", runtime, limits: { timeout_seconds: 1 } } }));
    const trace = "8".repeat(32);
    const headers = { traceparent: `00-${trace}-${callerSpan}-01` };
    await invokeAgent(traced(), organisation.adminKey, { message: "hello" }, { headers });
    const remote = (await waitForSpans(trace, 3)).filter(({ name }) => name === "invoke_agent remote");
    expect(remote.length).toBeGreaterThan(0);
    expect(remote[0]).toMatchObject({ kind: "client", failed: true });
  });

  test("a request that its caller does not sample has no spans", async () => {
    const organisation = await createOrganisationWithAgent([{ reply: "hi" }]);
    const trace = "4".repeat(32);
    const headers = { traceparent: `00-${trace}-${callerSpan}-00` };
    expect((await invokeAgent(traced(), organisation.adminKey, { message: "hello" }, { headers })).status).toBe(200);
    await sleep(1500);
    expect(inTrace(trace)).toEqual([]);
  });

  test("health checks have no span; refused requests have one", async () => {
    await fetch(`${traced().url}/readyz`, { headers: { traceparent: `00-${"6".repeat(32)}-${callerSpan}-01` } });
    const trace = "7".repeat(32);
    await fetch(`${traced().url}/v1/agents`, { headers: { traceparent: `00-${trace}-${callerSpan}-01` } });
    const [refused] = await waitForSpans(trace, 1);
    expect(refused).toMatchObject({ name: "GET /v1/agents", failed: false });
    expect(refused?.attributes["http.response.status_code"]).toBe(401);
    expect(inTrace("6".repeat(32))).toEqual([]);
  });

  test("no span contains a secret, a message or a response", () => {
    const text = collector.text();
    expect(collector.spans().length).toBeGreaterThan(20);
    expect(text).toContain("perch_echo");
    expect(text).not.toMatch(/(message|answer|argument|failure|invented|address|user|session)-text/);
    expect(text).not.toMatch(/Bearer|hello/);
    expect(keys.length).toBeGreaterThan(5);
    expect(keys.filter((key) => text.includes(key))).toEqual([]);
  });
});

describe("a collector that fails", () => {
  const runs = 30;
  /** The median duration of a run. */
  const medianMs = async ({ adminKey }: Organisation): Promise<number> => {
    const times: number[] = [];
    for (let i = 0; i < runs; i++) {
      const started = performance.now();
      expect((await invokeAgent(traced(), adminKey, { message: `run ${i}` })).status).toBe(200);
      times.push(performance.now() - started);
    }
    return times.sort((a, b) => a - b)[runs / 2] ?? 0;
  };

  test.each(["refuse", "disconnect", "hang"] as const)(
    "%s: runs take no longer, and only spans are lost",
    async (behaviour) => {
      const organisation = await createOrganisationWithAgent([{ reply: "hi" }]);
      await medianMs(organisation);
      const healthyMs = await medianMs(organisation);
      collector.setBehaviour(behaviour);
      const batchesBefore = collector.batchesReceived();
      await invokeAgent(traced(), organisation.adminKey, { message: "hello" });
      await expect.poll(() => collector.batchesReceived(), { timeout: 15_000 }).toBeGreaterThan(batchesBefore);
      const failingMs = await medianMs(organisation);
      console.log(
        `tracing: a run takes ${healthyMs.toFixed(1)} ms, ${failingMs.toFixed(1)} ms with a collector that is "${behaviour}"`,
      );
      // Waiting for the collector would take seconds.
      expect(failingMs).toBeLessThan(healthyMs * 2 + 500);
    },
    60_000,
  );
});
