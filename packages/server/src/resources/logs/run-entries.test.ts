import type { AgentDefinitionPatch } from "@perch/contract";
import { startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { createModelProvider, providerSecret } from "../../../test/support/create-model-provider.ts";
import { deploy } from "../../../test/support/deployment-calls.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import {
  createScriptedAgent,
  invokeAgent,
  invokeInBackground,
  waitForRunRecord,
} from "../../../test/support/invoke-calls.ts";
import { getLogPage, levelsAndTypes, listRunLogEntries } from "../../../test/support/log-calls.ts";

const provider = await startOpenAiServer(({ body, number }) => {
  if (body.model === "refusing")
    return { status: 400, body: { error: { message: `I refuse ${providerSecret}, and say so` } } };
  if (body.model === "busy-once" && number === 1) return { status: 503, body: {} };
  return { text: "fine", usage: { input: 30, output: 12 } };
});
afterAll(() => provider.close());
const shop = await startToolServer();
afterAll(() => shop.close());

const perch = usePerch({ outboundAllowedPrivateRanges: ["127.0.0.0/8"] }, { withWorker: true });
const userMessage = "a secret whisper";

async function createOrganisationWithAgent(
  steps: readonly object[] = [{ reply: "hi", tokens: 3 }],
  change: AgentDefinitionPatch = {},
) {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation, steps);
  if (Object.keys(change).length > 0)
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body: change }));
  return organisation;
}

const runOf = async ({ adminKey }: Organisation, context: object = {}) => {
  const { data, error } = await invokeAgent(perch(), adminKey, { message: userMessage, context });
  return data?.request_id ?? error.details?.find(({ field }) => field === "request_id")?.error ?? "";
};
const orderTool = {
  type: "http" as const,
  name: "order",
  description: "Looks an order up.",
  method: "POST" as const,
  url: shop.url,
  parameters: { type: "object" as const },
};
const callOrder = { tool_calls: [{ name: "order", arguments: { password: "hunter2" } }], tokens: 4 };

