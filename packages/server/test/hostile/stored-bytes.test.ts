import { type StoredQuota, tierLimits } from "@perch/contract";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { parsePublicId } from "../../src/platform/ids.ts";
import { expectError, ok, send } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { invokeAgent } from "../support/invoke-calls.ts";
import { addMemory, createAgentWithMemory } from "../support/memory-calls.ts";

const perch = usePerch({}, { withWorker: true });

const messages: Record<StoredQuota, string> = {
  recordBytes:
    "This organisation has stored 1,000 MB of runs, sessions, logs, deliveries and answers for retries in the last 30 days, as much as its tier (free) allows. Wait until the oldest have expired, or ask for a larger tier.",
  memoryBytes:
    "This organisation stores 200 MB of memories, as much as its tier (free) allows. Delete some, which counts within two minutes, set `memory.remember` of its agents to false, or ask for a larger tier.",
};

const query = <T>(text: string, values: readonly unknown[] = []): Promise<T[]> =>
  withClient(
    perch().database.adminUrl,
    async (client) => (await client.query(text, [...values])).rows as unknown as T[],
  );
const uuidOf = ({ id }: Organisation) => parsePublicId("organisation", id);

async function countBytes(table: "record_bytes" | "memory_bytes", organisation: Organisation): Promise<number> {
  const [row] = await query<{ bytes: string }>(
    `select coalesce(sum(bytes), 0) as bytes from ${table} where organisation_id = $1`,
    [uuidOf(organisation)],
  );
  return Number(row?.bytes);
}

const fillRecords = (organisation: Organisation, daysAgo: number, bytes: number) =>
  query(
    `insert into record_bytes as r values ($1, (now() at time zone 'utc')::date - $2::int, 3, $3)
       on conflict (organisation_id, day, shard) do update set bytes = r.bytes + excluded.bytes`,
    [uuidOf(organisation), daysAgo, bytes],
  );
const fillMemories = (organisation: Organisation) =>
  query(
    `insert into memory_bytes as m values ($1, 3, $2)
       on conflict (organisation_id, shard) do update set bytes = m.bytes + excluded.bytes`,
    [uuidOf(organisation), tierLimits.free.memoryBytes],
  );

const invoke = ({ adminKey }: Organisation, message: string, session_id?: string, agent = "bot") =>
  invokeAgent(perch(), adminKey, { message, context: { session_id } }, { agent });
const bot = { agent_id: "bot" };
const newLog = (message: string) => ({ params: bot, body: { entries: [{ message, metadata: {} }] } });
const newMemory = (content: string) => ({ params: bot, body: { content } });
const addText = ({ call }: Organisation, content: string) =>
  call("POST /v1/agents/{agent_id}/memory", newMemory(content));

async function createOrganisationWithAgent(memory = {}): Promise<Organisation> {
  const organisation = await perch().createOrganisation("free");
  await createAgentWithMemory(organisation, memory);
  return organisation;
}

// Creates the partition for the months before this one.
beforeAll(() =>
  query(
    `do $$ begin execute format('create table record_bytes_before partition of record_bytes for values from (minvalue) to (%L)',
       (select min(right(c.relname, 8))::date from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'record_bytes'::regclass)); end $$`,
  ),
);

describe("the stored bytes of an organisation", () => {
  test("counts the texts of runs, twice with a session, and those of logs", async () => {
    const organisation = await createOrganisationWithAgent();
    const message = "x".repeat(100_000);
    await invoke(organisation, "so that the draft is saved");
    const before = await countBytes("record_bytes", organisation);
    const { data } = await invoke(organisation, message);
    const texts = message.length + data.response.length;
    const first = (await countBytes("record_bytes", organisation)) - before;
    // The event has the first 65,536 characters of the response.
    expect(first).toBeGreaterThan(texts + 65_536);
    expect(first).toBeLessThan(texts + 65_536 + 5000);
    await invoke(organisation, message, "session");
    const second = (await countBytes("record_bytes", organisation)) - before - first;
    expect(second - first).toBeGreaterThan(texts - 5000);
    expect(second - first).toBeLessThan(texts + 5000);
    ok(await organisation.call("POST /v1/agents/{agent_id}/logs", newLog("é".repeat(1000))));
    expect(await countBytes("record_bytes", organisation)).toBe(before + first + second + 2002);
  });

  test("counts a run once, however often it is recorded, and none of another organisation", async () => {
    const [organisation, other] = [await createOrganisationWithAgent(), await createOrganisationWithAgent()];
    const headers = { "idempotency-key": "once" };
    for (let i = 0; i < 2; i++) await invokeAgent(perch(), organisation.adminKey, { message: "hello" }, { headers });
    const once = await countBytes("record_bytes", organisation);
    expect(once).toBeGreaterThan(0);
    expect(once).toBeLessThan(5000);
    expect(await countBytes("record_bytes", other)).toBe(0);
  });

  test("counts memories while they exist: added, added again with other metadata, deleted", async () => {
    const organisation = await createOrganisationWithAgent();
    const content = "é".repeat(500);
    await addMemory(organisation, { content });
    expect(await countBytes("memory_bytes", organisation)).toBe(1000 + "{}".length);
    const { id } = await addMemory(organisation, { content, metadata: { a: 1 } });
    expect(await countBytes("memory_bytes", organisation)).toBe(1000 + '{"a": 1}'.length);
    await addMemory(organisation, "another");
    const params = { agent_id: "bot", memory_id: id };
    ok(await organisation.call("DELETE /v1/agents/{agent_id}/memory/{memory_id}", { params }));
    expect(await countBytes("memory_bytes", organisation)).toBe("another".length + "{}".length);
    ok(await organisation.call("DELETE /v1/agents/{agent_id}/memory", { params: { agent_id: "bot" }, query: {} }));
    expect(await countBytes("memory_bytes", organisation)).toBe(0);
  });
});

