import { type SearchMode, searchModes } from "@perch/contract";
import { beforeAll, expect, test } from "vitest";
import { type Organisation, usePerch } from "../../support/harness.ts";
import { addMemory, createAgentWithMemory, searchMemory } from "../../support/memory-calls.ts";
import { queryClasses, type RetrievalQuery, retrievalSet } from "./retrieval-set.ts";

const perch = usePerch();
const { memories, queries } = retrievalSet();
const depth = 5;
let org: Organisation;
/** Names in the set by public ids. */
const names = new Map<string, string>();
const owners = new Map(memories.map(({ id, user_id }) => [id, user_id ?? null]));

beforeAll(async () => {
  org = await perch().createOrganisation();
  await createAgentWithMemory(org);
  // Another agent and another organisation have the same contents, which must not be found.
  const otherOrganisation = await perch().createOrganisation();
  await createAgentWithMemory(otherOrganisation);
  await createAgentWithMemory(org, {}, "other");
  for (const { id, content, user_id } of memories) {
    const memory = { content, ...(user_id && { user_id }) };
    const [{ id: publicId }] = await Promise.all([
      addMemory(org, memory),
      addMemory(org, memory, "other"),
      addMemory(otherOrganisation, memory),
    ]);
    names.set(publicId, id);
  }
}, 180_000);

async function searchNames({ query, user_id }: RetrievalQuery, mode: SearchMode, limit = depth) {
  const { data } = await searchMemory(org, { query, mode, limit, ...(user_id && { user_id }) });
  return data.map(({ id, user_id: owner }) => ({ name: names.get(id), owner }));
}

const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

test("hybrid search is as good as the better of its two methods in every class, and better than both overall", async () => {
  const recalls = new Map<SearchMode, { readonly of: RetrievalQuery; readonly recall: number }[]>();
  for (const mode of searchModes) {
    const measured = [];
    for (const query of queries) {
      const found = new Set((await searchNames(query, mode)).map(({ name }) => name));
      const recall = query.answers.filter((answer) => found.has(answer)).length / query.answers.length;
      measured.push({ of: query, recall });
    }
    recalls.set(mode, measured);
  }
  const recallOf = (mode: SearchMode, name?: string) =>
    average((recalls.get(mode) ?? []).filter(({ of }) => !name || of.class === name).map(({ recall }) => recall));
  const table = [...queryClasses, undefined].map((name) => ({
    class: name ?? "all",
    hybrid: recallOf("hybrid", name),
    vector: recallOf("vector", name),
    text: recallOf("text", name),
  }));
  for (const row of table)
    console.log(
      `recall@${depth} ${row.class.padEnd(12)} hybrid ${row.hybrid.toFixed(3)}  vector ${row.vector.toFixed(3)}  text ${row.text.toFixed(3)}`,
    );
  const overall = table.at(-1);
  for (const { hybrid, vector, text, class: name } of table)
    expect(hybrid, name).toBeGreaterThanOrEqual(0.95 * Math.max(vector, text));
  expect(overall?.hybrid).toBeGreaterThan(Math.max(overall?.vector ?? 1, overall?.text ?? 1));
  // Each of the two methods is better than the other in some class.
  expect(recallOf("text", "id")).toBeGreaterThan(recallOf("vector", "id"));
  expect(recallOf("vector", "paraphrase")).toBeGreaterThan(recallOf("text", "paraphrase"));
}, 180_000);

test("search never finds memories of another user, agent or organisation", async () => {
  let seen = 0;
  for (const query of queries) {
    for (const mode of searchModes) {
      const found = await searchNames(query, mode, 100);
      seen += found.length;
      // Memories of other agents are not in `names`.
      expect(found.filter(({ name }) => name === undefined)).toEqual([]);
      expect(found.filter(({ name, owner }) => owners.get(name ?? "") !== owner)).toEqual([]);
      if (query.user_id) expect(found.filter(({ owner }) => owner !== query.user_id)).toEqual([]);
    }
  }
  expect(seen).toBeGreaterThan(5000);
}, 180_000);
