import { describe, expect, test } from "vitest";
import { createTelemetry } from "./telemetry.ts";

const invoke = "POST /v1/agents/{agent_id}/invoke";
const make = () => createTelemetry({ version: "1.2.3", operations: [invoke], providers: ["local"] });

/** Lines of one metric with a value above 0. */
async function seriesOf({ read }: ReturnType<typeof make>, name: string): Promise<string[]> {
  const { text } = await read();
  return text.split("\n").filter((line) => line.startsWith(`${name}{`) && !line.endsWith(" 0"));
}

describe("labels", () => {
  test("operations that are not in the contract share the label unknown", async () => {
    const telemetry = make();
    telemetry.requestEnded(invoke, 200, 0.01);
    for (let i = 0; i < 1000; i++) telemetry.requestEnded(`GET /v1/agents/agt_${i}`, 404, 0.01);
    expect(await seriesOf(telemetry, "perch_http_requests_total")).toEqual([
      `perch_http_requests_total{operation="${invoke}",status="2xx"} 1`,
      'perch_http_requests_total{operation="unknown",status="4xx"} 1000',
    ]);
    expect(await seriesOf(telemetry, "perch_http_request_duration_seconds_count")).toHaveLength(2);
  });

  test("a status is counted by its class, a client that closed the connection separately, anything else as unknown", async () => {
    const telemetry = make();
    for (const status of [200, 201, 302, 404, 429, 500, 503, 0, 999, Number.NaN])
      telemetry.requestEnded(invoke, status);
    telemetry.requestEnded(invoke, "client_closed");
    const lines = await seriesOf(telemetry, "perch_http_requests_total");
    expect(lines.map((line) => line.match(/status="(\w+)"\} (\d+)/)?.slice(1))).toEqual([
      ["2xx", "2"],
      ["3xx", "1"],
      ["4xx", "2"],
      ["5xx", "2"],
      ["unknown", "3"],
      ["client_closed", "1"],
    ]);
  });

  test("known providers have their own label, all others are unknown", async () => {
    const telemetry = make();
    const fail = () => Promise.reject(new Error("no"));
    for (const name of ["perch", "local", "organisation", "remote_agent", "acme-secret", "acme-other"])
      await expect(telemetry.timeModel(name, fail)()).rejects.toThrow("no");
    const lines = await seriesOf(telemetry, "perch_model_call_failures_total");
    expect(lines.map((line) => line.match(/provider="(.*)"\} (\d+)/)?.slice(1))).toEqual([
      ["perch", "1"],
      ["local", "1"],
      ["organisation", "1"],
      ["remote_agent", "1"],
      ["unknown", "2"],
    ]);
  });
});

describe("values", () => {
  test("running steps are counted, and no longer after they end or throw", async () => {
    const telemetry = make();
    const gate = Promise.withResolvers<string>();
    const steps = telemetry.countSteps({ model: () => gate.promise, tool: () => Promise.reject(new Error("no")) });
    const activeSteps = async () => (await telemetry.read()).text.match(/^perch_worker_active_steps (\d+)$/m)?.[1];
    const first = steps.model();
    await expect(steps.tool()).rejects.toThrow("no");
    expect(await activeSteps()).toBe("1");
    gate.resolve("done");
    expect(await first).toBe("done");
    expect(await activeSteps()).toBe("0");
  });

  test("a dependency that fails or times out is down; one with several probes is up only if all succeed", async () => {
    const telemetry = make();
    telemetry.watchDependency("database", async () => "here");
    telemetry.watchDependency("valkey", () => new Promise(() => undefined));
    telemetry.watchDependency("engine", async () => "here");
    telemetry.watchDependency("engine", () => Promise.reject(new Error("away")));
    const { text } = await telemetry.read();
    expect(text.match(/^perch_dependency_up.*$/gm)).toEqual([
      'perch_dependency_up{dependency="database"} 1',
      'perch_dependency_up{dependency="valkey"} 0',
      'perch_dependency_up{dependency="engine"} 0',
    ]);
  });

  test("the engine is up while one of its nodes answers, and each node that does not is seen", async () => {
    const telemetry = make();
    const answers = async () => undefined;
    telemetry.watchEngineNodes([answers, () => new Promise(() => undefined), answers]);
    telemetry.watchEngineNodes([answers, answers, () => Promise.reject(new Error("away"))]);
    const { text } = await telemetry.read();
    expect(text.match(/^perch_(engine_node|dependency)_up.*$/gm)).toEqual([
      'perch_dependency_up{dependency="engine"} 1',
      'perch_engine_node_up{node="1"} 1',
      'perch_engine_node_up{node="2"} 0',
      'perch_engine_node_up{node="3"} 0',
    ]);
  });

  test("a query for which a connection is idle does not wait", async () => {
    const telemetry = make();
    const pending = async () => (await telemetry.read()).text.match(/^perch_database_pending_requests (\d+)$/m)?.[1];
    telemetry.watchPools([{ totalCount: 4, idleCount: 4, waitingCount: 1 }]);
    expect(await pending()).toBe("0");
    telemetry.watchPools([
      { totalCount: 4, idleCount: 4, waitingCount: 1 },
      { totalCount: 6, idleCount: 0, waitingCount: 3 },
    ]);
    expect(await pending()).toBe("3");
  });

  test("the age of the signing keys is that of the last reading, and 0 if there are none", async () => {
    const telemetry = make();
    expect((await telemetry.read()).text).toContain("perch_signing_keys_age_seconds 0");
    telemetry.watchSigningKeys(() => 42);
    expect((await telemetry.read()).text).toContain("perch_signing_keys_age_seconds 42");
  });
});
