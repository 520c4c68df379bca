import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { describe, expect, test } from "vitest";
import { parsePublicId } from "../../src/platform/ids.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { getLogPage } from "../support/log-calls.ts";

// The database work of one request for logs is limited by entries and by bytes, whatever the log contains.

const perch = usePerch();

async function createOrganisationWithAgent(): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  return organisation;
}

/** `count` entries, the newest first, whose message is this expression of `n`. */
async function insertMessages(
  organisation: Organisation,
  count: number,
  message: string,
  { version = "'v1'", text = "''" } = {},
) {
  const { id } = ok(await organisation.call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } })).data;
  await withClient(perch().database.adminUrl, (client) =>
    client.query(
      `insert into log_entries (organisation_id, agent_id, at, level, message, metadata, environment, version)
       select $1, $2, now() - n * interval '10 ms', 1, ${message}, jsonb_build_object('n', n, 'text', ${text}), 'production', ${version}
         from generate_series(1, ${count}) as n`,
      [parsePublicId("organisation", organisation.id), parsePublicId("agent", id)],
    ),
  );
}

/** All pages of a search, by its cursors. */
async function readPages(organisation: Organisation, query: Record<string, string | number>) {
  const pages: Awaited<ReturnType<typeof getLogPage>>[] = [];
  let cursor: string | undefined;
  do {
    const page = await getLogPage(organisation, { ...query, ...(cursor && { cursor }) });
    pages.push(page);
    cursor = page.pagination.next_cursor ?? undefined;
  } while (cursor && pages.length < 100);
  return pages;
}
const numbersOf = (pages: readonly Awaited<ReturnType<typeof getLogPage>>[]) =>
  pages.flatMap(({ data }) => data.map(({ metadata }) => Number(metadata.n)));

const elapsedMs = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

describe("a search of logs", () => {
  test("reads 4 MiB of messages at a time, reports that it stopped, and finds the rest by its cursor", async () => {
    const organisation = await createOrganisationWithAgent();
    const letters = "(select string_agg(md5(n::text || i::text), '') from generate_series(1, 250) i)";
    await insertMessages(organisation, 1200, `case when n in (3, 600, 1190) then 'Needle ' else '' end || ${letters}`);
    const pages = await readPages(organisation, { contains: "needle" });
    expect(pages.map(({ data }) => data.length)).toEqual([1, 1, 1]);
    expect(numbersOf(pages)).toEqual([3, 600, 1190]);
    // The cursor includes the matches found before it.
    expect(pages.map(({ pagination: { total, total_relation } }) => `${total_relation} ${total}`)).toEqual([
      "gte 1",
      "gte 2",
      "eq 3",
    ]);
  });

  test.each([
    ["many long messages", 1500, 8192],
    ["many short messages", 20_000, 200],
  ])("for a text that nearly matches everywhere is quick, with %s", async (_, count, length) => {
    const organisation = await createOrganisationWithAgent();
    await insertMessages(organisation, count, `repeat('a', ${length})`);
    const nearMisses = [`${"a".repeat(199)}b`, `b${"a".repeat(199)}`, `${"a".repeat(31)}b`, `b${"a".repeat(31)}`];
    // After a search that took long, the organisation's next one waits for up to 2 s.
    for (const contains of nearMisses)
      expect(await elapsedMs(() => getLogPage(organisation, { contains }))).toBeLessThan(10_000);
  });

  test("by version, which has no index, reads 20,000 entries at a time", async () => {
    const organisation = await createOrganisationWithAgent();
    await insertMessages(organisation, 45_000, "'hay'", {
      version: "case when n % 9000 = 1 then 'rare' else 'common' end",
    });
    const pages = await readPages(organisation, { version: "rare" });
    expect(numbersOf(pages)).toEqual([1, 9001, 18_001, 27_001, 36_001]);
    expect(pages.map(({ data }) => data.length)).toEqual([3, 2, 0]);
    expect(pages[0]?.pagination).toMatchObject({ total: 3, total_relation: "gte", has_more: true });
    expect(pages[2]?.pagination).toMatchObject({ total: 5, total_relation: "eq", has_more: false });
  });

  test("counts all matches in the entries that it read, also past a full page, and continues after the page", async () => {
    const organisation = await createOrganisationWithAgent();
    await insertMessages(organisation, 500, "case when n % 5 = 0 then 'needle' else 'hay' end");
    const pages = await readPages(organisation, { contains: "NEEDLE", limit: 30 });
    expect(pages.map(({ data }) => data.length)).toEqual([30, 30, 30, 10]);
    expect(new Set(numbersOf(pages)).size).toBe(100);
    for (const { pagination } of pages) expect(pagination).toMatchObject({ total: 100, total_relation: "eq" });
    expect(numbersOf([await getLogPage(organisation, { contains: "needle", limit: 2, offset: 98 })])).toEqual([
      495, 500,
    ]);
  });
});

describe("a page of logs", () => {
  test.each([
    ["all entries", {}],
    ["a search", { contains: "line" }],
  ])("with large entries ends after 4 MiB, and the cursor continues: %s", async (_, query) => {
    const organisation = await createOrganisationWithAgent();
    await insertMessages(organisation, 600, "'line ' || n", { text: "repeat('x', 16000)" });
    const pages = await readPages(organisation, { ...query, limit: 1000 });
    expect(numbersOf(pages)).toEqual(Array.from({ length: 600 }, (__, i) => i + 1));
    expect(pages.map(({ data }) => data.length)).toEqual([262, 262, 76]);
    for (const { pagination } of pages) expect(pagination.total).toBe(600);
  });
});