describe("the log entries of a run", () => {
  test("a run logs its model call and its end with the time at which it was accepted, each with the run's request_id", async () => {
    verifies("logs.entry-fields", "logs.levels", "operations.get-logs");
    const organisation = await createOrganisationWithAgent();
    const context = { user_id: "ada", session_id: "s-1" };
    const { data } = await invokeAgent(perch(), organisation.adminKey, { message: userMessage, context });
    const common = { request_id: data.request_id, environment: "production", version: null };
    const entries = await listRunLogEntries(organisation, data.request_id);
    expect(entries).toEqual([
      {
        id: expect.any(String),
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        level: "info",
        message: "Model call: perch/script",
        metadata: {
          ...common,
          type: "model_call",
          step: 1,
          model: "perch/script",
          tokens: 3,
          duration_ms: expect.any(Number),
          input: {
            instructions: expect.stringMatching(/^string\(\d+\)$/),
            message: `string(${userMessage.length})`,
          },
          output: { text: "string(2)" },
        },
      },
      {
        id: expect.any(String),
        timestamp: expect.any(String),
        level: "info",
        message: "Run completed",
        metadata: {
          ...common,
          type: "ended",
          status: "completed",
          steps: 1,
          tokens_used: 3,
          duration_ms: data.duration_ms,
          accepted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          ...context,
        },
      },
    ]);
    const times = entries.map(({ timestamp }) => timestamp);
    expect(times).toEqual(times.toSorted());
  });

  test("a tool call is logged with its tool, step, duration and whether it failed, never with its arguments", async () => {
    const twice = { tool_calls: [...callOrder.tool_calls, { name: "nothing", arguments: {} }] };
    const organisation = await createOrganisationWithAgent([twice, { reply: "done" }], { tools: [orderTool] });
    const entries = await listRunLogEntries(organisation, await runOf(organisation));
    expect(levelsAndTypes(entries).toSorted()).toEqual(
      ["info model_call", "info tool_call", "warn tool_call", "info model_call", "info ended"].toSorted(),
    );
    const tools = entries.filter(({ metadata }) => metadata.type === "tool_call").map(({ metadata }) => metadata);
    expect(tools).toContainEqual(
      expect.objectContaining({ tool: "order", step: 1, call: 1, duration_ms: expect.any(Number) }),
    );
    expect(tools).toContainEqual(expect.objectContaining({ tool: "nothing", step: 1, call: 2, failed: true }));
    expect(entries[0]?.metadata.tool_calls).toBe(2);
    expect(JSON.stringify(entries)).not.toContain("hunter2");
  });

  test("a retry and a fallback are logged with the reason, the wait and the next model", async () => {
    const organisation = await createOrganisationWithAgent();
    await createModelProvider(organisation, provider.url);
    const body = { model: "acme/busy-once", fallback_models: ["acme/small"] };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body }));
    const entries = await listRunLogEntries(organisation, await runOf(organisation));
    expect(levelsAndTypes(entries)).toEqual(["warn model_call", "info model_call", "info ended"]);
    expect(entries[0]?.metadata).toMatchObject({
      model: "acme/busy-once",
      attempt: 1,
      failed: true,
      next_model: "acme/busy-once",
      retry_after_ms: expect.any(Number),
    });

    ok(
      await organisation.call("PATCH /v1/agents/{agent_id}", {
        params: { agent_id: "bot" },
        body: { model: "acme/refusing" },
      }),
    );
    const afterFallback = await listRunLogEntries(organisation, await runOf(organisation));
    expect(levelsAndTypes(afterFallback)).toEqual(["warn model_call", "info model_call", "info ended"]);
    expect(afterFallback[0]).toMatchObject({
      message: expect.stringContaining("and say so"),
      metadata: { model: "acme/refusing", failed: true, next_model: "acme/small", retry_after_ms: 0 },
    });
    expect(afterFallback[1]?.metadata).toMatchObject({ model: "acme/small", tokens: 42 });
    // A provider's error message may quote the key it was called with.
    const all = JSON.stringify(await getLogPage(organisation, { limit: 1000 }));
    for (let at = 0; at + 8 <= providerSecret.length; at++) expect(all).not.toContain(providerSecret.slice(at, at + 8));
  });

  test("a failed run ends with an error entry that gives the reason", async () => {
    const organisation = await createOrganisationWithAgent([{ fail: "permanent", reply: "The model is out." }]);
    const entries = await listRunLogEntries(organisation, await runOf(organisation));
    expect(levelsAndTypes(entries)).toEqual(["warn model_call", "error ended"]);
    expect(entries[1]).toMatchObject({
      message: "Run failed: The model is out.",
      metadata: { status: "failed", steps: 0 },
    });
  });

  test("a cancelled run ends with a warning", async () => {
    const organisation = await createOrganisationWithAgent([{ fail: "transient" }]);
    const id = await invokeInBackground(perch(), organisation.adminKey, { message: userMessage });
    const params = { agent_id: "bot", request_id: id };
    ok(await organisation.call("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", { params }));
    await waitForRunRecord(organisation, id);
    const entries = await listRunLogEntries(organisation, id);
    expect(levelsAndTypes(entries)).toContain("warn model_call");
    expect(entries.at(-1)).toMatchObject({ level: "warn", message: "Run cancelled: The run was cancelled." });
    expect(levelsAndTypes(entries).filter((kind) => kind.endsWith("ended"))).toHaveLength(1);
  });

  test.each([
    ["max_steps", { max_steps: 1 }, callOrder],
    ["max_tokens", { max_tokens: 4 }, callOrder],
    ["timeout_seconds", { timeout_seconds: 1 }, { reply: "late", delay_ms: 5000 }],
  ])("a run that %s stops logs which limit it reached", async (limit, limits, step) => {
    const organisation = await createOrganisationWithAgent([step], { limits, tools: [orderTool] });
    const entries = await listRunLogEntries(organisation, await runOf(organisation));
    expect(levelsAndTypes(entries).slice(-2)).toEqual(["warn limit", "error ended"]);
    for (const { message } of entries.slice(-2)) expect(message).toContain(`(limits.${limit})`);
  });

  test("every entry names the environment and the version", async () => {
    const organisation = await createOrganisationWithAgent();
    expect((await deploy(organisation, { version: "v1", environment: "staging" })).status).toBe("active");
    const id = await runOf(organisation, { environment: "staging" });
    const draft = await runOf(organisation);
    const entries = await listRunLogEntries(organisation, id);
    expect(entries).toHaveLength(2);
    for (const { metadata } of entries)
      expect(metadata).toMatchObject({ environment: "staging", version: "v1", request_id: id });
    const found = async (query: object) => (await getLogPage(organisation, { ...query })).pagination.total;
    expect(await found({ environment: "staging" })).toBe(2);
    expect(await found({ version: "v1" })).toBe(2);
    expect(await found({ environment: "staging", version: "v2" })).toBe(0);
    expect((await listRunLogEntries(organisation, draft))[0]?.metadata).toMatchObject({
      environment: "production",
      version: null,
    });
  });

  test("the log of a run with many steps keeps its beginning and its end, with a note about what is left out", async () => {
    const tool_calls = Array.from({ length: 32 }, () => ({ name: "nothing", arguments: {} }));
    const steps = Array.from({ length: 11 }, (_, step) => ({
      tool_calls: tool_calls.map((call, i) => ({ ...call, arguments: { step, i } })),
    }));
    const organisation = await createOrganisationWithAgent([...steps, { reply: "done" }], {
      limits: { max_steps: 100 },
    });
    const entries = await listRunLogEntries(organisation, await runOf(organisation));
    // 11 steps of 33 lines and the last call: 364.
    expect(entries).toHaveLength(200 + 1 + 100 + 1);
    expect(entries.filter(({ metadata }) => metadata.type === "truncated")).toMatchObject([
      { level: "warn", message: "64 lines are left out here" },
    ]);
    expect(levelsAndTypes(entries).slice(-2)).toEqual(["info model_call", "info ended"]);
    expect(entries.at(-2)?.metadata.step).toBe(12);
  });
});

describe("messages and responses", () => {
  test.each(["off", "shapes", "full"] as const)("are never in the log itself, with %s", async (logs) => {
    const organisation = await createOrganisationWithAgent([{ reply: "You said {message}." }], { logs });
    await runOf(organisation);
    expect(JSON.stringify(await getLogPage(organisation))).not.toContain(userMessage);
    const failing = await createOrganisationWithAgent([{ fail: "permanent", reply: "No." }], { logs });
    await runOf(failing);
    expect(JSON.stringify(await getLogPage(failing))).not.toContain(userMessage);
  });
});
