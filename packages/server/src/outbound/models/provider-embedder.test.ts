import { hashedVector } from "@perch/testkit/servers/models/embeddings.ts";
import { startGoogleServer } from "@perch/testkit/servers/models/google-server.ts";
import { type ModelAnswer, type ModelServer, modelServerKey } from "@perch/testkit/servers/models/model-server.ts";
import { startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { expectFailure } from "../../../test/support/model-requests.ts";
import { PermanentModelError, TransientModelError } from "./model.ts";
import { createProviderEmbedder } from "./provider-embedder.ts";
import type { ProviderSettings } from "./provider-model.ts";

let answer: ModelAnswer = {};
const openai = await startOpenAiServer(({ body }) =>
  answer !== refusesDimensions || "dimensions" in body ? answer : { vectors: [[3, 4, ...new Array(382).fill(0)]] },
);
const google = await startGoogleServer(() => answer);
afterAll(() => Promise.all([openai.close(), google.close()]));

/** The error of a server whose model has one size, to a request that names any. */
const refusesDimensions: ModelAnswer = {
  status: 400,
  body: { error: { message: 'Model "m" does not support matryoshka representation.', code: 400 } },
};

const servers: Record<Exclude<ProviderSettings["type"], "anthropic">, ModelServer> = {
  openai,
  google,
  "openai-compatible": openai,
};
const types = Object.keys(servers) as (keyof typeof servers)[];
const signal = () => AbortSignal.timeout(10_000);

function embedderAt(type: ProviderSettings["type"], change: Partial<ProviderSettings> = {}, dimensions = 384) {
  const { url } = type === "google" ? google : openai;
  return createProviderEmbedder({ name: "acme", type, baseUrl: url, apiKey: modelServerKey, ...change }, "test-embed", {
    dimensions,
    fetch,
    idleTimeoutMs: 1500,
  });
}

const embedding = (type: ProviderSettings["type"], texts: readonly string[], next: ModelAnswer = {}) => {
  answer = next;
  return embedderAt(type).embed(texts, signal());
};

const unit = (vector: readonly number[]) => vector.map((value) => value / Math.hypot(...vector));

describe.each(types)("%s", (type) => {
  const server = servers[type];

  test("returns one unit vector per text, in order, with the requested dimensions", async () => {
    const texts = ["the parcel is late", "a refund, please"];
    const vectors = await embedding(type, texts);
    expect(vectors).toHaveLength(2);
    texts.forEach((text, index) => {
      const expected = unit(hashedVector(text, 384));
      expect(vectors[index]).toHaveLength(384);
      vectors[index]?.forEach((value, at) => {
        expect(value).toBeCloseTo(expected[at] ?? 0, 10);
      });
    });
    const { body } = server.calls.at(-1) ?? {};
    expect(JSON.stringify(body)).toMatch(/"(dimensions|outputDimensionality)":384/);
  });

  test("embeds a single text, and sends no request without texts", async () => {
    expect(await embedding(type, ["hello"])).toHaveLength(1);
    const before = server.calls.length;
    expect(await embedding(type, [])).toEqual([]);
    expect(server.calls.length).toBe(before);
  });

  test("splits many texts into several requests, and keeps their order", async () => {
    const before = server.calls.length;
    const texts = Array.from({ length: 140 }, (_, index) => `text number ${index}`);
    const vectors = await embedding(type, texts);
    const [alone] = await embedding(type, ["text number 139"]);
    expect(vectors).toHaveLength(140);
    expect(vectors[139]).toEqual(alone);
    expect(server.calls.length - before).toBe({ openai: 2, google: 3, "openai-compatible": 6 }[type]);
  });

  test("a wrong key is a permanent failure that says to check the key, without the provider's message", async () => {
    const failure = await expectFailure(embedderAt(type, { apiKey: "sk-wrong-key-of-another" }).embed(["x"], signal()));
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain("acme refuses the API key");
    expect(failure.message).not.toContain("sk-wrong");
  });

  test("429 is transient, and Retry-After is passed on", async () => {
    const failure = await expectFailure(embedding(type, ["x"], { status: 429, headers: { "retry-after": "2" } }));
    expect(failure).toBeInstanceOf(TransientModelError);
    expect(failure).toMatchObject({ retryAfterMs: 2000 });
  });

  test.each([500, 502, 503])("%i is transient, and is not retried here", async (status) => {
    const before = server.calls.length;
    const failure = await expectFailure(
      embedding(type, ["x"], { status, body: { error: { message: modelServerKey } } }),
    );
    expect(failure).toBeInstanceOf(TransientModelError);
    expect(failure.message).toContain(String(status));
    expect(server.calls.length - before).toBe(1);
  });

  test("400 is permanent, with the provider's message and without the key", async () => {
    const errorBody = { error: { message: `Too long. ${modelServerKey}`, type: "x", param: null, code: null } };
    const failure = await expectFailure(embedding(type, ["x"], { status: 400, body: errorBody }));
    expect(failure).toEqual(new PermanentModelError("acme/test-embed refuses the request (400): Too long. [hidden]"));
  });

  test.each(["hang", "hang-midway"] as const)("%s is a transient failure after the idle timeout", async (behaviour) => {
    const failure = await expectFailure(embedding(type, ["x"], { behaviour }));
    expect(failure).toEqual(new TransientModelError("acme/test-embed sent nothing for 1.5 s."));
  });

  test.each(["cut", "end-early", "malformed", "error"] as const)("%s is a transient failure", async (behaviour) => {
    const failure = await expectFailure(embedding(type, ["x", "y"], { behaviour }));
    expect(failure).toBeInstanceOf(TransientModelError);
    expect(failure.message).toContain("acme/test-embed");
  });

  test("an aborted call rejects with the caller's reason", async () => {
    answer = { behaviour: "hang" };
    const controller = new AbortController();
    const embedded = embedderAt(type).embed(["x"], controller.signal);
    setTimeout(() => controller.abort(new Error("no longer wanted")), 50);
    expect(await expectFailure(embedded)).toEqual(new Error("no longer wanted"));
  });

  test("fewer vectors than texts are a transient failure", async () => {
    const vectors = [hashedVector("x", 384)];
    expect(await expectFailure(embedding(type, ["x", "y"], { vectors }))).toBeInstanceOf(TransientModelError);
  });

  test("vectors of the wrong size are a permanent failure that names both sizes", async () => {
    const failure = await expectFailure(embedding(type, ["x"], { vectors: [hashedVector("x", 1024)] }));
    expect(failure).toEqual(
      new PermanentModelError(
        "acme/test-embed makes vectors of 1024 dimensions, and the agent's memory.embedder.dimensions is 384.",
      ),
    );
  });

  test("a vector of zeros is a permanent failure", async () => {
    const failure = await expectFailure(embedding(type, ["x"], { vectors: [new Array(384).fill(0)] }));
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain("says nothing");
  });
});

describe("invalid settings", () => {
  test("anthropic has no embeddings", async () => {
    expect(await expectFailure(embedderAt("anthropic").embed(["x"], signal()))).toEqual(
      new PermanentModelError("acme is of type anthropic, which has no embeddings: choose another memory.embedder."),
    );
  });

  test("openai needs an API key", async () => {
    const failure = await expectFailure(embedderAt("openai", { apiKey: null }).embed(["x"], signal()));
    expect(failure.message).toContain("Provider acme has no API key");
  });
});

test("a model that refuses the dimensions parameter is called without it from then on", async () => {
  answer = refusesDimensions;
  const embedder = embedderAt("openai-compatible");
  const before = openai.calls.length;
  const [vector] = await embedder.embed(["x"], signal());
  expect(vector?.slice(0, 3)).toEqual([0.6, 0.8, 0]);
  expect(openai.calls.length - before).toBe(2);
  await embedder.embed(["y"], signal());
  expect(openai.calls.length - before).toBe(3);
});

test("texts share a request up to its byte limit", async () => {
  const before = openai.calls.length;
  await embedding("openai", ["a".repeat(200_000), "b".repeat(200_000), "short"]);
  expect(openai.calls.slice(before).map(({ body }) => (body.input as string[]).length)).toEqual([1, 2]);
});