describe("an organisation that has used up its quota of records", () => {
  test("gets no new runs and log entries, and an error about that; retries, memories and others are not affected", async () => {
    const [full, other] = [await createOrganisationWithAgent(), await createOrganisationWithAgent()];
    const headers = { "idempotency-key": "before" };
    const before = (node: { url: string }) => invokeAgent(node, full.adminKey, { message: "before" }, { headers });
    expect((await before(perch())).status).toBe(200);
    await fillRecords(full, 30, tierLimits.free.recordBytes - 1_000_000);
    await fillRecords(full, 0, 1_000_000);
    // This node has not asked yet how much there is; its first request makes it ask.
    const node = await perch().addApiNode();
    const run = (organisation: Organisation) => invokeAgent(node, organisation.adminKey, { message: "hello" });
    await expect.poll(async () => (await run(full)).status).toBe(409);
    expect((await run(full)).error).toMatchObject({ code: "conflict", message: messages.recordBytes });
    const refused = await send(node.url, full.adminKey, "POST /v1/agents/{agent_id}/logs", newLog("hello"));
    expect(expectError(refused, "conflict").message).toBe(messages.recordBytes);
    expect((await before(node)).status).toBe(200);
    ok(await send(node.url, full.adminKey, "POST /v1/agents/{agent_id}/memory", newMemory("a memory")));
    // Nor is a changed draft saved for a run that is refused.
    const drafts = () => query("select from draft_definitions where organisation_id = $1", [uuidOf(full)]);
    const saved = await drafts();
    const change = { params: bot, body: { instructions: "x".repeat(1000) } };
    ok(await full.call("PATCH /v1/agents/{agent_id}", change));
    expect((await run(full)).status).toBe(409);
    expect(await drafts()).toEqual(saved);
    expect((await run(other)).status).toBe(200);
    const { text } = await node.server.core.telemetry.read();
    expect(text).toMatch(/perch_quota_refusals_total\{quota="record_bytes"\} [1-9]/);
    const { usage } = ok(await send(node.url, full.adminKey, "GET /v1/me", {})).data;
    expect(usage?.record_bytes.used).toBeGreaterThanOrEqual(tierLimits.free.recordBytes);
  });

  test("bytes that are older than 30 days do not count", async () => {
    const organisation = await createOrganisationWithAgent();
    await fillRecords(organisation, 31, tierLimits.free.recordBytes);
    for (let i = 0; i < 3; i++) expect((await invoke(organisation, "hello")).status).toBe(200);
    expect(ok(await organisation.call("GET /v1/me", {})).data.usage?.record_bytes.used).toBeLessThan(10_000);
  });
});

describe("an organisation that has used up its quota of memories", () => {
  test("gets no new memories and no runs that would be remembered, but other runs", async () => {
    const [full, other] = [await createOrganisationWithAgent({ remember: true }), await createOrganisationWithAgent()];
    ok(await full.call("POST /v1/agents", { body: { name: "forgetful", model: "perch/echo" } }));
    await fillMemories(full);
    await expect.poll(async () => (await addText(full, "more")).status).toBe(409);
    expect(expectError(await addText(full, "more"), "conflict").message).toBe(messages.memoryBytes);
    expect((await invoke(full, "hello")).error.message).toBe(messages.memoryBytes);
    expect((await invoke(full, "hello", undefined, "forgetful")).status).toBe(200);
    ok(await addText(other, "more"));
  });
});
