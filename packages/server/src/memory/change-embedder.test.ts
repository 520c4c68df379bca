import { setTimeout as sleep } from "node:timers/promises";
import type { EmbedderSettings } from "@perch/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../../test/contract-client.ts";
import type { Organisation } from "../../test/harness.ts";
import type { ModelAnswer, ProviderCall } from "../../test/model-servers/model-server.ts";
import { startOpenAiServer } from "../../test/model-servers/openai-server.ts";
import { withProvider } from "../../test/providing.ts";
import { add, found, rememberer, search } from "../../test/remembering.ts";
import { usePerchBehindDoor } from "../../test/worker-door.ts";

const textsOf = ({ body }: ProviderCall) => body.input as readonly string[];
const batches = (model: string) => server.calls.filter((call) => call.body.model === model && textsOf(call).length > 1);
/** Texts that this embedder was given to embed anew: a query or a single memory comes alone. */
const textsGiven = (model: string) => batches(model).flatMap(textsOf);

const refused = { status: 401, body: { error: { message: "The key is wrong." } } };
let down = false;
const server = await startOpenAiServer(async (call): Promise<ModelAnswer> => {
  const many = textsOf(call).length > 1;
  if (call.body.model === "down" && down) return { status: 503, body: {} };
  if (call.body.model === "refusing" || (call.body.model === "single" && many)) return refused;
  if (String(call.body.model).startsWith("slow") && many) await sleep(400);
  return {};
});
const behindDoor = usePerchBehindDoor(
  { PERCH_OUTBOUND_PRIVATE_RANGES: "127.0.0.0/8" },
  { outboundPrivateRanges: ["127.0.0.0/8"] },
);
beforeAll(() => behindDoor().haveWorkers(1), 60_000);
afterAll(() => server.close());

const bot = { agent_id: "bot" };
const statusOf = async ({ call }: Organisation) =>
  ok(await call("GET /v1/agents/{agent_id}/memory/status", { params: bot })).data;
const waitingAt = async (organisation: Organisation) => (await statusOf(organisation)).waiting;

async function changeEmbedder({ call }: Organisation, model: string): Promise<void> {
  const embedder: EmbedderSettings = { model, dimensions: 768 };
  const { memory } = ok(
    await call("PATCH /v1/agents/{agent_id}", { params: bot, body: { memory: { embedder } } }),
  ).data;
  expect(memory.embedder).toEqual(embedder);
}

const special = "The spare key lies under the blue flowerpot.";
const adas = Array.from({ length: 20 }, (_, n) => `Ada keeps parcel ${n} on her shelf.`);

/** An agent with so many memories, all embedded within the server; among them what is Ada's, and one that is not like the others. */
async function stocked(count: number): Promise<Organisation> {
  const organisation = await behindDoor().perch.newOrganisation();
  await withProvider(organisation, server.url);
  await withProvider(organisation, server.url, { name: "zeta" });
  await rememberer(organisation);
  const plain = Array.from({ length: count - adas.length - 1 }, (_, n) => `Crate ${n} stands in hall ${n % 7}.`);
  const contents = [special, ...plain].map((content) => ({ content }));
  const all = [...contents, ...adas.map((content) => ({ content, user_id: "ada" }))];
  for (let at = 0; at < all.length; at += 10)
    await Promise.all(all.slice(at, at + 10).map((memory) => add(organisation, memory)));
  expect(await statusOf(organisation)).toMatchObject({ memories: count, waiting: 0 });
  return organisation;
}

/** One memory by its meaning, and all of a user's memories, by meaning and by both. Each embedder has a list, so first places are shared. */
async function searchAll(organisation: Organisation): Promise<void> {
  const query = "Where is the spare key? Under the flowerpot?";
  const byMeaning = await search(organisation, { query, mode: "vector", limit: 3 });
  expect(byMeaning.data.map(({ content }) => content)).toContain(special);
  expect(byMeaning.data.every(({ score_parts }) => score_parts.vector)).toBe(true);
  expect(byMeaning.search).toEqual({ mode: "vector", exact: true, notice: null });
  expect((await found(organisation, query))[0]).toBe(special);
  for (const mode of ["vector", "hybrid"] as const) {
    const ofAda = await found(organisation, { query: "Ada's parcels", mode, user_id: "ada", limit: 100 });
    expect(ofAda.toSorted()).toEqual(adas.toSorted());
  }
}

const embedded = { timeout: 40_000, interval: 100 };

