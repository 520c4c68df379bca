import { lastUserMessage, startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { createModelProvider } from "../support/create-model-provider.ts";
import { usePerch } from "../support/harness.ts";
import { invokeAgent } from "../support/invoke-calls.ts";

/** Honours an output limit, as providers do, and otherwise answers without an end in sight. */
const server = await startOpenAiServer(({ body }) => {
  const limit = body.max_tokens as number | undefined;
  const words = "word ".repeat(limit ?? 60_000);
  return { text: words, usage: { input: 10, output: limit ?? 60_000 }, finish: limit ? "length" : "stop" };
});
afterAll(() => server.close());
const perch = usePerch({ outboundAllowedPrivateRanges: ["127.0.0.0/8"] }, { withWorker: true });

async function invokeWithLimit(maxTokens: number, definition: object = {}) {
  const organisation = await perch().createOrganisation();
  await createModelProvider(organisation, server.url);
  const limits = { max_tokens: maxTokens };
  ok(
    await organisation.call("POST /v1/agents", { body: { name: "bot", model: "acme/talker", limits, ...definition } }),
  );
  const message = `within ${maxTokens}`;
  const answer = await invokeAgent(perch(), organisation.adminKey, { message });
  const calls = server.calls.filter((call) => lastUserMessage(call) === message);
  const [run] = ok(
    await organisation.call("GET /v1/agents/{agent_id}/invocations", { params: { agent_id: "bot" } }),
  ).data;
  return { answer, calls, run };
}

const cutOff = (maxTokens: number) =>
  expect.stringContaining(`the run may use ${maxTokens} tokens (limits.max_tokens)`);

describe("a model that answers without end", () => {
  test("gets the rest of limits.max_tokens as its output limit", async () => {
    const { answer, calls, run } = await invokeWithLimit(500);
    expect(calls.map(({ body }) => body.max_tokens)).toEqual([500]);
    expect(answer).toMatchObject({
      status: 422,
      error: { code: "run_failed", retryable: false, message: cutOff(500) },
    });
    expect(run).toMatchObject({ status: "failed", tokens_used: 510, error: cutOff(500) });
  });

  test("is interrupted if the limit is too high for some models to be sent", async () => {
    const { answer, calls, run } = await invokeWithLimit(5000);
    expect(calls.map(({ body }) => body.max_tokens)).toEqual([undefined]);
    expect(answer).toMatchObject({
      status: 422,
      error: { code: "run_failed", retryable: false, message: cutOff(5000) },
    });
    // 60,000 words would have come.
    expect(run?.tokens_used).toBeLessThan(15_000);
  });

  test("is not asked again through a fallback model", async () => {
    const { answer, calls } = await invokeWithLimit(600, { fallback_models: ["acme/second"] });
    expect(answer.status).toBe(422);
    expect(calls).toHaveLength(1);
  });

  test("is not limited below its own setting", async () => {
    const { answer } = await invokeWithLimit(100_000);
    expect(answer).toMatchObject({ status: 200, data: { tokens_used: 60_010 } });
  });
});
