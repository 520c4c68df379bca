import { describe, expect, test } from "vitest";
import { ok, refusal } from "../../test/contract-client.ts";
import { usePerch } from "../../test/harness.ts";
import { inBackground, invokeAt, recordOf, scripted } from "../../test/invoking.ts";

const perch = usePerch({}, { runs: true });
const operation = "GET /v1/agents/{agent_id}/invocations/{request_id}";

async function withRun() {
  const organisation = await perch().newOrganisation();
  await scripted(organisation, [{ reply: "You said {message}.", tokens: 9 }]);
  const context = { user_id: "ada", session_id: "s" };
  const { data } = await invokeAt(perch(), organisation.adminKey, { message: "hello", context });
  return { ...organisation, result: data };
}

describe(operation, () => {
  test("has the message, the answer and how the run went", async () => {
    const { call, result } = await withRun();
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
      steps: 1,
      tokens_used: 9,
      duration_ms: result.duration_ms,
      created_at: expect.any(String),
      finished_at: expect.any(String),
    });
    expect(Date.parse(data.finished_at ?? "")).toBeGreaterThanOrEqual(Date.parse(data.created_at));
  });

  test("shows a run that is under way, without an end", async () => {
    const organisation = await perch().newOrganisation();
    await scripted(organisation, [{ reply: "ok", delay_ms: 500 }]);
    const id = await inBackground(perch(), organisation.adminKey, { message: "hello" });
    expect(await recordOf(organisation, id, () => true)).toMatchObject({
      status: "running",
      message: "hello",
      response: null,
      duration_ms: null,
      finished_at: null,
    });
    expect((await recordOf(organisation, id)).status).toBe("completed");
  });

  test("404 for what is not there, for other organisations, other agents, and keys of other agents", async () => {
    const { call, newKey, result } = await withRun();
    const mine = { agent_id: "bot", request_id: result.request_id };
    for (const request_id of [
      "req_01h455vb4pex5vsknk084sn02q",
      "req_7zzzzzzzzzzzzzzzzzzzzzzzzz",
      "nonsense",
      "agent_01h455vb4pex5vsknk084sn02q",
    ])
      expect(refusal(await call(operation, { params: { ...mine, request_id } })).status).toBe(404);
    ok(await call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    expect(refusal(await call(operation, { params: { ...mine, agent_id: "other" } })).status).toBe(404);
    const bound = await newKey({ role: "viewer", agent_id: "other" });
    expect(refusal(await call(operation, { params: mine }, bound)).status).toBe(404);
    const stranger = await withRun();
    expect(refusal(await stranger.call(operation, { params: mine })).status).toBe(404);
  });
});