describe("another embedder", () => {
  test("searches find all before, during and after the change, and every memory is embedded once", async () => {
    const organisation = await stocked(300);
    await searchAll(organisation);
    await changeEmbedder(organisation, "acme/slow");
    const seen = [await waitingAt(organisation)];
    let searches = 0;
    for (; seen.at(-1) !== 0; searches++) {
      await searchAll(organisation);
      seen.push(await waitingAt(organisation));
    }
    await searchAll(organisation);
    expect(seen[0]).toBe(300);
    expect(seen).toEqual(seen.toSorted((a, b) => b - a));
    // It was searched while some were embedded by the one and some by the other.
    expect(new Set(seen).size).toBeGreaterThan(3);
    expect(searches).toBeGreaterThan(3);
    expect(textsGiven("slow")).toHaveLength(300);
    expect(new Set(textsGiven("slow")).size).toBe(300);
    expect(await statusOf(organisation)).toMatchObject({ embedder: { model: "acme/slow", dimensions: 768 } });
  }, 60_000);

  test.each([
    ["killed", "SIGKILL"],
    ["stopped", "SIGTERM"],
  ] as const)(
    "goes on where it was when its worker is %s, and repeats one batch at most",
    async (how, signal) => {
      const { haveWorkers, loseWorker } = behindDoor();
      const organisation = await stocked(200);
      await haveWorkers(2);
      const model = `slow-${how}`;
      await changeEmbedder(organisation, `acme/${model}`);
      // Part of it is stored, and part of a batch is under way.
      await expect.poll(() => waitingAt(organisation), embedded).toBeLessThan(200);
      await expect.poll(() => batches(model).length % 2, embedded).toBe(1);
      await loseWorker(signal);
      // One that is stopped may finish first.
      if (signal === "SIGKILL") expect(await waitingAt(organisation)).toBeGreaterThan(0);
      await searchAll(organisation);
      await expect.poll(() => waitingAt(organisation), embedded).toBe(0);
      await searchAll(organisation);
      expect(new Set(textsGiven(model)).size).toBe(200);
      expect(textsGiven(model).length).toBeLessThanOrEqual(264);
      // What was under way was lost with it.
      if (signal === "SIGKILL") expect(textsGiven(model).length).toBeGreaterThan(200);
    },
    90_000,
  );

  test("that refuses leaves memories where they were: found by the vectors they have, and by words", async () => {
    const organisation = await stocked(70);
    await changeEmbedder(organisation, "acme/refusing");
    await expect.poll(() => batches("refusing").length, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(await statusOf(organisation)).toMatchObject({
      memories: 70,
      waiting: 70,
      embedder: { model: "acme/refusing" },
    });
    const query = "Where can I find what opens the door?";
    const byMeaning = await search(organisation, { query, mode: "vector" });
    expect(byMeaning.data[0]?.content).toBe(special);
    expect(byMeaning.search.notice).toContain("The embedder acme/refusing could not be asked");
    const both = await search(organisation, "flowerpot");
    expect(both.data[0]).toMatchObject({ content: special, score_parts: { text: { rank: 1 }, vector: { rank: 1 } } });
    expect(both.search).toMatchObject({ mode: "hybrid", exact: true });
    // Refused for good is not asked again and again.
    expect(batches("refusing")).toHaveLength(1);
    await changeEmbedder(organisation, "acme/willing");
    await expect.poll(() => waitingAt(organisation), embedded).toBe(0);
    await searchAll(organisation);
  }, 60_000);

  test("takes over from several before it", async () => {
    const organisation = await stocked(70);
    await changeEmbedder(organisation, "acme/single");
    const later = Array.from({ length: 5 }, (_, n) => `Said later, ${n}.`);
    for (const content of later) await add(organisation, content);
    await expect.poll(() => batches("single").length, { timeout: 10_000 }).toBe(1);
    expect(await waitingAt(organisation)).toBe(70);
    await changeEmbedder(organisation, "zeta/last");
    await expect.poll(() => waitingAt(organisation), embedded).toBe(0);
    await searchAll(organisation);
    expect(textsGiven("last")).toHaveLength(75);
  }, 60_000);
});

describe("an embedder that is down", () => {
  test("loses no memory that is added meanwhile: words find it, and it is embedded when the embedder is back", async () => {
    const organisation = await stocked(30);
    await changeEmbedder(organisation, "acme/down");
    await expect.poll(() => waitingAt(organisation), embedded).toBe(0);
    down = true;
    const content = "The umbrella is in the hallway.";
    const { id } = await add(organisation, content);
    expect(await waitingAt(organisation)).toBe(1);
    const meanwhile = await search(organisation, "umbrella");
    expect(meanwhile.data.map((hit) => hit.id)).toEqual([id]);
    expect(meanwhile.search.mode).toBe("text");
    const asked = server.calls.length;
    await expect.poll(() => server.calls.length, { timeout: 10_000 }).toBeGreaterThan(asked);
    down = false;
    await expect.poll(() => waitingAt(organisation), embedded).toBe(0);
    expect(await found(organisation, { query: "the umbrella", mode: "vector", limit: 1 })).toEqual([content]);
  }, 60_000);
});
