import { startValkey, type ValkeyProcess } from "@perch/testkit/installation/valkey-process.ts";
import { startWebhookReceiver, type WebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { openAsOwner } from "../../src/db/open-as-owner.ts";
import { createEngineRuns } from "../../src/engine/engine-runs.ts";
import { runEraseOrganisation } from "../../src/operator/commands/run-erase-organisation.ts";
import { newUuid, parsePublicId, toPublicId } from "../../src/platform/ids.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { eraseRuns } from "../../src/resources/erasures/user-run-queries.ts";
import { eraseOrganisation } from "../../src/resources/organisations/erase-organisation.ts";
import { listTenantTables } from "../../src/resources/organisations/erase-rows.ts";
import { ok } from "../support/contract-client.ts";
import { decide } from "../support/decisions.ts";
import { ask, createAsker, readRun } from "../support/erasure/asking-runs.ts";
import { eraseAndKill } from "../support/erasure/erase-and-kill.ts";
import { erase, waitUntilErased } from "../support/erasure/erase-calls.ts";
import { act, createAgents, createUsers, kindsOfActs, startTalkingModel } from "../support/erasure/mixed-runs.ts";
import {
  countRows,
  countUserRows,
  idOf,
  insertLostRun,
  insertOpenClears,
  queryRows,
  readRowsOfOthers,
  runsOf,
} from "../support/erasure/stored-rows.ts";
import { findTraces } from "../support/erasure/user-traces.ts";
import { type Organisation, type Perch, startPerch } from "../support/harness.ts";
import { invokeAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";
import { createSecret } from "../support/secret-calls.ts";
import { createWebhook, fastWebhookConfig } from "../support/webhook-calls.ts";

/**
 * At full size: TEST_ERASURE_USERS=200 TEST_ERASURE_ACTS=5000 vitest run packages/server/test/guarantees/erasure.test.ts
 * It prints how long the erasure took.
 */
const userCount = Number(process.env.TEST_ERASURE_USERS ?? 2);
const actCount = Number(process.env.TEST_ERASURE_ACTS ?? userCount * kindsOfActs * 2);
const isFull = actCount > 1000;

let perch: Perch & { readonly stop: () => Promise<void> };
let valkey: ValkeyProcess;
let receiver: WebhookReceiver;
let script: Awaited<ReturnType<typeof startTalkingModel>>;

beforeAll(async () => {
  [valkey, script] = await Promise.all([startValkey(), startTalkingModel()]);
  // Repeats the request, so that the responses in the log of attempts contain texts too.
  receiver = await startWebhookReceiver(({ body }, reply) => void reply.end(body));
  perch = await startPerch(
    { ...fastWebhookConfig, valkeyUrl: valkey.url, scriptModelUrl: script.url },
    { withWorker: true, erasurePauseMs: 200 },
  );
}, 120_000);
afterAll(async () => {
  await perch?.stop();
  await Promise.all([valkey?.kill(), receiver?.close(), script?.close()]);
});
afterEach(() => vi.restoreAllMocks());

async function createOrganisation(): Promise<Organisation> {
  const organisation = await perch.createOrganisation();
  await createAgents(organisation);
  await createWebhook(organisation, receiver.url);
  return organisation;
}

/** Until nothing of the organisation is under way: runs, deliveries, engine. */
async function waitUntilQuiet(organisation: Organisation): Promise<void> {
  const counted = `select (select count(*) from invocations where organisation_id = $1 and status = 'running')
    + (select count(*) from deliveries where organisation_id = $1 and status = 'pending') as n`;
  await expect
    .poll(async () => Number((await queryRows<{ n: string }>(perch, counted, [idOf(organisation)]))[0]?.n), {
      timeout: 60_000,
    })
    .toBe(0);
}

describe("the erasure of a user", () => {
  test(
    "leaves no trace in any table, in the engine and in Valkey, touches no other user, and its receipt matches the data",
    async () => {
      verifies("erasure.user", "erasure.receipt");
      const [organisation, another] = [await createOrganisation(), await createOrganisation()];
      const users = createUsers(userCount);
      const [user] = users;
      if (!user) throw new Error("there are no users");
      await act(perch, organisation, users, actCount);
      await act(perch, another, [user], kindsOfActs);
      await Promise.all([organisation, another].map(waitUntilQuiet));
      // Everything that is searched for afterwards was there.
      const before = await findTraces(perch, user.word);
      for (const place of ["sealed values", "engine", "valkey"]) expect(before).toContain(place);
      const expected = await countUserRows(perch, organisation, user.id);
      expect(Object.entries(expected).filter(([, count]) => count === 0)).toEqual([]);
      const inAnother = await countUserRows(perch, another, user.id);
      const others = await readRowsOfOthers(perch, user.word);
      const usersRuns = (await queryRows<{ id: string }>(perch, runsOf, [idOf(organisation), user.id])).map(
        ({ id }) => id,
      );

      const startedAt = performance.now();
      const started = await erase(organisation, user.id);
      expect(started).toMatchObject({ status: "running", user_id: user.id, completed_at: null, receipt: null });
      const receipt = await waitUntilErased(organisation, started.id);
      const seconds = (performance.now() - startedAt) / 1000;
      if (isFull) console.log(`erased 1 of ${userCount} users after ${actCount} acts in ${seconds.toFixed(1)} s`);

      expect(Object.values(await countUserRows(perch, organisation, user.id)).every((count) => count === 0)).toBe(true);
      expect(await countUserRows(perch, another, user.id)).toEqual(inAnother);
      await waitUntilErased(another, (await erase(another, user.id)).id);
      expect(await findTraces(perch, user.word)).toEqual([]);
      const removed = Object.fromEntries(receipt.removed.map(({ data, count }) => [data, count]));
      expect(removed).toMatchObject(expected);
      expect(removed["answers kept for an Idempotency-Key"]).toBeGreaterThan(0);
      expect(removed["results of runs of the last hour"]).toBe(usersRuns.length);
      const kept = await queryRows<{ status: string; message: string }>(
        perch,
        "select status, message from invocations where id = any ($1)",
        [usersRuns],
      );
      expect(kept).toHaveLength(usersRuns.length);
      expect(new Set(kept.map(({ message }) => message))).toEqual(new Set(["[erased]"]));
      const left = await readRowsOfOthers(perch, user.word);
      for (const [table, rows] of Object.entries(others))
        expect(left[table], table).toEqual(expect.arrayContaining(rows));
      expect(await findTraces(perch, users[1]?.word ?? "")).toContain("sealed values");
      // A second erasure finds nothing.
      const again = await waitUntilErased(organisation, (await erase(organisation, user.id)).id);
      expect(again.removed.filter(({ count }) => count > 0)).toEqual([]);
    },
    isFull ? 1_800_000 : 120_000,
  );

  test("cancels runs under way and ends open clears, erases them when they have ended, and leaves runs that are accepted later", async () => {
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
    await insertOpenClears(perch, organisation, user);
    // Its record has ended, and the engine goes on with it for a moment: here until it has its reply.
    await queryRows(perch, "update invocations set status = 'completed', finished_at = now() where id = $1", [
      parsePublicId("request", running[1]),
    ]);
    const started = await erase(organisation, user.id);
    expect((await erase(organisation, user.id)).id).toBe(started.id);
    // Its stored answer shows a run that was accepted before, so it is erased too.
    const cancelled = await fetch(`${perch.url}/v1/agents/tools/invocations/${running[0]}/cancel`, {
      method: "POST",
      headers: { authorization: `Bearer ${organisation.adminKey}`, "idempotency-key": "cancelled-later" },
    });
    expect(await cancelled.text()).toContain(`slow ${user.word}`);
    const later = createUsers(1)[0]?.word ?? "";
    const kept = await invokeAgent(perch, organisation.adminKey, {
      message: `later ${later}`,
      context: { user_id: user.id },
    });
    expect((await bystander).data.response).toBe(`I heard: slow ${other.word}`);
    await waitUntilErased(organisation, started.id);
    for (const text of [`slow ${user.word}`, `chat-${user.word}`]) expect(await findTraces(perch, text)).toEqual([]);
    const openClears = "select from memory_clears where organisation_id = $1 and owner = '=' || $2";
    expect(await queryRows(perch, openClears, [idOf(organisation), user.id])).toEqual([]);
    const rows = await queryRows<{ status: string; message: string; user_id: string | null }>(
      perch,
      "select status, message, user_id from invocations where id = any ($1)",
      [running.map((id) => parsePublicId("request", id))],
    );
    expect(rows).toHaveLength(3);
    for (const row of rows) expect(row).toMatchObject({ message: "[erased]", user_id: null });
    expect(rows.map(({ status }) => status)).toContain("cancelled");
    // The later run names the same user, and only that one does.
    expect(kept.data.response).toContain(later);
    const found = await queryRows<{ message: string }>(perch, runsOf.replace("select id", "select message"), [
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

  test("waits for a run that the engine has lost, and does not touch a user of the same id in another organisation", async () => {
    verifies("erasure.user", "erasure.runs-under-way");
    const [mine, theirs] = [await createOrganisation(), await createOrganisation()];
    const users = createUsers(1);
    await act(perch, mine, users, kindsOfActs);
    await act(perch, theirs, users, kindsOfActs);
    await Promise.all([mine, theirs].map(waitUntilQuiet));
    const userId = users[0]?.id ?? "";
    const before = await countUserRows(perch, theirs, userId);
    await insertLostRun(perch, mine, userId);
    const { id } = await erase(mine, userId);
    const stage = "select progress ->> 'stage' as stage from erasures where id = $1";
    const readStage = async () =>
      (await queryRows<{ stage: string }>(perch, stage, [parsePublicId("erasure", id)]))[0]?.stage;
    await expect.poll(readStage, { timeout: 30_000 }).toBe("settle");
    // It was cancelled, so that reconciling ends it as this does, and does not start it again.
    const end = `update invocations set status = 'cancelled', finished_at = now()
      where organisation_id = $1 and user_id = $2 and status = 'running' and cancel_requested_at is not null returning id`;
    expect(await queryRows(perch, end, [idOf(mine), userId])).toHaveLength(1);
    // Asked for again, it looks at once.
    expect((await erase(mine, userId)).id).toBe(id);
    await waitUntilErased(mine, id);
    expect(await countUserRows(perch, theirs, userId)).toEqual(before);
    expect(Object.values(await countUserRows(perch, mine, userId)).every((count) => count === 0)).toBe(true);
  }, 120_000);
});

describe("the erasure of a user for whom runs wait for a person", () => {
  test("cancels them, leaves nothing of their state, their questions and their answers, and touches no other user's", async () => {
    const organisation = await createOrganisation();
    await createAsker(organisation);
    const [user, other] = createUsers(2);
    if (!user || !other) throw new Error("there are no users");
    const answered = await ask(perch, organisation, user);
    const answer = { verdict: "answer", answer: `yes, ${user.word}` } as const;
    await decide(perch, organisation, answered.approval, answer);
    await expect.poll(async () => (await readRun(organisation, answered.run)).status).toBe("completed");
    const [waiting, theirs] = [await ask(perch, organisation, user), await ask(perch, organisation, other)];
    await waitUntilQuiet(organisation);
    const before = await findTraces(perch, user.word);
    for (const place of ["approvals", "waiting_runs", "events", "sealed values"])
      expect(
        before.some((found) => found.startsWith(place)),
        place,
      ).toBe(true);

    const receipt = await waitUntilErased(organisation, (await erase(organisation, user.id)).id);

    const removed = Object.fromEntries(receipt.removed.map(({ data, count }) => [data, count]));
    expect(removed).toMatchObject({ "states of runs that waited for a person": 1, approvals: 2, "records of runs": 2 });
    expect(await findTraces(perch, user.word)).toEqual([]);
    expect(await readRun(organisation, waiting.run)).toMatchObject({ status: "cancelled", message: "[erased]" });
    expect((await readRun(organisation, theirs.run)).status).toBe("waiting");
    expect(await findTraces(perch, other.word)).toEqual(expect.arrayContaining(["waiting_runs", "sealed values"]));
    const key = await organisation.createKey({ permissions: ["read", "approve"] });
    const approval_id = toPublicId("approval", answered.approval);
    const shown = ok(await organisation.call("GET /v1/approvals/{approval_id}", { params: { approval_id } }, key)).data;
    expect(shown).toMatchObject({ status: "answered", user_id: null, session_id: null, contents: null });
  }, 120_000);

  test("also ends those that are decided but blocked by a paused agent", async () => {
    const organisation = await createOrganisation();
    await createAsker(organisation);
    const [user] = createUsers(1);
    if (!user) throw new Error("there is no user");
    const { run, approval } = await ask(perch, organisation, user);
    ok(await organisation.call("POST /v1/agents/{agent_id}/pause", { params: { agent_id: "asker" } }));
    await decide(perch, organisation, approval, { verdict: "answer", answer: `yes, ${user.word}` });
    const rows = "select status from waiting_runs where id = $1";
    expect(await queryRows(perch, rows, [parsePublicId("request", run)])).toEqual([{ status: "ready" }]);
    const receipt = await waitUntilErased(organisation, (await erase(organisation, user.id)).id);
    const removed = Object.fromEntries(receipt.removed.map(({ data, count }) => [data, count]));
    expect(removed).toMatchObject({ "states of runs that waited for a person": 1 });
    expect(await readRun(organisation, run)).toMatchObject({ status: "cancelled", message: "[erased]" });
    expect(await findTraces(perch, user.word)).toEqual([]);
  }, 120_000);

  test("erases the state also if nothing continues the run, which ends without it", async () => {
    const organisation = await createOrganisation();
    await createAsker(organisation);
    const [user] = createUsers(1);
    if (!user) throw new Error("there is no user");
    const { run } = await ask(perch, organisation, user);
    await waitUntilQuiet(organisation);
    const id = parsePublicId("request", run) ?? "";
    const organisationId = idOf(organisation);
    await perch.server.core.db.inOrganisation(organisationId, (trx) =>
      eraseRuns(trx, { organisationId, userId: user.id }, [id]),
    );
    const rows = "select status, cancel_requested_at is not null as cancelled from invocations where id = $1";
    expect(await queryRows(perch, rows, [id])).toEqual([{ status: "running", cancelled: true }]);
    expect(await queryRows(perch, "select id from waiting_runs where id = $1", [id])).toEqual([]);
    expect(await queryRows(perch, "select status, sealed_call from approvals where run_id = $1", [id])).toEqual([
      { status: "cancelled", sealed_call: Buffer.alloc(0) },
    ]);
  }, 60_000);
});

async function createBusyOrganisation(): Promise<Organisation> {
  const organisation = await createOrganisation();
  await createSecret(organisation);
  await organisation.createKey({ role: "viewer" });
  ok(
    await organisation.call("POST /v1/agents/{agent_id}/deployments", {
      params: { agent_id: "bot" },
      body: { environment: "production", version: "v1" },
    }),
  );
  ok(await organisation.call("DELETE /v1/users/{user_id}/data", { params: { user_id: "unknown" } }));
  const users = createUsers(1);
  await act(perch, organisation, users, kindsOfActs);
  await createAsker(organisation);
  for (const user of users) await ask(perch, organisation, user);
  return organisation;
}

/** The output of the command, as JSON. */
async function run(organisation: Pick<Organisation, "id">, ...args: string[]): Promise<Record<string, unknown>> {
  const printed = vi.spyOn(console, "log").mockImplementation(() => {});
  const config = { ...perch.server.core.config, migrationDatabaseUrl: perch.database.ownerUrl };
  await runEraseOrganisation(config, createLogger("silent"), ["--organisation", organisation.id, "--json", ...args]);
  return JSON.parse(String(printed.mock.lastCall?.[0]));
}

/** As the command does it, with no time for runs to end. */
async function eraseAtOnce(organisation: Organisation): Promise<void> {
  const owner = openAsOwner(perch.database.ownerUrl);
  const { config, shared } = perch.server.core;
  const { slots, streams } = shared;
  const engineRuns = createEngineRuns(config.adminUrls);
  const others = { deleteSharedKeys: () => Promise.resolve(0), report: () => {}, maxWaitMs: 0 };
  try {
    await eraseOrganisation({ owner, engineRuns, slots, streams, ...others }, idOf(organisation));
  } finally {
    await owner.destroy();
  }
}

describe("the erasure of an organisation", () => {
  test("the list of tables is that of the catalogue, those that refer to others first", async () => {
    const owner = openAsOwner(perch.database.ownerUrl);
    const names = (await listTenantTables(owner)).map(({ name }) => name);
    await owner.destroy();
    const organisation = await perch.createOrganisation();
    expect(names.toSorted()).toEqual(Object.keys(await countRows(perch, organisation)));
    expect(names.indexOf("key_factors")).toBeLessThan(names.indexOf("api_keys"));
    expect(names.indexOf("deployments")).toBeLessThan(names.indexOf("agent_versions"));
    expect(names.indexOf("agent_versions")).toBeLessThan(names.indexOf("agents"));
  });

  test("a text that cannot be an organisation's id is refused, also by a dry run", async () => {
    const id = toPublicId("organisation", newUuid());
    const message = `There is no organisation ${id}. \`perch-server list-organisations\` shows the ids.`;
    await expect(run({ id })).rejects.toThrow(message);
  });

  test("an organisation is deleted with all its data, also if the command is killed, and others lose nothing", async () => {
    const [erased, kept] = [await createBusyOrganisation(), await createBusyOrganisation()];
    vi.spyOn(console, "error").mockImplementation(() => {});
    // Without --yes nothing changes.
    const shown = await run(erased);
    expect(shown).toMatchObject({ name: "Test", erased: false, rows: { agents: 5, waiting_runs: 1, approvals: 1 } });
    ok(await erased.call("GET /v1/agents", {}));
    await invokeInBackground(perch, erased.adminKey, { message: "slow one" }, { agent: "tools" });
    await expect.poll(async () => (await countRows(perch, kept)).engine_tasks).toBe(0);
    await waitUntilQuiet(kept);
    const before = await countRows(perch, kept);

    // The engine still has a run: its records stay.
    await expect(eraseAtOnce(erased)).rejects.toThrow("1 run has not ended. Start workers and run this again.");
    const { agents, memories, run_contents } = shown.rows as Record<string, number>;
    expect(await countRows(perch, erased)).toMatchObject({ agents, memories, run_contents });
    await eraseAndKill(perch, valkey.url, erased);
    expect((await erased.call("GET /v1/agents", {})).status).toBe(401);
    const receipt = await run(erased, "--yes");
    expect(receipt).toMatchObject({ organisation: erased.id, erased: true, rows: { organisations: 1 } });
    expect(Object.values(await countRows(perch, erased)).every((count) => count === 0)).toBe(true);
    expect(await findTraces(perch, idOf(erased))).toEqual([]);
    expect(await findTraces(perch, idOf(kept))).toContain("api_keys");

    const after = await countRows(perch, kept);
    // Changes are deleted once every node has seen them.
    const { audit_log: _, epoch_changes: __, ...same } = before;
    expect(after).toMatchObject(same);
    ok(await kept.call("GET /v1/agents", {}));
    await expect(run(erased, "--yes")).rejects.toThrow("There is no organisation");
  }, 120_000);
});
