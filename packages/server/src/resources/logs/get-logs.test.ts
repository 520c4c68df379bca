import { logLevels } from "@perch/contract";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { createScriptedAgent, invokeAgent } from "../../../test/support/invoke-calls.ts";
import { getLogPage, getLogsOperation } from "../../../test/support/log-calls.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch({}, { withWorker: true });

async function createOrganisationWithAgent() {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation, [{ reply: "hi" }]);
  return organisation;
}
const runOf = async ({ adminKey }: Organisation) =>
  (await invokeAgent(perch(), adminKey, { message: "hello" })).data.request_id;

/** Rows as they would be after weeks, written directly to the database. */
async function insertRows(organisation: Organisation, count: number, rest: string) {
  const { id } = ok(await organisation.call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } })).data;
  await withClient(perch().database.adminUrl, (client) =>
    client.query(
      `insert into log_entries (organisation_id, agent_id, at, level, message, metadata, environment, version)
       select $1, $2, ${rest} from generate_series(1, ${count}) as n`,
      [parsePublicId("organisation", organisation.id), parsePublicId("agent", id)],
    ),
  );
}
const row = (at: string) => `${at}, n % 4, 'line ' || n, jsonb_build_object('n', n), 'production', 'v' || n % 3`;
const numbersOf = ({ data }: Awaited<ReturnType<typeof getLogPage>>) => data.map(({ metadata }) => Number(metadata.n));
const secondsAgo = row("now() - n * interval '1 second'");
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

describe(`${getLogsOperation}: pages`, () => {
  test("newest first, 100 by default, at most 1,000", async () => {
    verifies("logs.order", "logs.limit", "operations.get-logs");
    const organisation = await createOrganisationWithAgent();
    await insertRows(organisation, 1200, secondsAgo);
    const first = await getLogPage(organisation);
    expect(numbersOf(first)).toEqual(upTo(100));
    expect(first.pagination).toMatchObject({
      limit: 100,
      offset: 0,
      total: 1200,
      total_relation: "eq",
      has_more: true,
    });
    expect(numbersOf(await getLogPage(organisation, { limit: 1000 }))).toEqual(upTo(1000));
    expect(numbersOf(await getLogPage(organisation, { limit: 5, offset: 10 }))).toEqual([11, 12, 13, 14, 15]);
    const last = await getLogPage(organisation, { limit: 200, offset: 1000 });
    expect(last.pagination).toMatchObject({ has_more: false, next_cursor: null });
    expect(last.data).toHaveLength(200);
  });

  test.each([1, 7, 250, 1000])(
    "by cursor, %i at a time: every entry once, although all have the same timestamp",
    async (limit) => {
      verifies("logs.cursor");
      const organisation = await createOrganisationWithAgent();
      const count = limit === 1 ? 20 : 1000;
      await insertRows(organisation, count, row("date_trunc('second', now()) - interval '1 minute'"));
      const seen: number[] = [];
      let cursor: string | undefined;
      let pages = 0;
      do {
        const page = await getLogPage(organisation, { limit, ...(cursor && { cursor }) });
        expect(page.pagination.has_more).toBe(page.pagination.next_cursor !== null);
        expect(page.pagination.total).toBe(count);
        seen.push(...numbersOf(page));
        cursor = page.pagination.next_cursor ?? undefined;
        pages++;
      } while (cursor);
      expect(seen.toSorted((a, b) => a - b)).toEqual(upTo(count));
      expect(pages).toBe(Math.ceil(count / limit));
    },
  );

  test("by cursor, entries that are added in the meantime are neither repeated nor cause others to be skipped", async () => {
    const organisation = await createOrganisationWithAgent();
    await insertRows(organisation, 10, secondsAgo);
    const first = await getLogPage(organisation, { limit: 5 });
    await runOf(organisation);
    const second = await getLogPage(organisation, { limit: 5, cursor: first.pagination.next_cursor ?? "" });
    expect([...numbersOf(first), ...numbersOf(second)]).toEqual(upTo(10));
  });

  test("the total is counted up to 10,000; with more entries it is a lower bound, and all can be read", async () => {
    verifies("logs.total");
    const organisation = await createOrganisationWithAgent();
    await insertRows(organisation, 10_000, secondsAgo);
    expect((await getLogPage(organisation)).pagination).toMatchObject({ total: 10_000, total_relation: "eq" });
    await insertRows(organisation, 1, row("now() - interval '3 hours'"));
    expect((await getLogPage(organisation)).pagination).toMatchObject({ total: 10_000, total_relation: "gte" });
    const end = (await getLogPage(organisation, { limit: 1000, offset: 9001 })).pagination;
    expect(end).toMatchObject({ has_more: false, next_cursor: null });
  });

  test("a text search reads 20,000 entries at a time, and the cursor continues where it stopped", async () => {
    const organisation = await createOrganisationWithAgent();
    const needle = row("now() - n * interval '1 second'").replace(
      "'line ' || n",
      "case when n % 9000 = 1 then 'needle' else 'hay' end",
    );
    await insertRows(organisation, 45_000, needle);
    const seen: number[] = [];
    let cursor: string | undefined;
    let first: string | undefined;
    do {
      const page = await getLogPage(organisation, { contains: "needle", ...(cursor && { cursor }) });
      first ??= page.pagination.total_relation;
      seen.push(...numbersOf(page));
      cursor = page.pagination.next_cursor ?? undefined;
    } while (cursor);
    expect(seen).toEqual([1, 9001, 18_001, 27_001, 36_001]);
    expect(first).toBe("gte");
  });

  test.each([
    "nonsense",
    Buffer.from("null").toString("base64url"),
    Buffer.from('["1","2"]').toString("base64url"),
    Buffer.from('[1,"x"]').toString("base64url"),
    Buffer.from("[9000000000000000,1]").toString("base64url"),
    Buffer.from("[-8000000000000000,1]").toString("base64url"),
    Buffer.from('[1,"9999999999999999999"]').toString("base64url"),
  ])("400 for the cursor %s", async (cursor) => {
    verifies("logs.cursor");
    const { call } = await createOrganisationWithAgent();
    const answer = await call(getLogsOperation, { params: { agent_id: "bot" }, query: { cursor } });
    expect(expectError(answer, "invalid_request").details?.[0]?.field).toBe("cursor");
  });
});

