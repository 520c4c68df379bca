import type { ModelAnswer } from "@perch/testkit/servers/models/model-server.ts";
import { lastUserMessage, startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { createModelProvider, providerSecret } from "../../../test/support/create-model-provider.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { invokeAgent } from "../../../test/support/invoke-calls.ts";

const callsOf = (message: string) => server.calls.filter((call) => lastUserMessage(call) === message);
const refusals: Record<string, ModelAnswer> = {
  throttled: { status: 429, headers: { "retry-after": "1" }, body: { error: { message: "slow down" } } },
  overloaded: { status: 503, body: {} },
  broken: { behaviour: "cut" },
  silent: { behaviour: "hang" },
  nonsense: { behaviour: "malformed" },
};
const server = await startOpenAiServer((call) => {
  const message = lastUserMessage(call);
  const refusal = refusals[message];
  if (refusal && callsOf(message).length === 1) return refusal;
  if (message === "never" || call.body.model === "broken") return { status: 500, body: {} };
  if (call.body.model === "refusing")
    return { status: 400, body: { error: { message: `I refuse ${providerSecret}!` } } };
  return { text: `${String(call.body.model)} says ${message}`, usage: { input: 30, output: 12 } };
});
afterAll(() => server.close());

const installed = { type: "openai-compatible" as const, baseUrl: server.url, apiKey: providerSecret, models: [] };
const perch = usePerch(
  {
    outboundAllowedPrivateRanges: ["127.0.0.0/8"],
    modelIdleTimeoutSeconds: 1,
    providers: [{ ...installed, name: "local" }],
  },
  { withWorker: true },
);

async function createOrganisationWithAgent(definition: object) {
  const organisation = await perch().createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "acme/small", ...definition } }));
  return organisation;
}

describe("an agent on a provider's model", () => {
  test("answers, with the provider's token count", async () => {
    const organisation = await createOrganisationWithAgent({ instructions: "Be kind.", temperature: 0.5 });
    await createModelProvider(organisation, server.url);
    const { data } = await invokeAgent(perch(), organisation.adminKey, { message: "hello" });
    expect(data).toMatchObject({ response: "small says hello", tokens_used: 42 });
    const [call] = callsOf("hello");
    expect(call?.headers.authorization).toBe(`Bearer ${providerSecret}`);
    expect(call?.body).toMatchObject({
      model: "small",
      temperature: 0.5,
      messages: [{ role: "system", content: "Be kind." }, { role: "user" }],
    });
  });

  test("a provider of the installation serves every organisation", async () => {
    const { adminKey } = await createOrganisationWithAgent({ model: "local/large" });
    expect((await invokeAgent(perch(), adminKey, { message: "hi" })).data.response).toBe("large says hi");
  });

  test("a change or removal of a provider takes effect with the next call", async () => {
    const organisation = await createOrganisationWithAgent({});
    await createModelProvider(organisation, server.url, { models: ["other"] });
    const ask = async () => (await invokeAgent(perch(), organisation.adminKey, { message: "again" })).error?.message;
    expect(await ask()).toContain("There is no model acme/small here.");
    const params = { provider_name: "acme" };
    ok(await organisation.call("PATCH /v1/providers/{provider_name}", { params, body: { models: ["small"] } }));
    expect(await ask()).toBeUndefined();
    ok(await organisation.call("DELETE /v1/providers/{provider_name}", { params }));
    expect(await ask()).toContain("POST /v1/providers");
  });

  test("another organisation's provider cannot be used", async () => {
    const theirs = await createOrganisationWithAgent({});
    await createModelProvider(theirs, server.url);
    const { adminKey } = await createOrganisationWithAgent({});
    expect((await invokeAgent(perch(), adminKey, { message: "mine?" })).error.message).toContain(
      "There is no model acme/small",
    );
    expect(callsOf("mine?")).toEqual([]);
  });
});

describe("a provider that fails", () => {
  test.each(Object.keys(refusals))("%s once: the call is retried, and the run completes", async (message) => {
    verifies("models.failures");
    const { adminKey } = await createOrganisationWithAgent({ model: "local/small" });
    const startedAt = performance.now();
    const { data } = await invokeAgent(perch(), adminKey, { message });
    expect(data.response).toBe(`small says ${message}`);
    expect(callsOf(message)).toHaveLength(2);
    if (message === "throttled") expect(performance.now() - startedAt).toBeGreaterThan(990);
  });

  test("the fallbacks are called in order, one with a permanent failure once, one with transient failures three times", async () => {
    verifies("agent.run-steps", "models.failures");
    const { adminKey } = await createOrganisationWithAgent({
      model: "local/refusing",
      fallback_models: ["local/broken", "nobody/x", "local/good"],
    });
    const { data } = await invokeAgent(perch(), adminKey, { message: "anybody?" });
    expect(data.response).toBe("good says anybody?");
    expect(callsOf("anybody?").map(({ body }) => body.model)).toEqual([
      "refusing",
      "broken",
      "broken",
      "broken",
      "good",
    ]);
  });

  test("a refusal ends the run with the provider's message, without the key that it quotes", async () => {
    verifies("models.secret-never-shown", "models.failures");
    const { adminKey } = await createOrganisationWithAgent({ model: "local/refusing" });
    const { status, error } = await invokeAgent(perch(), adminKey, { message: "please" });
    expect(status).toBe(422);
    expect(error.message).toContain("I refuse [hidden]");
    expect(callsOf("please")).toHaveLength(1);
  });

  test("a wrong key ends the run, with a message that names the setting", async () => {
    verifies("models.failures");
    const organisation = await createOrganisationWithAgent({});
    await createModelProvider(organisation, server.url);
    const params = { provider_name: "acme" };
    ok(await organisation.call("PATCH /v1/providers/{provider_name}", { params, body: { api_key: "sk-wrong" } }));
    const { error } = await invokeAgent(perch(), organisation.adminKey, { message: "let me in" });
    expect(error.message).toContain("PATCH /v1/providers/acme");
  });

  test("one that never recovers fails the run at its time limit, with the last failure", async () => {
    const { adminKey } = await createOrganisationWithAgent({ model: "local/small", limits: { timeout_seconds: 2 } });
    const startedAt = performance.now();
    const { error } = await invokeAgent(perch(), adminKey, { message: "never" });
    expect(performance.now() - startedAt).toBeLessThan(3500);
    expect(error.message).toContain("local/small failed (500)");
    expect(error.message).toContain("limits.timeout_seconds");
  });
});

test("an organisation's provider cannot be at a private address that the operator does not allow", async () => {
  verifies("outbound.guarded");
  const organisation = await createOrganisationWithAgent({});
  await createModelProvider(organisation, "http://169.254.169.254/v1");
  const { error } = await invokeAgent(perch(), organisation.adminKey, { message: "metadata?" });
  expect(error.message).toContain("PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES");
});
