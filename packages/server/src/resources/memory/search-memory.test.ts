import { verifies } from "@perch/testkit/verifies.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import {
  addMemory,
  createAgentWithMemory,
  searchMemory,
  searchMemoryContents,
} from "../../../test/support/memory-calls.ts";

const perch = usePerch();
let org: Organisation;

const facts = [
  "The customer prefers to be called in the afternoon.",
  "Order ORD-48213-X was delivered to the wrong address.",
  "Her sister Zyxwolda Quarnbeck works in accounting.",
  "The cat is allergic to fish.",
  "The office in Lisbon closes at six.",
  "She pays by invoice, within thirty days.",
  "東京の倉庫は月曜日に閉まっています。",
];

beforeAll(async () => {
  org = await perch().createOrganisation();
  await createAgentWithMemory(org);
  for (const content of facts) await addMemory(org, content);
});

describe("POST /v1/agents/{agent_id}/memory/search", () => {
  test("finds by meaning, without a word in common", async () => {
    verifies("operations.search-memory");
    const { data, search: report } = await searchMemory(org, "When does the branch shut its doors?");
    expect(data[0]?.content).toBe(facts[4]);
    expect(report).toEqual({ mode: "hybrid", exact: true, notice: null });
  });

  test.each([
    ["an order number", "48213", 1],
    ["an order number among words", "what happened with ORD-48213-X?", 1],
    ["a name that the embedder has never seen", "Quarnbeck", 2],
    ["a stem", "deliveries to addresses", 1],
    ["a text without spaces between its words", "倉庫", 6],
  ])("finds %s by its words", async (_, query, index) => {
    expect((await searchMemoryContents(org, { query, mode: "text" }))[0]).toBe(facts[index]);
    expect((await searchMemoryContents(org, query))[0]).toBe(facts[index]);
  });

  test("explains every score: the contributions add up to it", async () => {
    verifies("memory.result-fields", "responses.search-memory");
    const { data, pagination, search: report } = await searchMemory(org, { query: "order 48213 delivered", limit: 5 });
    const [first] = data;
    expect(first).toMatchObject({
      content: facts[1],
      user_id: null,
      session_id: null,
      source_request_id: null,
      metadata: {},
      score_parts: { vector: { rank: 1 }, text: { rank: 1, words: expect.arrayContaining(["48213", "deliv"]) } },
    });
    expect(first?.id).toMatch(/^mem_/);
    const fields = ["id", "content", "score", "score_parts", "user_id", "session_id", "source_request_id"];
    expect(Object.keys(first ?? {}).toSorted()).toEqual([...fields, "created_at", "updated_at", "metadata"].toSorted());
    expect(Object.keys(first?.score_parts ?? {}).toSorted()).toEqual(["text", "vector"]);
    expect(report).toEqual({ mode: "hybrid", exact: true, notice: null });
    for (const { score, score_parts: parts } of data)
      expect(score).toBeCloseTo((parts.vector?.contribution ?? 0) + (parts.text?.contribution ?? 0), 5);
    expect(data.map(({ score }) => score)).toEqual(data.map(({ score }) => score).toSorted((a, b) => b - a));
    expect(pagination).toEqual({ limit: 5, offset: 0, total: facts.length, has_more: true });
  });

  test("pages follow each other, and one far behind the last is empty", async () => {
    const query = "order 48213 delivered";
    const all = (await searchMemory(org, { query })).data.map(({ id }) => id);
    const second = await searchMemory(org, { query, limit: 2, offset: 2 });
    expect(second.data.map(({ id }) => id)).toEqual(all.slice(2, 4));
    const { data, pagination } = await searchMemory(org, { query, offset: Number.MAX_SAFE_INTEGER });
    expect(data).toEqual([]);
    expect(pagination).toMatchObject({ total: facts.length, has_more: false });
  });

  test("searches only by words or only by meaning on request", async () => {
    const byMeaning = await searchMemory(org, { query: "48213", mode: "vector" });
    expect(byMeaning.data.every(({ score_parts }) => score_parts.vector && !score_parts.text)).toBe(true);
    const byWords = await searchMemory(org, { query: "48213", mode: "text" });
    expect(byWords.data.map(({ content }) => content)).toEqual([facts[1]]);
    expect(byWords.data[0]?.score_parts.vector).toBeNull();
  });

  test("filters by user, session, time and metadata", async () => {
    await createAgentWithMemory(org, {}, "filtered");
    const content = "The parcel arrives on";
    const memories = [
      { content: `${content} Monday.`, user_id: "ada", session_id: "s1", metadata: { kind: "plan", tags: ["a", "b"] } },
      { content: `${content} Tuesday.`, user_id: "bob", session_id: "s2", metadata: { kind: "plan" } },
      { content: `${content} Wednesday.`, user_id: "ada", session_id: "s2" },
      { content: `${content} Thursday.` },
    ];
    const added: { updated_at: string }[] = [];
    for (const memory of memories) {
      added.push(await addMemory(org, memory, "filtered"));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const days = async (filter: object) =>
      (await searchMemoryContents(org, { query: "When does the parcel arrive?", limit: 100, ...filter }, "filtered"))
        .map((text) => text.slice(content.length + 1, -1))
        .toSorted();
    expect(await days({})).toEqual(["Monday", "Thursday", "Tuesday", "Wednesday"]);
    expect(await days({ user_id: "ada" })).toEqual(["Monday", "Wednesday"]);
    expect(await days({ user_id: "nobody" })).toEqual([]);
    expect(await days({ user_id: "=ada" })).toEqual([]);
    expect(await days({ session_id: "s2" })).toEqual(["Tuesday", "Wednesday"]);
    expect(await days({ user_id: "ada", session_id: "s2" })).toEqual(["Wednesday"]);
    expect(await days({ metadata: { kind: "plan" } })).toEqual(["Monday", "Tuesday"]);
    expect(await days({ metadata: { tags: ["b"] } })).toEqual(["Monday"]);
    expect(await days({ start_time: added[2]?.updated_at })).toEqual(["Thursday", "Wednesday"]);
    expect(await days({ end_time: added[1]?.updated_at })).toEqual(["Monday"]);
    for (const mode of ["vector", "text", "hybrid"]) expect(await days({ mode, user_id: "bob" })).toEqual(["Tuesday"]);
  });

  test("treats quotes and placeholders in a filter as plain values", async () => {
    await createAgentWithMemory(org, {}, "quoted");
    for (const odd of ["o'hara", "x' or 'a' = 'a", "$1", "%s", "\\'; --"]) {
      const content = `Seen by ${odd}.`;
      await addMemory(org, { content, user_id: odd, session_id: odd, metadata: { kind: odd } }, "quoted");
      for (const filter of [{ user_id: odd }, { session_id: odd }, { metadata: { kind: odd } }])
        for (const mode of ["vector", "text"] as const)
          expect(await searchMemoryContents(org, { query: "seen", mode, ...filter }, "quoted")).toEqual([content]);
    }
  });

  test("finds only memories of the agent, in every mode", async () => {
    await createAgentWithMemory(org, {}, "empty");
    for (const mode of ["vector", "text", "hybrid"] as const)
      expect(await searchMemoryContents(org, { query: facts[1] ?? "", mode }, "empty")).toEqual([]);
  });

  test("falls back to text search, with a notice, when the embedder fails", async () => {
    await createAgentWithMemory(org, { embedder: { model: "nobody/embed", dimensions: 768 } }, "wordy");
    await addMemory(org, "The code of the gate is 4711.", "wordy");
    const { data, search: report } = await searchMemory(org, "gate code", "wordy");
    expect(data.map(({ content }) => content)).toEqual(["The code of the gate is 4711."]);
    expect(report).toMatchObject({ mode: "text", exact: true });
    expect(report.notice).toBe(
      "The embedder nobody/embed could not be asked: There is no embedder nobody/embed here. Use perch/minilm, or add its provider: POST /v1/providers. This search went by words alone.",
    );
    const byMeaning = await org.call("POST /v1/agents/{agent_id}/memory/search", {
      params: { agent_id: "wordy" },
      body: { query: "gate", mode: "vector" },
    });
    expect(expectError(byMeaning, "conflict").message).toContain("nobody/embed");
  });

  test.each(["'", "\\", "a\\'b", "a & !b | c:*", "’", "( ) <-> ''", "%_", "ß İ ı"])(
    "treats %j as plain words",
    async (query) => {
      expect(Array.isArray((await searchMemory(org, query)).data)).toBe(true);
      await addMemory(org, { content: `odd ${query} text`, user_id: "odd" });
      expect((await searchMemoryContents(org, { query: `odd ${query} text`, user_id: "odd" })).length).toBeGreaterThan(
        0,
      );
    },
  );

  test("needs read, finds the agent by name or id, and 404 otherwise", async () => {
    verifies("permissions.memory");
    const body = { query: "x" };
    const search = (key: string, agent_id = "bot") =>
      org.call("POST /v1/agents/{agent_id}/memory/search", { params: { agent_id }, body }, key);
    expect((await search(await org.createKey({ permissions: ["read"] }))).status).toBe(200);
    expect((await search(await org.createKey({ permissions: ["write", "delete"] }))).status).toBe(403);
    expectError(await search(org.adminKey, "no-such-agent"), "not_found");
  });
});