describe(`${getLogsOperation}: filters`, () => {
  test.each(logLevels)("level %s", async (level) => {
    verifies("logs.levels");
    const organisation = await createOrganisationWithAgent();
    await insertRows(organisation, 40, secondsAgo);
    const { data, pagination } = await getLogPage(organisation, { level });
    expect(pagination.total).toBe(10);
    expect(new Set(data.map((entry) => entry.level))).toEqual(new Set([level]));
  });

  test.each([
    ["ine 3", [3, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39]],
    ["LINE 40", [40]],
    ["%", []],
    ["line_1", []],
    ["\\", []],
  ])("contains %j is matched literally, ignoring case", async (contains, expected) => {
    const organisation = await createOrganisationWithAgent();
    await insertRows(organisation, 40, secondsAgo);
    const page = await getLogPage(organisation, { contains });
    expect(numbersOf(page)).toEqual(expected);
    expect(page.pagination).toMatchObject({ total: expected.length, total_relation: "eq", has_more: false });
  });

  test.each(["straße über", "STRASSE", "Über ÄRGER", "ärger"])(
    "contains %j ignores the case of all letters",
    async (contains) => {
      const organisation = await createOrganisationWithAgent();
      const body = { entries: [{ message: "Straße ÜBER Ärger" }, { message: "STRASSE" }] };
      ok(await organisation.call("POST /v1/agents/{agent_id}/logs", { params: { agent_id: "bot" }, body }));
      const { data } = await getLogPage(organisation, { contains });
      expect(data.map(({ message }) => message)).toEqual([contains === "STRASSE" ? "STRASSE" : "Straße ÜBER Ärger"]);
    },
  );

  test("apply together, also across pages", async () => {
    const organisation = await createOrganisationWithAgent();
    await insertRows(organisation, 240, secondsAgo);
    const query = { level: "warn", version: "v0", environment: "production", contains: "2", limit: 4 };
    const expected = upTo(240).filter((n) => n % 4 === 2 && n % 3 === 0 && String(n).includes("2"));
    const first = await getLogPage(organisation, query);
    expect(first.pagination).toMatchObject({ total: expected.length, has_more: true });
    const rest = await getLogPage(organisation, { ...query, limit: 1000, cursor: first.pagination.next_cursor ?? "" });
    expect([...numbersOf(first), ...numbersOf(rest)]).toEqual(expected);
    const id = await runOf(organisation);
    expect((await getLogPage(organisation, { request_id: id, level: "info" })).pagination.total).toBe(2);
    expect((await getLogPage(organisation, { request_id: id, level: "error" })).pagination.total).toBe(0);
    // The second has the form of an id, but stands for no UUID.
    for (const request_id of ["req_01h455vb4pex5vsknk084sn02q", "req_01kg0000000000000000000001"])
      expect((await getLogPage(organisation, { request_id })).data).toEqual([]);
  });

  test("the range includes its start and not its end", async () => {
    verifies("time-range.format");
    const organisation = await createOrganisationWithAgent();
    const noon = new Date(Date.now() - 3_600_000);
    noon.setMilliseconds(0);
    const at = (n: number) => new Date(noon.getTime() + n * 1000).toISOString();
    await insertRows(organisation, 10, row(`'${noon.toISOString()}'::timestamptz + n * interval '1 second'`));
    const between = async (start_time: string, end_time: string) =>
      numbersOf(await getLogPage(organisation, { start_time, end_time }));
    expect(await between(at(3), at(6))).toEqual([5, 4, 3]);
    expect(await between(at(3).replace(".000Z", ".001Z"), at(6).replace(".000Z", ".001Z"))).toEqual([6, 5, 4]);
    const local = at(4).replace(".000Z", "+00:00");
    expect(await between(local, at(5))).toEqual([4]);
    expect(await between("0000-01-01T00:00:00Z", at(2))).toEqual([1]);
    expect(numbersOf(await getLogPage(organisation, { end_time: at(2) }))).toEqual([1]);
    expect(numbersOf(await getLogPage(organisation, { start_time: at(9) }))).toEqual([10, 9]);
    expect(numbersOf(await getLogPage(organisation, { start_time: at(9).toLowerCase() }))).toEqual([10, 9]);
  });

  test("nothing is found after a start that is ahead of the server's clock", async () => {
    verifies("time-range.ahead");
    const organisation = await createOrganisationWithAgent();
    await insertRows(organisation, 1, row("now()"));
    for (const start_time of [new Date(Date.now() + 5000).toISOString(), "2999-01-01T00:00:00Z"]) {
      const { data, pagination } = await getLogPage(organisation, { start_time });
      expect(data).toEqual([]);
      expect(pagination).toMatchObject({ total: 0, total_relation: "eq", has_more: false, next_cursor: null });
    }
  });

  test("the range is the last 24 hours by default", async () => {
    verifies("logs.default-range");
    const organisation = await createOrganisationWithAgent();
    await insertRows(organisation, 1, row("now() - interval '23 hours 59 minutes'"));
    await insertRows(organisation, 2, row("now() - interval '24 hours 1 minute'"));
    expect((await getLogPage(organisation)).pagination.total).toBe(1);
    const start_time = new Date(Date.now() - 25 * 3_600_000).toISOString();
    expect((await getLogPage(organisation, { start_time })).pagination.total).toBe(3);
  });

  test.each([
    [{ start_time: "yesterday" }, "start_time"],
    [{ start_time: "2026-01-01T00:00:00" }, "start_time"],
    [{ end_time: "2026-13-01T00:00:00Z" }, "end_time"],
    [{ start_time: "2026-01-02T00:00:00Z", end_time: "2026-01-02T00:00:00Z" }, "start_time"],
    [{ start_time: "2999-01-01T00:00:00Z", end_time: "2998-01-01T00:00:00Z" }, "start_time"],
    [{ level: "fatal" }, "level"],
    [{ limit: 0 }, "limit"],
    [{ limit: 1001 }, "limit"],
    [{ request_id: "req_1" }, "request_id"],
    [{ contains: "" }, "contains"],
    [{ contains: "a\0b" }, "contains"],
    [{ colour: "red" }, "colour"],
  ])("400 for %j names %s", async (query, field) => {
    verifies("time-range.format", "logs.limit");
    const { call } = await createOrganisationWithAgent();
    const answer = await call(getLogsOperation, { params: { agent_id: "bot" }, query: query as never });
    expect(expectError(answer, "invalid_request").details?.map((detail) => detail.field)).toEqual([field]);
  });
});

test("404 hides agents of other organisations; a key that belongs to one agent reads only its log", async () => {
  verifies("permissions.logs-and-metrics");
  const [mine, theirs] = [await createOrganisationWithAgent(), await createOrganisationWithAgent()];
  const theirRun = await runOf(theirs);
  await runOf(mine);
  const { id } = ok(await theirs.call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } })).data;
  const ask = (agent_id: string, key?: string) => mine.call(getLogsOperation, { params: { agent_id }, query: {} }, key);
  expect(expectError(await ask(id)).status).toBe(404);
  expect((await getLogPage(mine, { request_id: theirRun })).data).toEqual([]);
  expect((await getLogPage(mine)).pagination.total).toBe(2);
  ok(await mine.call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
  const reader = await mine.createKey({ permissions: ["read"], agent_id: "bot" });
  expect((await ask("bot", reader)).status).toBe(200);
  expect((await ask("other", reader)).status).toBe(404);
  expect((await ask("bot", await mine.createKey({ permissions: ["write"] }))).status).toBe(403);
});
