import type { ErasureReceipt } from "@perch/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withClient } from "../../../../scripts/testbed/scratch-database.ts";
import { verifies } from "../../../../spec/verifies.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { ok } from "../support/contract-client.ts";
import { act, createAgents, createUsers, kindsOfActs, startTalkingModel } from "../support/erasure/mixed-runs.ts";
import { findTraces } from "../support/erasure/user-traces.ts";
import { type Organisation, type Perch, startPerch } from "../support/harness.ts";
import { invokeAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";
import { startValkey, type ValkeyProcess } from "../support/valkey-process.ts";
import { createWebhook, fastWebhookConfig } from "../support/webhook-calls.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

/**
 * At full size: PERCH_ERASURE_USERS=200 PERCH_ERASURE_ACTS=5000 vitest run packages/server/test/guarantees/erasure.test.ts
 * It prints how long the erasure took.
 */
const userCount = Number(process.env.PERCH_ERASURE_USERS ?? 4);
const actCount = Number(process.env.PERCH_ERASURE_ACTS ?? userCount * kindsOfActs * 2);
const isFull = actCount > 1000;

let perch: Perch & { readonly stop: () => Promise<void> };
let valkey: ValkeyProcess;
let receiver: WebhookReceiver;
let script: Awaited<ReturnType<typeof startTalkingModel>>;

beforeAll(async () => {
  [valkey, script] = await Promise.all([startValkey(), startTalkingModel()]);
  // Repeats what it got, so that the responses in the log of attempts hold texts too.
  receiver = await startWebhookReceiver(({ body }, reply) => void reply.end(body));
  perch = await startPerch(
    { ...fastWebhookConfig, valkeyUrl: valkey.url, scriptModelUrl: script.url },
    { withWorker: true },
  );
}, 120_000);
afterAll(async () => {
  await perch?.stop();
  await Promise.all([valkey?.kill(), receiver?.close(), script?.close()]);
});

const idOf = ({ id }: Organisation): string => parsePublicId("organisation", id) ?? "";

async function createOrganisation(): Promise<Organisation> {
  const organisation = await perch.createOrganisation();
  await createAgents(organisation);
  await createWebhook(organisation, receiver.url);
  return organisation;
}

const query = <T extends object>(text: string, values: unknown[] = []): Promise<T[]> =>
  withClient(perch.database.adminUrl, async (admin) => (await admin.query<T>(text, values)).rows);

/** Until nothing of the organisation is under way: runs, deliveries, engine. */
async function waitUntilQuiet(organisation: Organisation): Promise<void> {
  const counted = `select (select count(*) from invocations where organisation_id = $1 and status = 'running')
    + (select count(*) from deliveries where organisation_id = $1 and status = 'pending') as n`;
  await expect
    .poll(async () => Number((await query<{ n: string }>(counted, [idOf(organisation)]))[0]?.n), { timeout: 60_000 })
    .toBe(0);
}

const erase = async ({ call }: Organisation, user_id: string) =>
  ok(await call("DELETE /v1/users/{user_id}/data", { params: { user_id } })).data;

async function waitUntilErased({ call }: Organisation, erasure_id: string): Promise<ErasureReceipt> {
  const read = async () => ok(await call("GET /v1/erasures/{erasure_id}", { params: { erasure_id } })).data;
  await expect.poll(async () => (await read()).status, { timeout: 60_000 }).toBe("completed");
  const { receipt, user_id } = await read();
  expect(user_id).toBeNull();
  if (!receipt) throw new Error("there is no receipt");
  return receipt;
}

const runsOf = "select id from invocations where organisation_id = $1 and user_id = $2";

/** What the receipt has to say, counted before the erasure and by another way. */
const expectedCounts = {
  memories: "select count(*) from memories where organisation_id = $1 and owner = '=' || $2",
  "messages of sessions": "select count(*) from session_messages where organisation_id = $1 and owner = '=' || $2",
  "records of runs": `select count(*) from (${runsOf}) r`,
  "contents of steps": `select count(*) from run_contents where id in (${runsOf})`,
  "log entries": `select count(*) from log_entries where organisation_id = $1 and (invocation_id in (${runsOf}) or metadata ->> 'user_id' = $2)`,
  events: `select count(*) from events where id in (${runsOf})`,
  "responses of webhook receivers": `select count(*) from delivery_attempts where response is not null and delivery_id in (select id from deliveries where event_id in (${runsOf}))`,
  "ended clears of memory": "select count(*) from memory_clears where organisation_id = $1 and owner = '=' || $2",
} as const;

async function countAll(organisation: Organisation, userId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [what, text] of Object.entries(expectedCounts))
    counts[what] = Number((await query<{ count: string }>(text, [idOf(organisation), userId]))[0]?.count);
  return counts;
}

