import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { getLogPage } from "../../../test/support/log-calls.ts";

const perch = usePerch();
const operation = "POST /v1/agents/{agent_id}/logs";
const run = "req_01h455vb4pex5vsknk084sn02q";
const otherRun = "req_01h455vb4pex5vsknk084sn02r";

async function createOrganisationWithAgent() {
  const organisation = await perch().createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  return organisation;
}
const add = ({ call }: Organisation, entries: readonly object[], as?: string) =>
  call(operation, { params: { agent_id: "bot" }, body: { entries } as never }, as);
const fieldsOf = (answer: Awaited<ReturnType<typeof add>>) =>
  expectError(answer, "invalid_request").details?.map(({ field }) => field);
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const hourMs = 3_600_000;

describe(operation, () => {
  test("entries are stored as they were given, next to those of Perch", async () => {
    const organisation = await createOrganisationWithAgent();
    const timestamp = ago(hourMs);
    const metadata = { order: { id: "A1", tags: ["x", null, 1.5] }, "\\u0000 as text": "C:\\users\\u0000" };
    const added = await add(organisation, [
      { timestamp, level: "warn", message: "Stock is low 🦜", request_id: run, metadata },
      { message: "plain" },
    ]);
    expect(added.status).toBe(201);
    expect(ok(added).data).toEqual({ added: 2 });
    const { data } = await getLogPage(organisation);
    expect(data).toEqual([
      {
        id: expect.any(String),
        timestamp: expect.any(String),
        level: "info",
        message: "plain",
        metadata: { request_id: null },
      },
      {
        id: expect.any(String),
        timestamp,
        level: "warn",
        message: "Stock is low 🦜",
        metadata: { ...metadata, request_id: run },
      },
    ]);
    expect(Date.now() - Date.parse(data[0]?.timestamp ?? "")).toBeLessThan(10_000);
    expect((await getLogPage(organisation, { request_id: run })).pagination.total).toBe(1);
  });

  test("a run that the metadata names is kept, and the entry is found under it", async () => {
    verifies("log-entry.request-id-kept");
    const organisation = await createOrganisationWithAgent();
    const entries = [
      { message: "in metadata", metadata: { request_id: run, order: "A1" } },
      { message: "in both", request_id: run, metadata: { request_id: run } },
      { message: "of no run", metadata: { request_id: null } },
    ];
    ok(await add(organisation, entries));
    const { data } = await getLogPage(organisation);
    expect(data.toReversed().map(({ message, metadata }) => ({ message, metadata }))).toEqual([
      entries[0],
      { message: "in both", metadata: { request_id: run } },
      entries[2],
    ]);
    const found = await getLogPage(organisation, { request_id: run });
    expect(found.data.map(({ message }) => message).toReversed()).toEqual(["in metadata", "in both"]);
  });

  test.each([
    ["a word", { metadata: { request_id: "mine" } }, "Expected the id of a run"],
    ["a number", { metadata: { request_id: 5 } }, "Expected the id of a run"],
    ["an empty text", { metadata: { request_id: "" } }, "Expected the id of a run"],
    ["another run than the entry's", { request_id: run, metadata: { request_id: otherRun } }, "Names another run"],
  ])("400 names metadata.request_id if it is %s, and no entry of the request is added", async (_, entry, reason) => {
    verifies("log-entry.request-id-kept");
    const organisation = await createOrganisationWithAgent();
    const answer = await add(organisation, [{ message: "good" }, { message: "bad", ...entry }]);
    expect(expectError(answer, "invalid_request").details).toEqual([
      { field: "entries.1.metadata.request_id", error: expect.stringContaining(reason) },
    ]);
    expect((await getLogPage(organisation)).pagination.total).toBe(0);
  });

  test("are found by the environment and version in their metadata", async () => {
    const organisation = await createOrganisationWithAgent();
    const metadata = { environment: "staging", version: "v7" };
    ok(
      await add(organisation, [
        { message: "named", metadata },
        { message: "odd", metadata: { environment: 5 } },
      ]),
    );
    for (const query of [{ environment: "staging" }, { version: "v7" }]) {
      const { data } = await getLogPage(organisation, query);
      expect(data).toMatchObject([{ message: "named", metadata: { ...metadata, request_id: null } }]);
    }
  });

  test("entries of one request and one millisecond keep their order", async () => {
    const organisation = await createOrganisationWithAgent();
    const timestamp = ago(1000);
    const messages = Array.from({ length: 100 }, (_, i) => `line ${i}`);
    ok(
      await add(
        organisation,
        messages.map((message) => ({ message, timestamp })),
      ),
    );
    const { data } = await getLogPage(organisation);
    expect(data.map(({ message }) => message).toReversed()).toEqual(messages);
  });

  test.each([
    ["none", []],
    ["101", Array.from({ length: 101 }, () => ({ message: "x" }))],
  ])("400 for %s of them", async (_, entries) => {
    expect(fieldsOf(await add(await createOrganisationWithAgent(), entries))).toEqual(["entries"]);
  });

  test("entries of exactly the maximum size are accepted", async () => {
    const organisation = await createOrganisationWithAgent();
    const blob = "x".repeat(16 * 1024 - JSON.stringify({ blob: "" }).length);
    const largest = { message: "m".repeat(8192), metadata: { blob } };
    ok(
      await add(
        organisation,
        Array.from({ length: 20 }, () => largest),
      ),
    );
    expect((await getLogPage(organisation, { limit: 1 })).data[0]).toMatchObject(largest);
  });

  test.each([
    ["no message", {}, "message"],
    ["an empty message", { message: "" }, "message"],
    ["a message of 8,193 characters", { message: "x".repeat(8193) }, "message"],
    ["metadata of more than 16 KiB", { message: "x", metadata: { a: "x".repeat(16 * 1024) } }, "metadata"],
    ["metadata of more than 16 KiB in bytes", { message: "x", metadata: { a: "ä".repeat(9000) } }, "metadata"],
    ["metadata that is a list", { message: "x", metadata: [] }, "metadata"],
    ["another level", { message: "x", level: "fatal" }, "level"],
    ["an id that is no run's", { message: "x", request_id: "agent_01h455vb4pex5vsknk084sn02q" }, "request_id"],
    ["another field", { message: "x", colour: "red" }, "colour"],
    ["NUL in the message", { message: "a\0b" }, "message"],
    ["half a character in the message", { message: "a\ud800" }, "message"],
    ["NUL in metadata", { message: "x", metadata: { a: ["\0"] } }, "metadata.a.0"],
    ["NUL in a name of metadata", { message: "x", metadata: { "a\0": 1 } }, "metadata.a\0"],
    ["a time without a zone", { message: "x", timestamp: "2026-01-01T00:00:00" }, "timestamp"],
    ["a time a day and a minute ago", { message: "x", timestamp: ago(24 * hourMs + 60_000) }, "timestamp"],
    ["a time in two minutes", { message: "x", timestamp: ago(-120_000) }, "timestamp"],
  ])("400 for %s, and no entry of the request is added", async (_, entry, field) => {
    const organisation = await createOrganisationWithAgent();
    expect(fieldsOf(await add(organisation, [{ message: "good" }, entry]))).toEqual([`entries.1.${field}`]);
    expect((await getLogPage(organisation)).pagination.total).toBe(0);
  });

  test("timestamps of 23 hours ago and of half a minute ahead are accepted", async () => {
    const organisation = await createOrganisationWithAgent();
    const timestamps = [ago(23 * hourMs), ago(-30_000)];
    ok(
      await add(
        organisation,
        timestamps.map((timestamp) => ({ message: "x", timestamp })),
      ),
    );
    const end_time = ago(-60_000);
    const { data } = await getLogPage(organisation, { end_time });
    expect(data.map(({ timestamp }) => timestamp)).toEqual(timestamps.toReversed());
  });

  test("a request repeated with its Idempotency-Key adds once", async () => {
    const organisation = await createOrganisationWithAgent();
    const send = async () => {
      const response = await fetch(`${perch().url}/v1/agents/bot/logs`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${organisation.adminKey}`,
          "content-type": "application/json",
          "idempotency-key": "k",
        },
        body: JSON.stringify({ entries: [{ message: "once" }] }),
      });
      return [response.status, await response.text(), response.headers.get("idempotent-replayed")];
    };
    const answers = await Promise.all([send(), send(), send()]);
    expect(answers.map(([status]) => status)).toEqual([201, 201, 201]);
    expect(answers.filter(([, , replayed]) => replayed === null)).toHaveLength(1);
    expect((await getLogPage(organisation)).pagination.total).toBe(1);
  });

  test("404 hides agents of other organisations; a key without write cannot add", async () => {
    const [mine, theirs] = [await createOrganisationWithAgent(), await createOrganisationWithAgent()];
    const { id } = ok(await theirs.call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } })).data;
    const body = { entries: [{ message: "x" }] };
    expect((await mine.call(operation, { params: { agent_id: id }, body })).status).toBe(404);
    expect((await add(mine, [{ message: "x" }], await mine.createKey({ permissions: ["read"] }))).status).toBe(403);
    ok(await mine.call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    const bound = await mine.createKey({ permissions: ["write"], agent_id: "bot" });
    expect((await mine.call(operation, { params: { agent_id: "other" }, body }, bound)).status).toBe(404);
    expect((await add(mine, [{ message: "x" }], bound)).status).toBe(201);
    expect((await getLogPage(theirs)).pagination.total).toBe(0);
  });
});
