import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Installation, startInstallation } from "@perch/testkit/installation/installation.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { readRunbook } from "@perch/testkit/runbook.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const deploy = join(import.meta.dirname, "../../deploy");
const rulesFile = join(deploy, "alerts/perch.yaml");

let perch: Installation;
let apiKey: string;
let metricsUrl: string;
beforeAll(async () => {
  const metricsPort = await freePort();
  metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  perch = await startInstallation({ settings: { PERCH_METRICS_PORT: String(metricsPort), PERCH_PROCESSES: "1" } });
  apiKey = await perch.createOrganisation("Watched");
});
afterAll(async () => {
  await perch?.stop();
});

const authorization = () => ({ authorization: `Bearer ${apiKey}` });

async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(perch.url + path, {
    method,
    headers: { ...authorization(), ...(body && { "content-type": "application/json" }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

const scrape = async (): Promise<string> => (await fetch(metricsUrl)).text();

/** Every series of a scrape with its value. */
const seriesIn = (text: string): Map<string, number> =>
  new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );

/** The values of one metric that are not 0, by their labels. */
const countsOf = (text: string, name: string): Record<string, number> =>
  Object.fromEntries(
    [...seriesIn(text)].filter(([series, value]) => series.split("{")[0] === name && value !== 0).sort(),
  );

const namesIn = (text: string): Set<string> =>
  new Set([...seriesIn(text).keys()].map((series) => series.split("{")[0] ?? ""));

const agents = "/v1/agents";
const newAgent = (name: string, agent: object) => call("POST", agents, { name, ...agent });
const script = (...steps: object[]) => ({ model: "perch/script", instructions: JSON.stringify({ steps }) });
const toolCall = { name: "perch_echo", arguments: { a: 1 } };

describe("GET /metrics on the operators' port", () => {
  test("counts requests, runs, model calls and tool calls exactly, under a small number of names", async () => {
    expect((await newAgent("echo", { model: "perch/echo" })).status).toBe(201);
    expect((await newAgent("broken", script({ fail: "permanent" }))).status).toBe(201);
    expect((await newAgent("caller", script({ tool_calls: [toolCall] }, { reply: "done" }))).status).toBe(201);
    for (let i = 0; i < 3; i++)
      expect((await call("POST", `${agents}/echo/invoke`, { message: "hello" })).status).toBe(200);
    const repeated = { "idempotency-key": "once" };
    for (let i = 0; i < 2; i++)
      expect((await call("POST", `${agents}/echo/invoke`, { message: "hello" }, repeated)).status).toBe(200);
    expect((await call("POST", `${agents}/broken/invoke`, { message: "hello" })).status).toBe(422);
    expect((await call("POST", `${agents}/caller/invoke`, { message: "hello" })).status).toBe(200);
    expect((await call("GET", `${agents}/absent-agent`)).status).toBe(404);
    expect((await call("GET", `${agents}/echo`)).status).toBe(200);
    expect((await call("GET", "/v1/nothing-here")).status).toBe(404);
    expect((await call("GET", "/wp-login.php")).status).toBe(404);
    const streamed = await call("POST", `${agents}/echo/invoke`, { message: "hi" }, { accept: "text/event-stream" });
    expect(streamed.text).toContain("event: done");

    const requests = (operation: string, status: string) =>
      `perch_http_requests_total{operation="${operation}",status="${status}"}`;
    const invoke = "POST /v1/agents/{agent_id}/invoke";
    await expect.poll(async () => seriesIn(await scrape()).get(requests(invoke, "2xx"))).toBe(7);
    const text = await scrape();
    const { [requests("GET /readyz", "2xx")]: ready, ...counted } = countsOf(text, "perch_http_requests_total");
    expect(ready).toBeGreaterThan(0);
    expect(counted).toEqual({
      [requests("POST /v1/agents", "2xx")]: 3,
      [requests(invoke, "2xx")]: 7,
      [requests(invoke, "4xx")]: 1,
      [requests("GET /v1/agents/{agent_id}", "4xx")]: 1,
      [requests("GET /v1/agents/{agent_id}", "2xx")]: 1,
      [requests("unknown", "4xx")]: 2,
    });
    const timed = countsOf(text, "perch_http_request_duration_seconds_count");
    // The stream is counted and not timed.
    expect(timed[`perch_http_request_duration_seconds_count{operation="${invoke}"}`]).toBe(7);
    expect(countsOf(text, "perch_runs_accepted_total")).toEqual({ perch_runs_accepted_total: 7 });
    expect(countsOf(text, "perch_runs_ended_total")).toEqual({
      'perch_runs_ended_total{status="completed"}': 6,
      'perch_runs_ended_total{status="failed"}': 1,
    });
    expect(countsOf(text, "perch_run_failures_total")).toEqual({ 'perch_run_failures_total{code="run_failed"}': 1 });
    expect(countsOf(text, "perch_run_duration_seconds_count")).toEqual({ perch_run_duration_seconds_count: 7 });
    expect(countsOf(text, "perch_model_call_duration_seconds_count")).toEqual({
      'perch_model_call_duration_seconds_count{provider="perch"}': 8,
    });
    expect(countsOf(text, "perch_model_call_failures_total")).toEqual({
      'perch_model_call_failures_total{provider="perch"}': 1,
    });
    expect(countsOf(text, "perch_tool_calls_total")).toEqual({ 'perch_tool_calls_total{outcome="completed"}': 1 });
    expect(countsOf(text, "perch_worker_active_steps")).toEqual({});
    expect(countsOf(text, "perch_engine_failures_total")).toEqual({});
    expect(text).toContain('perch_dependency_up{dependency="database"} 1');
    expect(text).toContain('perch_dependency_up{dependency="engine"} 1');
    expect(text).toContain('perch_engine_node_up{node="1"} 1');
    expect(seriesIn(text).get("perch_database_connections")).toBeGreaterThan(0);
    expect(seriesIn(text).get("perch_database_pending_requests")).toBe(0);
    for (const secret of [apiKey, "Watched", "absent-agent", "wp-login"]) expect(text).not.toContain(secret);
  });

  test("counts streams while they are open, and a reader that leaves", async () => {
    await newAgent("slow", script({ reply: "slow", delay_ms: 4000 }));
    const headers = { ...authorization(), "content-type": "application/json", accept: "text/event-stream" };
    const reader = request(`${perch.url}${agents}/slow/invoke`, { method: "POST", headers });
    reader.end(JSON.stringify({ message: "hello" }));
    const [response] = (await once(reader, "response")) as [IncomingMessage];
    response.on("error", () => undefined);
    expect(response.statusCode).toBe(200);
    expect(seriesIn(await scrape()).get("perch_http_event_streams")).toBe(1);
    await expect.poll(async () => seriesIn(await scrape()).get("perch_worker_active_steps")).toBe(1);
    expect(seriesIn(await scrape()).get("perch_worker_runs_under_way")).toBe(1);
    reader.destroy();
    await expect.poll(async () => seriesIn(await scrape()).get("perch_http_event_streams")).toBe(0);
    const clientClosed =
      'perch_http_requests_total{operation="POST /v1/agents/{agent_id}/invoke",status="client_closed"}';
    await expect.poll(async () => seriesIn(await scrape()).get(clientClosed)).toBe(1);
    // The run goes on without its reader, and ends.
    await expect.poll(async () => seriesIn(await scrape()).get("perch_worker_runs_under_way")).toBe(0);
  });

  test("has every metric that the dashboard, the alerts and the runbook ask for", async () => {
    // The last is that of two processes.
    const known = namesIn(await scrape()).add("perch_process_restarts_total");
    const dashboard = JSON.parse(readFileSync(join(deploy, "dashboards/perch.json"), "utf8")) as {
      panels: { targets: { expr: string }[] }[];
    };
    const asked = [
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      readFileSync(rulesFile, "utf8"),
      ...readRunbook().map(({ query }) => query),
    ];
    const names = new Set(asked.flatMap((text) => text.match(/\b(perch|process|nodejs)_[a-z0-9_]+/g) ?? []));
    expect(names.size).toBeGreaterThan(15);
    expect([...names].filter((name) => !known.has(name))).toEqual([]);
    // Every metric of ours is used on the dashboard, in an alert or in the runbook.
    const shown = (name: string) => names.has(name) || names.has(`${name.replace(/_(sum|count|bucket)$/, "")}_bucket`);
    expect([...known].filter((name) => name.startsWith("perch_") && !shown(name))).toEqual([]);
  });

  test("is well formed for Prometheus, and so are the alert rules, which pass their unit tests", async () => {
    const promtool = promisify(execFile);
    const rules = await promtool("promtool", ["check", "rules", rulesFile]);
    expect(rules.stdout).toMatch(/SUCCESS: \d+ rules found/);
    const tests = await promtool("promtool", ["test", "rules", join(deploy, "alerts/perch.test.yaml")]);
    expect(tests.stdout).toContain("SUCCESS");
    const check = spawn("promtool", ["check", "metrics"], { stdio: ["pipe", "pipe", "pipe"] });
    let complaints = "";
    for (const output of [check.stdout, check.stderr]) output.on("data", (text: Buffer) => (complaints += text));
    check.stdin.end(await scrape());
    const [code] = (await once(check, "close")) as [number];
    expect(complaints).toBe("");
    expect(code).toBe(0);
  });

  test("is all there is on that port, and not there on the API's", async () => {
    expect((await fetch(metricsUrl.replace("/metrics", "/v1/me"))).status).toBe(404);
    expect((await fetch(metricsUrl, { method: "POST" })).status).toBe(404);
    expect((await call("GET", "/metrics")).status).toBe(404);
  });

  test("reports that the engine is away", async () => {
    await perch.engine.stop();
    expect((await call("POST", `${agents}/echo/invoke`, { message: "hello" })).status).toBe(503);
    const text = await scrape();
    expect(text).toContain('perch_dependency_up{dependency="engine"} 0');
    expect(text).toContain('perch_engine_node_up{node="1"} 0');
    expect(text).toContain('perch_dependency_up{dependency="database"} 1');
    expect(seriesIn(text).get("perch_engine_failures_total")).toBeGreaterThan(0);
  });
});
