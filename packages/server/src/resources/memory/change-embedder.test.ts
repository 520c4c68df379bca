import { setTimeout as sleep } from "node:timers/promises";
import type { EmbedderSettings } from "@perch/contract";
import type { ModelAnswer, ProviderCall } from "@perch/testkit/servers/models/model-server.ts";
import { startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { createModelProvider } from "../../../test/support/create-model-provider.ts";
import type { Organisation } from "../../../test/support/harness.ts";
import {
  addMemory,
  createAgentWithMemory,
  searchMemory,
  searchMemoryContents,
} from "../../../test/support/memory-calls.ts";
import { usePerchWithWorkerProcesses } from "../../../test/support/worker-processes.ts";

const textsOf = ({ body }: ProviderCall) => body.input as readonly string[];
const batches = (model: string) => server.calls.filter((call) => call.body.model === model && textsOf(call).length > 1);
/** Texts that this embedder re-embedded. Queries and single memories come one at a time, so they are not counted. */
const reembeddedTexts = (model: string) => batches(model).flatMap(textsOf);

const refused = { status: 401, body: { error: { message: "The key is wrong." } } };
let down = false;
const server = await startOpenAiServer(async (call): Promise<ModelAnswer> => {
  const many = textsOf(call).length > 1;
  if (call.body.model === "down" && down) return { status: 503, body: {} };
  if (call.body.model === "refusing" || (call.body.model === "single" && many)) return refused;
  if (String(call.body.model).startsWith("slow") && many) await sleep(400);
  return {};
});
const workerProcesses = usePerchWithWorkerProcesses(
  { PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8" },
  { outboundAllowedPrivateRanges: ["127.0.0.0/8"] },
);
beforeAll(() => workerProcesses().ensureWorkers(1), 60_000);
afterAll(() => server.close());

const bot = { agent_id: "bot" };
const statusOf = async ({ call }: Organisation) =>
  ok(await call("GET /v1/agents/{agent_id}/memory/status", { params: bot })).data;
const countPending = async (organisation: Organisation) => (await statusOf(organisation)).pending_embeddings;

async function changeEmbedder({ call }: Organisation, model: string): Promise<void> {
  const embedder: EmbedderSettings = { model, dimensions: 768 };
  const { memory } = ok(
    await call("PATCH /v1/agents/{agent_id}", { params: bot, body: { memory: { embedder } } }),
  ).data;
  expect(memory.embedder).toEqual(embedder);
}

const distinctMemory = "The spare key lies under the blue flowerpot.";
const adasParcels = Array.from({ length: 20 }, (_, n) => `Ada keeps parcel ${n} on her shelf.`);

/** An agent with `count` memories, all embedded locally; some are Ada's, and one differs from all others. */
async function createAgentWithMemories(count: number): Promise<Organisation> {
  const organisation = await workerProcesses().perch.createOrganisation();
  await createModelProvider(organisation, server.url);
  await createModelProvider(organisation, server.url, { name: "zeta" });
  await createAgentWithMemory(organisation);
  const plain = Array.from({ length: count - adasParcels.length - 1 }, (_, n) => `Crate ${n} stands in hall ${n % 7}.`);
  const contents = [distinctMemory, ...plain].map((content) => ({ content }));
  const all = [...contents, ...adasParcels.map((content) => ({ content, user_id: "ada" }))];
  for (let at = 0; at < all.length; at += 10)
    await Promise.all(all.slice(at, at + 10).map((memory) => addMemory(organisation, memory)));
  expect(await statusOf(organisation)).toMatchObject({ memories: count, pending_embeddings: 0 });
  return organisation;
}

/** One memory by its meaning, and all of a user's memories, by meaning and by both. Each embedder has a list, so several hits share the first rank. */
async function searchAll(organisation: Organisation): Promise<void> {
  const query = "Where is the spare key? Under the flowerpot?";
  const byMeaning = await searchMemory(organisation, { query, mode: "vector", limit: 3 });
  expect(byMeaning.data.map(({ content }) => content)).toContain(distinctMemory);
  expect(byMeaning.data.every(({ score_parts }) => score_parts.vector)).toBe(true);
  expect(byMeaning.search).toEqual({ mode: "vector", exact: true, notice: null });
  expect((await searchMemoryContents(organisation, query))[0]).toBe(distinctMemory);
  for (const mode of ["vector", "hybrid"] as const) {
    const ofAda = await searchMemoryContents(organisation, {
      query: "Ada's parcels",
      mode,
      user_id: "ada",
      limit: 100,
    });
    expect(ofAda.toSorted()).toEqual(adasParcels.toSorted());
  }
}

const embedded = { timeout: 40_000, interval: 100 };

describe("a changed embedder", () => {
  test("searches find everything before, during and after the change, and every memory is embedded once", async () => {
    const organisation = await createAgentWithMemories(300);
    await searchAll(organisation);
    await changeEmbedder(organisation, "acme/slow");
    const seen = [await countPending(organisation)];
    let searches = 0;
    for (; seen.at(-1) !== 0; searches++) {
      await searchAll(organisation);
      seen.push(await countPending(organisation));
    }
    await searchAll(organisation);
    expect(seen[0]).toBe(300);
    expect(seen).toEqual(seen.toSorted((a, b) => b - a));
    // Searches ran while some memories had the old vectors and some the new ones.
    expect(new Set(seen).size).toBeGreaterThan(3);
    expect(searches).toBeGreaterThan(3);
    expect(reembeddedTexts("slow")).toHaveLength(300);
    expect(new Set(reembeddedTexts("slow")).size).toBe(300);
    expect(await statusOf(organisation)).toMatchObject({ embedder: { model: "acme/slow", dimensions: 768 } });
  }, 60_000);

  test.each([
    ["killed", "SIGKILL"],
    ["stopped", "SIGTERM"],
  ] as const)(
    "continues when its worker is %s, and repeats one batch at most",
    async (how, signal) => {
      const { ensureWorkers, endActiveWorker } = workerProcesses();
      const organisation = await createAgentWithMemories(200);
      await ensureWorkers(2);
      const model = `slow-${how}`;
      await changeEmbedder(organisation, `acme/${model}`);
      // Some batches are stored, and one is being embedded.
      await expect.poll(() => countPending(organisation), embedded).toBeLessThan(200);
      await expect.poll(() => batches(model).length % 2, embedded).toBe(1);
      await endActiveWorker(signal);
      // A worker that is stopped may finish first.
      if (signal === "SIGKILL") expect(await countPending(organisation)).toBeGreaterThan(0);
      await searchAll(organisation);
      await expect.poll(() => countPending(organisation), embedded).toBe(0);
      await searchAll(organisation);
      expect(new Set(reembeddedTexts(model)).size).toBe(200);
      expect(reembeddedTexts(model).length).toBeLessThanOrEqual(264);
      // The batch in progress was lost with the worker.
      if (signal === "SIGKILL") expect(reembeddedTexts(model).length).toBeGreaterThan(200);
    },
    90_000,
  );

  test("that refuses requests leaves memories searchable by their old vectors, and by words", async () => {
    const organisation = await createAgentWithMemories(70);
    await changeEmbedder(organisation, "acme/refusing");
    await expect.poll(() => batches("refusing").length, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(await statusOf(organisation)).toMatchObject({
      memories: 70,
      pending_embeddings: 70,
      embedder: { model: "acme/refusing" },
    });
    const query = "Where can I find what opens the door?";
    const byMeaning = await searchMemory(organisation, { query, mode: "vector" });
    expect(byMeaning.data[0]?.content).toBe(distinctMemory);
    expect(byMeaning.search.notice).toContain("The embedder acme/refusing could not be asked");
    const both = await searchMemory(organisation, "flowerpot");
    expect(both.data[0]).toMatchObject({
      content: distinctMemory,
      score_parts: { text: { rank: 1 }, vector: { rank: 1 } },
    });
    expect(both.search).toMatchObject({ mode: "hybrid", exact: true });
    // A permanent failure is not retried at once.
    expect(batches("refusing")).toHaveLength(1);
    await changeEmbedder(organisation, "acme/willing");
    await expect.poll(() => countPending(organisation), embedded).toBe(0);
    await searchAll(organisation);
  }, 60_000);

  test("re-embeds memories of several earlier embedders", async () => {
    const organisation = await createAgentWithMemories(70);
    await changeEmbedder(organisation, "acme/single");
    const later = Array.from({ length: 5 }, (_, n) => `Said later, ${n}.`);
    for (const content of later) await addMemory(organisation, content);
    await expect.poll(() => batches("single").length, { timeout: 10_000 }).toBe(1);
    expect(await countPending(organisation)).toBe(70);
    await changeEmbedder(organisation, "zeta/last");
    await expect.poll(() => countPending(organisation), embedded).toBe(0);
    await searchAll(organisation);
    expect(reembeddedTexts("last")).toHaveLength(75);
  }, 60_000);
});

describe("an embedder that is down", () => {
  test("loses no memory that is added in the meantime: text search finds it, and it is embedded when the embedder is back", async () => {
    const organisation = await createAgentWithMemories(30);
    await changeEmbedder(organisation, "acme/down");
    await expect.poll(() => countPending(organisation), embedded).toBe(0);
    down = true;
    const content = "The umbrella is in the hallway.";
    const { id } = await addMemory(organisation, content);
    expect(await countPending(organisation)).toBe(1);
    const meanwhile = await searchMemory(organisation, "umbrella");
    expect(meanwhile.data.map((hit) => hit.id)).toEqual([id]);
    expect(meanwhile.search.mode).toBe("text");
    const callsBefore = server.calls.length;
    await expect.poll(() => server.calls.length, { timeout: 10_000 }).toBeGreaterThan(callsBefore);
    down = false;
    await expect.poll(() => countPending(organisation), embedded).toBe(0);
    expect(await searchMemoryContents(organisation, { query: "the umbrella", mode: "vector", limit: 1 })).toEqual([
      content,
    ]);
  }, 60_000);
});
