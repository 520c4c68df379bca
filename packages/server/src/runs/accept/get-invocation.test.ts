import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { createOrganisationWithVersions } from "../../../test/support/deployment-calls.ts";
import { usePerch } from "../../../test/support/harness.ts";
import {
  createScriptedAgent,
  invokeAgent,
  invokeInBackground,
  waitForRunRecord,
} from "../../../test/support/invoke-calls.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch({}, { withWorker: true });
const operation = "GET /v1/agents/{agent_id}/invocations/{request_id}";

async function createOrganisationWithRun() {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation, [{ reply: "You said {message}.", tokens: 9 }]);
  const context = { user_id: "ada", session_id: "s" };
  const { data } = await invokeAgent(perch(), organisation.adminKey, { message: "hello", context });
  return { ...organisation, result: data };
}

describe(operation, () => {
  test("has the message, the answer and the outcome of the run", async () => {
    const { call, result } = await createOrganisationWithRun();
    const { data } = ok(await call(operation, { params: { agent_id: "bot", request_id: result.request_id } }));
    expect(data).toEqual({
      request_id: result.request_id,
      agent_id: ok(await call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } })).data.id,
      status: "completed",
      environment: "production",
      version: null,
      deployment_id: null,
      user_id: "ada",
      session_id: "s",
      message: "hello",
      response: "You said hello.",
      error: null,
      error_code: null,
      retryable: null,
      steps: 1,
      tokens_used: 9,
      duration_ms: result.duration_ms,
      created_at: expect.any(String),
      finished_at: expect.any(String),
      timeline: [
        expect.objectContaining({ message: "Model call: perch/script" }),
        expect.objectContaining({ message: "Run completed" }),
      ],
    });
    expect(Date.parse(data.finished_at ?? "")).toBeGreaterThanOrEqual(Date.parse(data.created_at));
  });

  test("shows a running run, without an end", async () => {
    const organisation = await perch().createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "ok", delay_ms: 500 }]);
    const id = await invokeInBackground(perch(), organisation.adminKey, { message: "hello" });
    expect(await waitForRunRecord(organisation, id, () => true)).toMatchObject({
      status: "running",
      message: "hello",
      response: null,
      duration_ms: null,
      finished_at: null,
      timeline: [],
    });
    expect((await waitForRunRecord(organisation, id)).status).toBe("completed");
  });

  test.each([
    [[{ fail: "permanent", reply: "No." }], {}, { error: "No.", error_code: "run_failed", retryable: false }],
    [[{ reply: "x", delay_ms: 9000 }], { timeout_seconds: 1 }, { error_code: "run_failed", retryable: true }],
  ])("a run of %j with %j that failed says whether a new run can help", async (steps, limits, failure) => {
    const organisation = await perch().createOrganisation();
    await createScriptedAgent(organisation, steps, limits);
    const id = await invokeInBackground(perch(), organisation.adminKey, { message: "hello" });
    expect(await waitForRunRecord(organisation, id)).toMatchObject({ status: "failed", ...failure });
    const { data } = ok(
      await organisation.call("GET /v1/agents/{agent_id}/invocations", { params: { agent_id: "bot" }, query: {} }),
    );
    expect(data[0]).toMatchObject(failure);
  });

  test("a run that failed before failures had a code counts as one that no retry helps", async () => {
    const organisation = await perch().createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "x", delay_ms: 9000 }], { timeout_seconds: 1 });
    const id = await invokeInBackground(perch(), organisation.adminKey, { message: "hello" });
    await waitForRunRecord(organisation, id);
    await withClient(perch().database.adminUrl, (client) =>
      client.query("update invocations set error_code = null, retryable = null where id = $1", [
        parsePublicId("request", id),
      ]),
    );
    expect(await waitForRunRecord(organisation, id)).toMatchObject({ error_code: "run_failed", retryable: false });
  });

  test("has the version and its deployment", async () => {
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const { data } = await invokeAgent(perch(), organisation.adminKey, { message: "hello" });
    expect(await waitForRunRecord(organisation, data.request_id)).toMatchObject({
      version: "v1",
      deployment_id: organisation.deployments[0]?.id,
      timeline: Array.from({ length: 2 }, () => ({ metadata: { version: "v1", environment: "production" } })),
    });
  });

  test("the timeline has two model steps and the tool between them: order, times, model, tokens, tool", async () => {
    const organisation = await perch().createOrganisation();
    const look = { tool_calls: [{ name: "perch_echo", arguments: { a: 1 } }], tokens: 7, delay_ms: 60 };
    await createScriptedAgent(organisation, [look, { reply: "Found it.", tokens: 5, delay_ms: 120 }]);
    const { data } = await invokeAgent(perch(), organisation.adminKey, { message: "hello" });
    const record = await waitForRunRecord(organisation, data.request_id);
    const { timeline } = record;
    expect(
      timeline.map(({ metadata: { type, step, model, tokens, tool } }) => [type, step, model ?? tool, tokens]),
    ).toEqual([
      ["model_call", 1, "perch/script", 7],
      ["tool_call", 1, "perch_echo", undefined],
      ["model_call", 2, "perch/script", 5],
      ["ended", undefined, undefined, undefined],
    ]);
    for (const { metadata } of timeline) expect(metadata.request_id).toBe(data.request_id);
    const times = timeline.map(({ timestamp }) => Date.parse(timestamp));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times[0]).toBeGreaterThanOrEqual(Date.parse(record.created_at));
    const [first, , second] = timeline.map(({ metadata }) => Number(metadata.duration_ms));
    expect(first).toBeGreaterThanOrEqual(58);
    expect(second).toBeGreaterThanOrEqual(118);
    expect(Number(times[3]) - Date.parse(record.created_at)).toBeGreaterThanOrEqual(176);
    expect(timeline.at(-1)?.metadata).toMatchObject({ tokens_used: 12, steps: 2, duration_ms: data.duration_ms });
  });

  test("the timeline has entries that the agent's own tools logged for the run, and no others", async () => {
    const { call, result, ...rest } = await createOrganisationWithRun();
    ok(await call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    const add = async (agent_id: string, message: string) =>
      ok(
        await call("POST /v1/agents/{agent_id}/logs", {
          params: { agent_id },
          body: { entries: [{ message, request_id: result.request_id }] },
        }),
      );
    await add("bot", "mine");
    await add("other", "not mine");
    const { timeline } = await waitForRunRecord({ call, ...rest }, result.request_id);
    expect(timeline.map(({ message }) => message)).toEqual(["Model call: perch/script", "Run completed", "mine"]);
  });

  test("404 for unknown runs, other organisations, other agents, and keys of other agents", async () => {
    const { call, createKey, result } = await createOrganisationWithRun();
    const mine = { agent_id: "bot", request_id: result.request_id };
    for (const request_id of [
      "req_01h455vb4pex5vsknk084sn02q",
      "req_7zzzzzzzzzzzzzzzzzzzzzzzzz",
      "nonsense",
      "agent_01h455vb4pex5vsknk084sn02q",
    ])
      expect(expectError(await call(operation, { params: { ...mine, request_id } })).status).toBe(404);
    ok(await call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    expect(expectError(await call(operation, { params: { ...mine, agent_id: "other" } })).status).toBe(404);
    const bound = await createKey({ role: "viewer", agent_id: "other" });
    expect(expectError(await call(operation, { params: mine }, bound)).status).toBe(404);
    const outsider = await createOrganisationWithRun();
    expect(expectError(await outsider.call(operation, { params: mine })).status).toBe(404);
  });
});