/** Rows that do not name the user, of every table that an erasure changes. */
async function readRowsOfOthers(word: string): Promise<Record<string, string[]>> {
  const tables = ["memories", "session_messages", "invocations", "run_contents", "log_entries", "events"];
  const rows: Record<string, string[]> = {};
  for (const table of [...tables, "deliveries", "delivery_attempts", "memory_clears"]) {
    const ofUser = new Set(
      (await query<{ id: string }>("select id::text from invocations where message like '%' || $1 || '%'", [word])).map(
        ({ id }) => id,
      ),
    );
    const found = await query<Record<string, unknown>>(`select * from ${table}`);
    const deliveriesOfUser = new Set(
      (await query<{ id: string; event_id: string }>("select id, event_id from deliveries"))
        .filter(({ event_id }) => ofUser.has(event_id))
        .map(({ id }) => id),
    );
    rows[table] = found
      .filter(
        ({ id, invocation_id, event_id, delivery_id }) =>
          ![id, invocation_id, event_id].some((each) => ofUser.has(String(each))) &&
          !deliveriesOfUser.has(String(delivery_id)),
      )
      .map((row) => JSON.stringify(row))
      .filter((text) => !text.includes(word))
      .sort();
  }
  return rows;
}

describe("the erasure of a user", () => {
  test(
    "leaves no trace in any table, in the engine and in Valkey, touches nobody else, and its receipt is what was there",
    async () => {
      verifies("erasure.user", "erasure.receipt");
      const organisation = await createOrganisation();
      const users = createUsers(userCount);
      await act(perch, organisation, users, actCount);
      await waitUntilQuiet(organisation);
      const [user] = users;
      if (!user) throw new Error("there are no users");
      // Everything that is searched for afterwards was there.
      const before = await findTraces(perch, user.word);
      for (const place of ["sealed values", "engine", "valkey"]) expect(before).toContain(place);
      const expected = await countAll(organisation, user.id);
      expect(Object.entries(expected).filter(([, count]) => count === 0)).toEqual([]);
      const others = await readRowsOfOthers(user.word);
      const usersRuns = (await query<{ id: string }>(runsOf, [idOf(organisation), user.id])).map(({ id }) => id);

      const startedAt = performance.now();
      const started = await erase(organisation, user.id);
      expect(started).toMatchObject({ status: "running", user_id: user.id, completed_at: null, receipt: null });
      const receipt = await waitUntilErased(organisation, started.id);
      const seconds = (performance.now() - startedAt) / 1000;
      if (isFull) console.log(`erased 1 of ${userCount} users after ${actCount} acts in ${seconds.toFixed(1)} s`);

      expect(await findTraces(perch, user.word)).toEqual([]);
      const removed = Object.fromEntries(receipt.removed.map(({ what, removed: count }) => [what, count]));
      expect(removed).toMatchObject(expected);
      expect(removed["answers kept for an Idempotency-Key"]).toBeGreaterThan(0);
      expect(removed["results of runs of the last hour"]).toBe(usersRuns.length);
      const kept = await query<{ status: string; message: string }>(
        "select status, message from invocations where id = any ($1)",
        [usersRuns],
      );
      expect(kept).toHaveLength(usersRuns.length);
      expect(new Set(kept.map(({ message }) => message))).toEqual(new Set(["[erased]"]));
      const left = await readRowsOfOthers(user.word);
      for (const [table, rows] of Object.entries(others))
        expect(left[table], table).toEqual(expect.arrayContaining(rows));
      expect(await findTraces(perch, users[1]?.word ?? "")).toContain("sealed values");
      // What a second erasure finds is nothing.
      const again = await waitUntilErased(organisation, (await erase(organisation, user.id)).id);
      expect(again.removed.filter(({ removed: count }) => count > 0)).toEqual([]);
    },
    isFull ? 1_800_000 : 120_000,
  );

  test("cancels runs under way, erases them when they have ended, and leaves what is accepted later", async () => {
    verifies("erasure.runs-under-way");
    const organisation = await createOrganisation();
    const [user, other] = createUsers(2);
    if (!user || !other) throw new Error("there are no users");
    const context = { user_id: user.id, session_id: `chat-${user.word}` };
    const slow = { message: `slow ${user.word}`, context };
    const running = await Promise.all([
      invokeInBackground(perch, organisation.adminKey, slow, { agent: "tools" }),
      invokeInBackground(perch, organisation.adminKey, { ...slow, context: { user_id: user.id } }, { agent: "tools" }),
      // Waits for the first one's turn.
      invokeInBackground(perch, organisation.adminKey, slow, { agent: "tools" }),
    ]);
    const bystander = invokeAgent(
      perch,
      organisation.adminKey,
      { message: `slow ${other.word}`, context: { user_id: other.id } },
      { agent: "tools" },
    );
    await expect.poll(() => script.calls.filter(({ step }) => step === 2).length).toBeGreaterThan(2);
    const started = await erase(organisation, user.id);
    expect((await erase(organisation, user.id)).id).toBe(started.id);
    const later = createUsers(1)[0]?.word ?? "";
    const kept = await invokeAgent(perch, organisation.adminKey, {
      message: `later ${later}`,
      context: { user_id: user.id },
    });
    await waitUntilErased(organisation, started.id);
    const rows = await query<{ status: string; message: string; user_id: string | null }>(
      "select status, message, user_id from invocations where id = any ($1)",
      [running.map((id) => parsePublicId("request", id))],
    );
    expect(rows).toHaveLength(3);
    for (const row of rows) expect(row).toMatchObject({ message: "[erased]", user_id: null });
    expect(rows.map(({ status }) => status)).toContain("cancelled");
    expect((await bystander).data.response).toBe(`I heard: slow ${other.word}`);
    // The later run names the same user, and only that one does.
    expect(kept.data.response).toContain(later);
    const found = await query<{ message: string }>(runsOf.replace("select id", "select message"), [
      idOf(organisation),
      user.id,
    ]);
    expect(found).toEqual([{ message: `later ${later}` }]);
    const { data } = await organisation
      .call("GET /v1/agents/{agent_id}/invocations", { params: { agent_id: "bot" }, query: {} })
      .then(ok);
    expect(data).toHaveLength(1);
    await waitForRunRecord(organisation, kept.data.request_id);
  }, 120_000);

  test("leaves a user of the same id in another organisation alone", async () => {
    verifies("erasure.user");
    const [mine, theirs] = [await createOrganisation(), await createOrganisation()];
    const users = createUsers(1);
    await act(perch, mine, users, kindsOfActs);
    await act(perch, theirs, users, kindsOfActs);
    await Promise.all([mine, theirs].map(waitUntilQuiet));
    const userId = users[0]?.id ?? "";
    const before = await countAll(theirs, userId);
    await waitUntilErased(mine, (await erase(mine, userId)).id);
    expect(await countAll(theirs, userId)).toEqual(before);
    expect(Object.values(await countAll(mine, userId)).every((count) => count === 0)).toBe(true);
  }, 120_000);
});
