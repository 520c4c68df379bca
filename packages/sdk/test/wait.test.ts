import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { type Organisation, usePerch } from "../../server/test/support/harness.ts";
import { createScriptedAgent } from "../../server/test/support/invoke-calls.ts";
import {
  DeploymentFailedError,
  NotFoundError,
  Perch,
  RunCancelledError,
  RunFailedError,
  StillRunningError,
  TimeoutError,
} from "../src/index.ts";

const server = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
let organisation: Organisation;
let perch: Perch;
beforeEach(async () => {
  organisation = await server().createOrganisation();
  perch = new Perch({ baseUrl: server().url, apiKey: organisation.adminKey });
});

const production = { environment: "production", version: "v1" };

describe("deployments.deployAndWait", () => {
  test("returns the deployment when it is live", async () => {
    await perch.agents.create({ name: "bot", model: "perch/echo" });
    const live = await perch.deployments.deployAndWait("bot", production);
    expect(live).toMatchObject({ status: "active", version: "v1" });
    expect(await perch.deployments.get("bot", live.id)).toMatchObject({ status: "active" });
  });

  test("throws an error that has every failed check, the deployment and its address", async () => {
    await perch.agents.create({ name: "bot", model: "acme/large", fallback_models: ["acme/small"] });
    const error = await perch.deployments.deployAndWait("bot", production).catch((thrown: unknown) => thrown);
    if (!(error instanceof DeploymentFailedError)) throw error;
    expect(error).toMatchObject({ code: "deployment_failed", deployment: { status: "failed", version: "v1" } });
    for (const model of ["acme/large", "acme/small"])
      expect(error.message).toContain(`There is no model ${model} here.`);
    expect(error.url).toBe(`${server().url}/v1/agents/bot/deployments/${error.deployment.id}`);
    expect(error.message).toContain("What was live is still live.");
  });

  test("throws the error of the creation", async () => {
    await expect(perch.deployments.deployAndWait("missing", production)).rejects.toBeInstanceOf(NotFoundError);
  });
});

/** A client of a server whose deployment is pending for so many answers, each of which asks for a wait. */
function pendingClient(pendingAnswers: number, headers: Record<string, string> = {}) {
  const asked: { readonly method: string; readonly atMs: number; readonly ifMatch: string | null }[] = [];
  const fetch: typeof globalThis.fetch = async (_, init = {}) => {
    const ifMatch = new Headers(init.headers).get("if-match");
    asked.push({ method: init.method ?? "", atMs: performance.now(), ifMatch });
    const data = { id: "dep_1", status: asked.length <= pendingAnswers ? "pending" : "active" };
    return Response.json({ success: true, data }, { headers });
  };
  return { client: new Perch({ baseUrl: "https://perch.example", apiKey: "k", fetch }), asked };
}

describe("the wait for a deployment", () => {
  test("asks again and again, less and less often, and creates one", async () => {
    const { client, asked } = pendingClient(4);
    await client.deployments.deployAndWait("bot", production);
    expect(asked.map(({ method }) => method)).toEqual(["POST", "GET", "GET", "GET", "GET"]);
    const waitsMs = asked.slice(1).map(({ atMs }, index) => atMs - (asked[index]?.atMs ?? 0));
    for (const [index, leastMs] of [100, 150, 225, 337].entries())
      expect(waitsMs[index]).toBeGreaterThanOrEqual(leastMs - 2);
  });

  test("is as long as the server asks for", async () => {
    const { client, asked } = pendingClient(1, { "retry-after": "1" });
    await client.deployments.deployAndWait("bot", production);
    expect((asked[1]?.atMs ?? 0) - (asked[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(998);
  });

  test("ends with an error that names the deployment after timeoutSeconds, and with the signal's reason when it is aborted", async () => {
    const late = pendingClient(1e6).client.deployments.deployAndWait("bot", production, { timeoutSeconds: 0.3 });
    const error = await late.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(String(error)).toContain("The deployment dep_1 is still pending after 0.3 s.");
    expect(error).toMatchObject({ url: "https://perch.example/v1/agents/bot/deployments/dep_1" });
    expect(error).toMatchObject({ method: "GET", idempotencyKey: undefined });
    const abort = new AbortController();
    const waiting = pendingClient(1e6).client.deployments.deployAndWait("bot", production, { signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });
});

describe("runs.wait", () => {
  const start = async (...steps: object[]): Promise<string> => {
    await createScriptedAgent(organisation, steps);
    return (await perch.agents.invokeInBackground("bot", { message: "hello" })).request_id;
  };

  test("returns the same as invoke, also for a run that ended before", async () => {
    const runId = await start({ reply: "Here I am", word_delay_ms: 30 });
    const result = await perch.runs.wait("bot", runId);
    expect(result).toMatchObject({ request_id: runId, response: "Here I am" });
    expect(await perch.runs.wait("bot", runId, { timeoutSeconds: 60 })).toEqual(result);
  });

  test("throws after timeoutSeconds that the run goes on, and that it was cancelled once it was", async () => {
    // It is cancelled between two steps. Each takes a second, and all of them fifteen.
    const step = { reply: "one two three four five six seven eight nine ten", word_delay_ms: 100 };
    const calls = { ...step, tool_calls: [{ name: "perch_echo", arguments: {} }] };
    const runId = await start(...Array.from({ length: 15 }, () => calls), step);
    const late = await perch.runs.wait("bot", runId, { timeoutSeconds: 0.2 }).catch((thrown: unknown) => thrown);
    expect(late).toBeInstanceOf(StillRunningError);
    expect(late).toMatchObject({ runId, code: "still_running" });
    expect(await perch.runs.get("bot", runId)).toMatchObject({ status: "running" });
    await perch.runs.cancel("bot", runId);
    await expect(perch.runs.wait("bot", runId)).rejects.toBeInstanceOf(RunCancelledError);
  });

  test("throws that a run failed, with its id", async () => {
    const runId = await start({ fail: "permanent" });
    const error = await perch.runs.wait("bot", runId).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RunFailedError);
    expect(error).toMatchObject({ runId, method: "GET", url: `${server().url}/v1/agents/bot/invocations/${runId}` });
    expect(String(error)).toContain(`run ${runId}`);
  });
});

test("runs.steps are paged", async () => {
  await createScriptedAgent(organisation, [
    { reply: "One moment.", tool_calls: [{ name: "perch_echo", arguments: { order: 42 } }] },
    { reply: "On its way." },
  ]);
  const { request_id } = await perch.agents.invoke("bot", { message: "hello" });
  await expect.poll(async () => (await perch.runs.steps("bot", request_id)).pagination.total).toBe(3);
  const { data, pagination } = await perch.runs.steps("bot", request_id, { limit: 1 });
  expect(data).toHaveLength(1);
  expect(pagination).toMatchObject({ total: 3, has_more: true });
  const steps = await perch.runs.steps("bot", request_id, { limit: 2 }).toArray();
  expect(steps.map(({ kind }) => kind)).toEqual(["model", "tool", "model"]);
});
