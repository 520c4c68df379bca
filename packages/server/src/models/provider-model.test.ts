import { afterAll, describe, expect, test } from "vitest";
import { asked, failureOf, modelAt } from "../../test/model-servers/asking.ts";
import { modelServerKey } from "../../test/model-servers/model-server.ts";
import { startOpenAiServer } from "../../test/model-servers/openai-server.ts";
import { createGuardedClient } from "../platform/guarded-client.ts";
import { PassingModelError, PermanentModelError } from "./model.ts";
import { createProviderModel } from "./provider-model.ts";

const server = await startOpenAiServer(() => ({ text: "It rains." }));
afterAll(() => server.close());

const settings = { name: "acme", type: "openai-compatible", baseUrl: server.url, apiKey: modelServerKey } as const;
const through = (fetch: typeof globalThis.fetch) => createProviderModel(settings, "m", { fetch, silenceMs: 600 });

describe("through the guarded client", () => {
  const limits = { allowedRanges: ["127.0.0.0/8"] };

  test.each(["openai-compatible", "openai"] as const)("%s works", async (type) => {
    const client = createGuardedClient(limits);
    const model = createProviderModel({ ...settings, type }, "m", { fetch: client.fetch, silenceMs: 600 });
    expect((await model(asked())).text).toBe("It rains.");
    await client.close();
  });

  test("an address that it refuses ends the run, in its words", async () => {
    const client = createGuardedClient({ allowedRanges: [] });
    const failure = await failureOf(through(client.fetch)(asked()));
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain("127.0.0.1 is, or resolves to, a private or reserved address");
    await client.close();
  });

  test("an answer that is too large ends the run", async () => {
    const client = createGuardedClient({ ...limits, maxResponseBytes: 500 });
    const failure = await failureOf(through(client.fetch)(asked()));
    expect(failure).toEqual(new PermanentModelError("The response is larger than 500 bytes, the most that is read."));
    await client.close();
  });
});

describe("before a byte is sent", () => {
  test("an error of fetch that quotes the key passes it on to nobody", async () => {
    const error = new TypeError(`"Bearer ${modelServerKey}" is an invalid header value.`);
    expect(await failureOf(through(() => Promise.reject(error))(asked()))).toBeInstanceOf(PassingModelError);
  });

  test.each([
    ["no key", "openai", { apiKey: null }, "m"],
    ["no key", "anthropic", { apiKey: null }, "m"],
    ["no key", "google", { apiKey: null }, "m"],
    ["a key with a line break", "openai", { apiKey: "sk-\nabc" }, "m"],
    ["no base URL", "openai-compatible", { baseUrl: null }, "m"],
    ["a base URL that is none", "openai-compatible", { baseUrl: "nonsense" }, "m"],
    ["a model name that leads elsewhere", "google", {}, "../files?x=#"],
  ] as const)("%s (%s) ends the run, and asks nobody", async (_, type, change, name) => {
    const before = server.calls.length;
    expect(await failureOf(modelAt(server, type, change, name)(asked()))).toBeInstanceOf(PermanentModelError);
    expect(server.calls.length).toBe(before);
  });

  test("no key of the environment is used instead", async () => {
    process.env.OPENAI_API_KEY = modelServerKey;
    const failure = await failureOf(modelAt(server, "openai", { apiKey: null })(asked()));
    delete process.env.OPENAI_API_KEY;
    expect(failure.message).toContain("has no API key");
  });

  test("a caller who is already gone is not answered", async () => {
    const before = server.calls.length;
    await expect(modelAt(server, "openai")(asked({ signal: AbortSignal.abort(new Error("Gone.")) }))).rejects.toThrow(
      "Gone.",
    );
    expect(server.calls.length).toBe(before);
  });
});
