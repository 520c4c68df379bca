import { modelServerKey } from "@perch/testkit/servers/models/model-server.ts";
import { startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { createModelRequest, createTestModel, expectFailure } from "../../../test/support/model-requests.ts";
import { createGuardedClient } from "../guarded-client.ts";
import { PermanentModelError, TransientModelError } from "./model.ts";
import { createProviderModel } from "./provider-model.ts";

const server = await startOpenAiServer(() => ({ text: "It rains." }));
afterAll(() => server.close());

const settings = { name: "acme", type: "openai-compatible", baseUrl: server.url, apiKey: modelServerKey } as const;
const through = (fetch: typeof globalThis.fetch) => createProviderModel(settings, "m", { fetch, idleTimeoutMs: 5000 });

describe("through the guarded client", () => {
  const limits = { allowedRanges: ["127.0.0.0/8"] };

  test.each(["openai-compatible", "openai"] as const)("%s models can be called", async (type) => {
    const client = createGuardedClient(limits);
    const model = createProviderModel({ ...settings, type }, "m", { fetch: client.fetch, idleTimeoutMs: 5000 });
    expect((await model(createModelRequest())).text).toBe("It rains.");
    await client.close();
  });

  test("a refused address is a permanent failure, with the guard's message", async () => {
    const client = createGuardedClient({ allowedRanges: [] });
    const failure = await expectFailure(through(client.fetch)(createModelRequest()));
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain("127.0.0.1 is, or resolves to, a private or reserved address");
    await client.close();
  });

  test("a response that is too large is a permanent failure", async () => {
    const client = createGuardedClient({ ...limits, maxResponseBytes: 500 });
    const failure = await expectFailure(through(client.fetch)(createModelRequest()));
    expect(failure).toEqual(new PermanentModelError("The response is larger than the limit of 500 bytes."));
    await client.close();
  });

  test("a response of many values is a permanent failure", async () => {
    const junk = () => Promise.resolve(Response.json({ choices: Array(50_000).fill(0) }));
    const failure = await expectFailure(through(junk)(createModelRequest()));
    expect(failure).toEqual(new PermanentModelError("The response is larger than the limit of 50000 values of JSON."));
  });
});

describe("the output limit", () => {
  const limited = (maxOutputTokens: number, type: "openai" | "openai-compatible") =>
    createProviderModel({ ...settings, type }, "m", { fetch, idleTimeoutMs: 5000 })(
      createModelRequest({ maxOutputTokens }),
    );
  const sentLimit = () => server.calls.at(-1)?.body;

  test("is sent if every model accepts it, and never below the accepted minimum", async () => {
    for (const [maxOutputTokens, sent] of [
      [1, 16],
      [4096, 4096],
      [4097, undefined],
    ] as const) {
      await limited(maxOutputTokens, "openai");
      expect(sentLimit()?.max_output_tokens).toBe(sent);
    }
    for (const [maxOutputTokens, sent] of [
      [1024, 1024],
      [1025, undefined],
    ] as const) {
      await limited(maxOutputTokens, "openai-compatible");
      expect(sentLimit()?.max_tokens).toBe(sent);
    }
  });
});

describe("before a request is sent", () => {
  test("a fetch error that quotes the key does not expose it", async () => {
    const error = new TypeError(`"Bearer ${modelServerKey}" is an invalid header value.`);
    const failure = await expectFailure(through(() => Promise.reject(error))(createModelRequest()));
    expect(failure).toBeInstanceOf(TransientModelError);
    expect(failure.message).not.toContain(modelServerKey);
  });

  test.each([
    ["no key", "openai", { apiKey: null }, "m"],
    ["no key", "anthropic", { apiKey: null }, "m"],
    ["no key", "google", { apiKey: null }, "m"],
    ["a key with a line break", "openai", { apiKey: "sk-\nabc" }, "m"],
    ["no base URL", "openai-compatible", { baseUrl: null }, "m"],
    ["a base URL that is none", "openai-compatible", { baseUrl: "nonsense" }, "m"],
    ["a model name that leads elsewhere", "google", {}, "../files?x=#"],
  ] as const)("%s (%s) is a permanent failure, and sends no request", async (_, type, change, name) => {
    const before = server.calls.length;
    expect(await expectFailure(createTestModel(server, type, change, name)(createModelRequest()))).toBeInstanceOf(
      PermanentModelError,
    );
    expect(server.calls.length).toBe(before);
  });

  test("API keys in the environment are not used", async () => {
    process.env.OPENAI_API_KEY = modelServerKey;
    const failure = await expectFailure(createTestModel(server, "openai", { apiKey: null })(createModelRequest()));
    delete process.env.OPENAI_API_KEY;
    expect(failure.message).toContain("has no API key");
  });

  test("an already aborted request is not sent", async () => {
    const before = server.calls.length;
    await expect(
      createTestModel(server, "openai")(createModelRequest({ signal: AbortSignal.abort(new Error("Gone.")) })),
    ).rejects.toThrow("Gone.");
    expect(server.calls.length).toBe(before);
  });
});
