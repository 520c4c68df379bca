import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import {
  createScriptedAgent,
  invokeAgent,
  invokeInBackground,
  invokeOperation,
  waitForRunRecord,
} from "../../../test/support/invoke-calls.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
const bot = { params: { agent_id: "bot" } };
const echoBot = { body: { name: "bot", model: "perch/echo" } };
const hello = { message: "hello" };
const toolCall = { tool_calls: [{ name: "perch_echo", arguments: { a: 1 } }] };

async function createOrganisationWithEchoAgent() {
  const organisation = await perch().createOrganisation();
  ok(await organisation.call("POST /v1/agents", echoBot));
  return organisation;
}

async function createOrganisationWithScriptedAgent(steps: readonly object[], limits = {}) {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation, steps, limits);
  return organisation;
}

describe(invokeOperation, () => {
  test("200 with the reply, the request's id, tokens and time", async () => {
    verifies(
      "operations.invoke-agent",
      "invocation.result-fields",
      "invocation.request-id-form",
      "invocation.context-optional",
      "agent.built-in-models",
    );
    const { call } = await createOrganisationWithEchoAgent();
    const answer = await call(invokeOperation, { ...bot, body: { message: "hello there" } });
    expect(answer.status).toBe(200);
    const { data } = ok(answer);
    expect(data).toEqual({
      response: "hello there",
      request_id: expect.stringMatching(/^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      tokens_used: 4,
      duration_ms: expect.any(Number),
    });
    expect(Number.isInteger(data.duration_ms)).toBe(true);
  });

  test.each([{}, { user_id: "ada" }, { session_id: "s" }, { environment: "staging" }])(
    "the context %j is enough: each of its keys is optional",
    async (context) => {
      verifies("invocation.context-optional");
      const { call } = await createOrganisationWithEchoAgent();
      expect(ok(await call(invokeOperation, { ...bot, body: { ...hello, context } })).data.response).toBe("hello");
    },
  );

  test("duration_ms is how long the run took, in milliseconds", async () => {
    verifies("invocation.result-fields");
    const { adminKey } = await createOrganisationWithScriptedAgent([{ reply: "late", delay_ms: 300 }]);
    const startedAt = performance.now();
    const { data } = await invokeAgent(perch(), adminKey, hello);
    expect(data.duration_ms).toBeGreaterThanOrEqual(299);
    expect(data.duration_ms).toBeLessThan(performance.now() - startedAt + 5);
  });

  test("400 names the missing message", async () => {
    verifies("invocation.message-required");
    const { call } = await createOrganisationWithEchoAgent();
    const error = expectError(await call(invokeOperation, { ...bot, body: {} as never }));
    expect(error).toMatchObject({
      status: 400,
      code: "invalid_request",
      message: "Missing required parameter: message",
    });
  });

  test("accepts a message of 256 KiB, counted in bytes, and no larger one", async () => {
    verifies("limits.message-size");
    const { call, adminKey } = await createOrganisationWithEchoAgent();
    const largest = "é".repeat(128 * 1024);
    expect((await invokeAgent(perch(), adminKey, { message: largest })).data.response).toBe(largest);
    const error = expectError(await call(invokeOperation, { ...bot, body: { message: `${largest}x` } }));
    expect(error).toMatchObject({ status: 400, details: [{ field: "message", error: "Larger than 256 KiB" }] });
    expect(expectError(await call(invokeOperation, { ...bot, body: { message: "" } })).status).toBe(400);
  });

  test("context accepts user_id, session_id and environment, and the record shows them", async () => {
    verifies("invocation.context-keys");
    const organisation = await createOrganisationWithEchoAgent();
    const context = { user_id: "ada", session_id: "s / 1?é", environment: "staging" };
    const { data } = await invokeAgent(perch(), organisation.adminKey, { ...hello, context });
    expect(await waitForRunRecord(organisation, data.request_id)).toMatchObject({ ...context, status: "completed" });
  });

  test("400 for a context beyond 16 KiB, an unknown key in it, or a value that is not a string", async () => {
    verifies("limits.context-size", "invocation.context-keys");
    const { call } = await createOrganisationWithEchoAgent();
    const refused = async (context: object) =>
      expectError(await call(invokeOperation, { ...bot, body: { ...hello, context: context as never } }));
    expect(await refused({ user_id: "x".repeat(16 * 1024) })).toMatchObject({
      status: 400,
      details: [{ field: "context.user_id" }, { field: "context", error: "Larger than 16 KiB" }],
    });
    const largest = "x".repeat(16 * 1024 - JSON.stringify({ user_id: "" }).length);
    expect((await refused({ user_id: largest })).details?.map(({ field }) => field)).toEqual(["context.user_id"]);
    expect((await refused({ user_id: 7 })).details?.map(({ field }) => field)).toEqual(["context.user_id"]);
    expect(await refused({ mood: "good" })).toMatchObject({
      status: 400,
      details: [{ field: "context.mood", error: "Unknown field" }],
    });
    expect((await refused({ session_id: 7 })).details?.map(({ field }) => field)).toEqual(["context.session_id"]);
  });

  test("runs in production unless the context names another environment", async () => {
    const organisation = await createOrganisationWithEchoAgent();
    const { data } = await invokeAgent(perch(), organisation.adminKey, hello);
    expect(await waitForRunRecord(organisation, data.request_id)).toMatchObject({ environment: "production" });
  });

  test("404 for an unknown agent, one of another organisation, or one that the key is not bound to", async () => {
    const { call, createKey } = await createOrganisationWithEchoAgent();
    ok(await call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    const other = { params: { agent_id: "other" }, body: hello };
    expect(expectError(await call(invokeOperation, { params: { agent_id: "nobody" }, body: hello })).status).toBe(404);
    const outsider = await perch().createOrganisation();
    expect(expectError(await outsider.call(invokeOperation, { ...bot, body: hello })).status).toBe(404);
    const bound = await createKey({ role: "developer", agent_id: "bot" });
    expect(ok(await call(invokeOperation, { ...bot, body: hello }, bound)).data.response).toBe("hello");
    expect(expectError(await call(invokeOperation, other, bound)).status).toBe(404);
  });

  test("needs invoke, which write includes", async () => {
    verifies("permissions.invoke");
    const { call, createKey } = await createOrganisationWithEchoAgent();
    const reader = await createKey({ permissions: ["read"] });
    expect(expectError(await call(invokeOperation, { ...bot, body: hello }, reader)).status).toBe(403);
    for (const permission of ["invoke", "write"]) {
      const key = await createKey({ permissions: [permission] });
      expect(ok(await call(invokeOperation, { ...bot, body: hello }, key)).data.response).toBe("hello");
    }
  });

  test("409 while the agent is paused; a running run finishes", async () => {
    verifies("agent.paused-refuses-invoke");
    const { call, adminKey } = await createOrganisationWithScriptedAgent([
      { ...toolCall, delay_ms: 800 },
      { reply: "done" },
    ]);
    const running = invokeAgent(perch(), adminKey, hello);
    await new Promise((resolve) => setTimeout(resolve, 300));
    ok(await call("POST /v1/agents/{agent_id}/pause", bot));
    expect(expectError(await call(invokeOperation, { ...bot, body: hello }))).toMatchObject({
      status: 409,
      code: "conflict",
      message: 'The agent "bot" is paused. Resume it first.',
    });
    expect((await running).data.response).toBe("done");
    ok(await call("POST /v1/agents/{agent_id}/resume", bot));
    expect(ok(await call(invokeOperation, { ...bot, body: hello })).data.response).toBe("done");
  });

  test("tools are called between steps, and tokens are summed over them", async () => {
    verifies("agent.built-in-models");
    const organisation = await createOrganisationWithScriptedAgent([
      { ...toolCall, tokens: 5 },
      { ...toolCall, tokens: 7 },
      { reply: "{message}!", tokens: 11 },
    ]);
    const { data } = await invokeAgent(perch(), organisation.adminKey, hello);
    expect(data).toMatchObject({ response: "hello!", tokens_used: 23 });
    expect(await waitForRunRecord(organisation, data.request_id)).toMatchObject({
      status: "completed",
      steps: 3,
      tokens_used: 23,
      duration_ms: data.duration_ms,
    });
  });
});

describe("Prefer", () => {
  test("respond-async: 202 at once with a Location to read the result from", async () => {
    verifies("invocation.background");
    const organisation = await createOrganisationWithScriptedAgent([{ reply: "late", delay_ms: 700 }]);
    const { status, data, headers } = await invokeAgent(perch(), organisation.adminKey, hello, {
      headers: { prefer: "respond-async" },
    });
    expect(status).toBe(202);
    expect(data).toEqual({ request_id: expect.stringMatching(/^req_/), status: "running" });
    expect(headers.get("preference-applied")).toBe("respond-async");
    expect(headers.get("location")).toBe(`/v1/agents/bot/invocations/${data.request_id}`);
    const read = await fetch(perch().url + headers.get("location"), {
      headers: { authorization: `Bearer ${organisation.adminKey}` },
    });
    expect(((await read.json()) as { data: object }).data).toMatchObject({ status: "running", response: null });
    expect(await waitForRunRecord(organisation, data.request_id)).toMatchObject({
      status: "completed",
      response: "late",
    });
  });

  test("wait=1: 202 after a second, and the run continues; a quick run answers 200", async () => {
    verifies("invocation.background");
    const organisation = await createOrganisationWithScriptedAgent([
      { ...toolCall, delay_ms: 1300 },
      { reply: "late", delay_ms: 200 },
    ]);
    const startedAt = performance.now();
    const { status, data } = await invokeAgent(perch(), organisation.adminKey, hello, {
      headers: { prefer: "wait=1" },
    });
    expect(status).toBe(202);
    expect(performance.now() - startedAt).toBeGreaterThan(990);
    expect(await waitForRunRecord(organisation, data.request_id)).toMatchObject({
      status: "completed",
      response: "late",
    });
    const quick = await createOrganisationWithEchoAgent();
    expect((await invokeAgent(perch(), quick.adminKey, hello, { headers: { prefer: "wait=5" } })).status).toBe(200);
  });
});

describe("a run that fails", () => {
  test("422 with the error of the model and the id of the record, which has the same error", async () => {
    verifies("agent.built-in-models", "errors.run-failed");
    const organisation = await createOrganisationWithScriptedAgent([
      { ...toolCall, tokens: 3 },
      { reply: "No such flight.", fail: "permanent" },
    ]);
    const { status, error } = await invokeAgent(perch(), organisation.adminKey, hello);
    expect(status).toBe(422);
    expect(error).toMatchObject({
      code: "run_failed",
      message: "The run failed: No such flight.",
      retryable: false,
    });
    const [detail] = error.details ?? [];
    expect(detail).toEqual({ field: "request_id", error: expect.stringMatching(/^req_/) });
    expect(await waitForRunRecord(organisation, detail?.error ?? "")).toMatchObject({
      status: "failed",
      error: "No such flight.",
      response: null,
      tokens_used: 3,
    });
  });

  test("lists the available models if the agent's model is not one of them", async () => {
    const { call, adminKey } = await perch().createOrganisation();
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "nobody/gpt" } }));
    const { status, error } = await invokeAgent(perch(), adminKey, hello);
    expect([status, error.code, error.retryable]).toEqual([422, "run_failed", false]);
    expect(error.message).toContain(
      "There is no model nobody/gpt here. Use one of perch/echo, perch/script, or add a provider",
    );
  });

  test.each([
    [{ max_steps: 2 }, [toolCall], "The run needed more than 2 model calls (limits.max_steps).", false],
    [{ max_tokens: 10 }, [{ ...toolCall, tokens: 10 }], "The run used 10 tokens, of 10 (limits.max_tokens).", false],
    [
      { timeout_seconds: 1 },
      [{ ...toolCall, delay_ms: 600 }],
      "The run took longer than 1 s (limits.timeout_seconds).",
      true,
    ],
    [
      { timeout_seconds: 1 },
      [{ reply: "x", delay_ms: 9000 }],
      "The run took longer than 1 s (limits.timeout_seconds).",
      true,
    ],
  ])("ends at its limit %j, and the error names it and says whether a new run can help", async (...of) => {
    verifies("limits.invocation-timeout", "errors.run-failed");
    const [limits, steps, message, retryable] = of;
    const advice = "Raise the limit, or ask for less.";
    const organisation = await createOrganisationWithScriptedAgent(steps, limits);
    const { status, error } = await invokeAgent(perch(), organisation.adminKey, hello);
    expect(status).toBe(422);
    expect(error).toMatchObject({ code: "run_failed", message: `The run failed: ${message} ${advice}`, retryable });
    expect(await waitForRunRecord(organisation, error.details?.[0]?.error ?? "")).toMatchObject({
      status: "failed",
      error: `${message} ${advice}`,
      error_code: "run_failed",
      retryable,
    });
  });
});

