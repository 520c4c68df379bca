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
interface Found {
  readonly name: string | undefined;
  readonly owner: string | null;
}
/** Every query in every mode, asked once for both tests. */
const results: { readonly query: RetrievalQuery; readonly mode: SearchMode; readonly found: readonly Found[] }[] = [];
const owners = new Map(memories.map(({ id, user_id }) => [id, user_id ?? null]));

beforeAll(async () => {
  org = await perch().createOrganisation();
  await createAgentWithMemory(org);
  // Another agent and another organisation have the same contents, which must not be found.
  const otherOrganisation = await perch().createOrganisation();
  await createAgentWithMemory(otherOrganisation);
  await createAgentWithMemory(org, {}, "other");
  for (const [n, { id, content, user_id }] of memories.entries()) {
    const memory = { content, ...(user_id && { user_id }) };
    // Every fourth is enough to be found by mistake, and embedding takes most of this file's time.
    const elsewhere = n % 4 === 0 ? [addMemory(org, memory, "other"), addMemory(otherOrganisation, memory)] : [];
    const [{ id: publicId }] = await Promise.all([addMemory(org, memory), ...elsewhere]);
    names.set(publicId, id);
  }
  for (const query of queries)
    for (const mode of searchModes) results.push({ query, mode, found: await searchNames(query, mode) });
}, 180_000);

async function searchNames({ query, user_id }: RetrievalQuery, mode: SearchMode): Promise<Found[]> {
  const { data } = await searchMemory(org, { query, mode, limit: 100, ...(user_id && { user_id }) });
  return data.map(({ id, user_id: owner }) => ({ name: names.get(id), owner }));
}

const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

test("hybrid search is as good as the better of its two methods in every class, and better than both overall", () => {
  const recalls = results.map(({ query, mode, found }) => {
    const best = new Set(found.slice(0, depth).map(({ name }) => name));
    const recall = query.answers.filter((answer) => best.has(answer)).length / query.answers.length;
    return { of: query, mode, recall };
  });
  const recallOf = (mode: SearchMode, name?: string) =>
    average(
      recalls.filter((each) => each.mode === mode && (!name || each.of.class === name)).map(({ recall }) => recall),
    );
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
});

test("search never finds memories of another user, agent or organisation", () => {
  for (const { query, found } of results) {
    // Memories of other agents are not in `names`.
    expect(found.filter(({ name }) => name === undefined)).toEqual([]);
    expect(found.filter(({ name, owner }) => owners.get(name ?? "") !== owner)).toEqual([]);
    if (query.user_id) expect(found.filter(({ owner }) => owner !== query.user_id)).toEqual([]);
  }
  expect(results.flatMap(({ found }) => found).length).toBeGreaterThan(5000);
});
