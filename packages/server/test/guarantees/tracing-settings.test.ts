import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test, vi } from "vitest";
import type { RunInput } from "../../src/engine/messages.ts";
import { usePerch } from "../support/harness.ts";
import { createScriptedAgent, invokeInBackground } from "../support/invoke-calls.ts";
import { startSpanCollector } from "../support/span-collector.ts";

/** Replaces the engine and records the runs that it accepts. */
const accepted: RunInput[] = [];
const ingress = createServer((request, response) => {
  void json(request).then((body) => {
    accepted.push(body as RunInput);
    response.writeHead(202, { "content-type": "application/json" }).end("{}");
  });
}).listen(0, "127.0.0.1");
await once(ingress, "listening");
const address = ingress.address();
const ingressUrls = [`http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`];
const collector = await startSpanCollector();
// The standard variables of OpenTelemetry must have no effect.
vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url);
afterAll(() => {
  vi.unstubAllEnvs();
  ingress.close();
  collector.close();
});

const plain = usePerch({ ingressUrls });
const traced = usePerch({ ingressUrls, otlpUrl: collector.url });
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };

describe("PERCH_OTLP_URL", () => {
  test("unset: a run has no trace context, whatever the caller sends, and no span is exported", async () => {
    const organisation = await plain().createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "hi" }]);
    await invokeInBackground(plain(), organisation.adminKey, { message: "hello" }, { headers });
    expect(accepted.at(-1)).toMatchObject({ message: "hello", trace: null });
    expect(plain().server.core.tracing.isOn).toBe(false);
    await sleep(1500);
    expect(collector.batchesReceived()).toBe(0);
  });

  test("set: a run has the caller's trace id and the id of the request's span", async () => {
    const organisation = await traced().createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "hi" }]);
    await invokeInBackground(traced(), organisation.adminKey, { message: "hello" }, { headers });
    await expect.poll(() => collector.spans().filter((span) => span.traceId === traceId)).toHaveLength(1);
    const [request] = collector.spans().filter((span) => span.traceId === traceId);
    expect(accepted.at(-1)?.trace).toEqual({ traceId, parentId: request?.spanId });
  });

  test("a stopping process exports its remaining spans, and does not wait long for a collector that hangs", async () => {
    const { tracing } = (await traced().addApiNode()).server.core;
    const span = { traceId, parentId: null, kind: "internal" as const, startMs: 1, endMs: 2, failed: false };
    tracing.add({ ...span, spanId: "1".repeat(16), name: "last words", attributes: {} });
    await tracing.close();
    expect(collector.spans().map(({ name }) => name)).toContain("last words");

    const hanging = (await traced().addApiNode()).server.core.tracing;
    collector.setBehaviour("hang");
    hanging.add({ ...span, spanId: "2".repeat(16), name: "never received", attributes: {} });
    const started = performance.now();
    await hanging.close();
    expect(performance.now() - started).toBeLessThan(4000);
  });
});
