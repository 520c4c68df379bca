import { verifies } from "@perch/testkit/verifies.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { createAgentWithMemory, searchMemory } from "../../../test/support/memory-calls.ts";
import { newUuid, parsePublicId } from "../../platform/ids.ts";
import { insertMemories } from "./memory-queries.ts";

const perch = usePerch();
let org: Organisation;

/**
 * More than a search compares by words or by meaning. All are equally near to any query, so that only their order
 * distinguishes them.
 */
const stored = 250;
const embedding = JSON.stringify(Array.from({ length: 384 }, () => 0.05));

beforeAll(async () => {
  org = await perch().createOrganisation();
  const agent = await createAgentWithMemory(org);
  const organisationId = parsePublicId("organisation", org.id) ?? org.id;
  const agentId = parsePublicId("agent", agent.id) ?? "";
  const memories = Array.from({ length: stored }, (_, n) => ({
    id: newUuid(),
    owner: n < 3 ? "=ada" : "",
    session_id: null,
    source_id: null,
    content: `Parcel ${n} has arrived.`,
    metadata: {},
    embedder: "perch/minilm@384",
    dimensions: 384,
    embedding,
  }));
  await perch().server.core.db.inOrganisation(organisationId, (trx) =>
    insertMemories(trx, { organisationId, agentId }, memories),
  );
});

type Search = Exclude<Parameters<typeof searchMemory>[1], string>;

/** Every page, as a client reads them: on while `has_more` is true. */
async function readPages(search: Search) {
  const pages: Awaited<ReturnType<typeof searchMemory>>[] = [];
  for (let offset = 0; ; ) {
    const page = await searchMemory(org, { ...search, offset });
    pages.push(page);
    offset += page.data.length;
    if (!page.pagination.has_more) return pages;
  }
}

describe("POST /v1/agents/{agent_id}/memory/search", () => {
  test.each([
    { mode: "text", limit: 30, total: 100 },
    { mode: "vector", limit: 30, total: 100 },
    { mode: "hybrid", limit: 64, total: undefined },
  ] as const)("$mode: total is the number of results, each of which is on exactly one page", async (expected) => {
    verifies("memory.search-pages");
    const { mode, limit } = expected;
    const pages = await readPages({ query: "parcel", mode, limit });
    const ids = pages.flatMap(({ data }) => data.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    for (const [index, { data, pagination }] of pages.entries()) {
      const isLast = index === pages.length - 1;
      expect(pagination).toEqual({ limit, offset: index * limit, total: ids.length, has_more: !isLast });
      if (!isLast) expect(data).toHaveLength(limit);
    }
    expect(ids.length).toBe(expected.total ?? Math.min(ids.length, 200));
    expect(ids.length).toBeGreaterThanOrEqual(100);
    const whole = await searchMemory(org, { query: "parcel", mode, limit: 100 });
    expect(whole.data.map(({ id }) => id)).toEqual(ids.slice(0, 100));
    expect(whole.pagination.total).toBe(ids.length);
  });

  test("a page beyond the last result is empty and has no more", async () => {
    const { data, pagination } = await searchMemory(org, { query: "parcel", user_id: "ada", offset: 3 });
    expect(data).toEqual([]);
    expect(pagination).toEqual({ limit: 10, offset: 3, total: 3, has_more: false });
  });

  test("has_more is true although one page shows fewer than were found", async () => {
    const { data, pagination } = await searchMemory(org, { query: "parcel", user_id: "ada", limit: 2 });
    expect(data).toHaveLength(2);
    expect(pagination).toEqual({ limit: 2, offset: 0, total: 3, has_more: true });
  });

  test.each([-1, 1.5, "1"])("400 for the offset %j", async (offset) => {
    const answer = await org.call("POST /v1/agents/{agent_id}/memory/search", {
      params: { agent_id: "bot" },
      body: { query: "parcel", offset: offset as number },
    });
    expect(expectError(answer, "invalid_request").details).toMatchObject([{ field: "offset" }]);
  });
});