describe("concurrent runs", () => {
  test("429 beyond the agent's max_concurrent_runs; a run that ends frees its slot", async () => {
    const organisation = await createOrganisationWithScriptedAgent([{ reply: "ok", delay_ms: 700 }], {
      max_concurrent_runs: 2,
    });
    const { call, adminKey } = organisation;
    const running = [
      await invokeInBackground(perch(), adminKey, hello),
      await invokeInBackground(perch(), adminKey, hello),
    ];
    expect(expectError(await call(invokeOperation, { ...bot, body: hello }))).toMatchObject({
      status: 429,
      code: "rate_limited",
      message: "This agent has as many runs under way as it may (2). Try again when one has ended.",
      retry_after: 1,
    });
    for (const id of running) await waitForRunRecord(organisation, id);
    expect(ok(await call(invokeOperation, { ...bot, body: hello })).data.response).toBe("ok");
  });

  test("429 beyond the limit of the organisation's tier, over all agents", async () => {
    const organisation = await perch().createOrganisation("free");
    const { call, adminKey } = organisation;
    for (const name of ["bot", "two"])
      await createScriptedAgent(organisation, [{ reply: "ok", delay_ms: 1500 }], {}, name);
    const agents = Array.from({ length: 20 }, (_, i) => (i % 2 ? "bot" : "two"));
    await Promise.all(agents.map((agent) => invokeInBackground(perch(), adminKey, hello, { agent })));
    expect(expectError(await call(invokeOperation, { ...bot, body: hello }))).toMatchObject({
      status: 429,
      message: "This organisation has as many runs under way as it may (20). Try again when one has ended.",
    });
  });

  test("a refusal is not stored: a request repeated with its Idempotency-Key is refused again", async () => {
    const organisation = await createOrganisationWithScriptedAgent([{ reply: "ok", delay_ms: 1000 }], {
      max_concurrent_runs: 1,
    });
    const running = await invokeInBackground(perch(), organisation.adminKey, hello);
    const again = () => invokeAgent(perch(), organisation.adminKey, hello, { headers: { "idempotency-key": "k" } });
    expect((await again()).status).toBe(429);
    expect((await again()).status).toBe(429);
    await waitForRunRecord(organisation, running);
    const { status, headers } = await again();
    expect({ status, replayed: headers.get("idempotent-replayed") }).toEqual({ status: 200, replayed: null });
  });
});
