import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { withClient } from "../../../../scripts/testbed/scratch-database.ts";
import { runEraseOrganisation } from "../../src/compose/commands/run-erase-organisation.ts";
import { openAsOwner } from "../../src/db/open-as-owner.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { listTenantTables } from "../../src/resources/organisations/erase-rows.ts";
import { ok } from "../support/contract-client.ts";
import { act, createAgents, createUsers, kindsOfActs, startTalkingModel } from "../support/erasure/mixed-runs.ts";
import { findTraces } from "../support/erasure/user-traces.ts";
import { type Organisation, type Perch, startPerch } from "../support/harness.ts";
import { invokeInBackground } from "../support/invoke-calls.ts";
import { createSecret } from "../support/secret-calls.ts";
import { startValkey, type ValkeyProcess } from "../support/valkey-process.ts";
import { createWebhook, fastWebhookConfig } from "../support/webhook-calls.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

let perch: Perch & { readonly stop: () => Promise<void> };
let valkey: ValkeyProcess;
let receiver: WebhookReceiver;
let script: Awaited<ReturnType<typeof startTalkingModel>>;

beforeAll(async () => {
  [valkey, script, receiver] = await Promise.all([startValkey(), startTalkingModel(), startWebhookReceiver()]);
  const config = { ...fastWebhookConfig, valkeyUrl: valkey.url, scriptModelUrl: script.url };
  perch = await startPerch(config, { withWorker: true });
}, 120_000);
afterAll(async () => {
  await perch?.stop();
  await Promise.all([valkey?.kill(), receiver?.close(), script?.close()]);
});
afterEach(() => vi.restoreAllMocks());

const users = createUsers(2);

async function createBusyOrganisation(): Promise<Organisation> {
  const organisation = await perch.createOrganisation();
  await createAgents(organisation);
  await createWebhook(organisation, receiver.url);
  await createSecret(organisation);
  await organisation.createKey({ role: "viewer" });
  ok(
    await organisation.call("POST /v1/agents/{agent_id}/deployments", {
      params: { agent_id: "bot" },
      body: { environment: "production", version: "v1" },
    }),
  );
  ok(await organisation.call("DELETE /v1/users/{user_id}/data", { params: { user_id: "nobody" } }));
  await act(perch, organisation, users, kindsOfActs * users.length);
  return organisation;
}

const idOf = ({ id }: Organisation): string => parsePublicId("organisation", id) ?? "";

/** What the command prints, as JSON. */
async function run(organisation: Organisation, ...args: string[]): Promise<Record<string, unknown>> {
  const printed = vi.spyOn(console, "log").mockImplementation(() => {});
  const config = { ...perch.server.core.config, migrationDatabaseUrl: perch.database.ownerUrl };
  await runEraseOrganisation(config, createLogger("silent"), ["--id", organisation.id, "--json", ...args]);
  return JSON.parse(String(printed.mock.lastCall?.[0]));
}

const countRows = (organisation: Organisation): Promise<Record<string, number>> =>
  withClient(perch.database.adminUrl, async (admin) => {
    const { rows: tables } = await admin.query<{ name: string }>(
      `select c.table_name as name from information_schema.columns c join pg_class r on r.relname = c.table_name
         where c.column_name = 'organisation_id' and c.table_schema = 'public' and not r.relispartition order by 1`,
    );
    const counts: Record<string, number> = {};
    for (const { name } of tables) {
      const { rows } = await admin.query(`select count(*)::int as n from ${name} where organisation_id = $1`, [
        idOf(organisation),
      ]);
      counts[name] = rows[0].n;
    }
    return counts;
  });

test("the list of tables is that of the catalogue, those that refer to others first", async () => {
  const owner = openAsOwner(perch.database.ownerUrl);
  const names = (await listTenantTables(owner)).map(({ name }) => name);
  await owner.destroy();
  const organisation = await perch.createOrganisation();
  expect(names.toSorted()).toEqual(Object.keys(await countRows(organisation)));
  expect(names.indexOf("key_factors")).toBeLessThan(names.indexOf("api_keys"));
  expect(names.indexOf("deployments")).toBeLessThan(names.indexOf("agent_versions"));
  expect(names.indexOf("agent_versions")).toBeLessThan(names.indexOf("agents"));
});

test("an organisation goes with all that it has, after an interruption too, and others keep everything", async () => {
  const [erased, kept] = [await createBusyOrganisation(), await createBusyOrganisation()];
  const progress = vi.spyOn(console, "error").mockImplementation(() => {});
  // Without --yes nothing changes.
  const shown = await run(erased);
  expect(shown).toMatchObject({ erased: false, rows: { agents: 4 } });
  ok(await erased.call("GET /v1/agents", {}));
  await invokeInBackground(perch, erased.adminKey, { message: "slow one" }, { agent: "tools" });
  await expect.poll(async () => (await countRows(kept)).engine_tasks).toBe(0);
  const before = await countRows(kept);

  progress.mockImplementation((text: string) => {
    if (text.startsWith("log_entries")) throw new Error("killed");
  });
  await expect(run(erased, "--yes")).rejects.toThrow("killed");
  expect((await erased.call("GET /v1/agents", {})).status).toBe(401);
  progress.mockImplementation(() => {});
  const receipt = await run(erased, "--yes");
  expect(receipt).toMatchObject({ organisation: erased.id, erased: true, rows: { agents: 4, organisations: 1 } });
  expect(Object.values(await countRows(erased)).every((count) => count === 0)).toBe(true);
  expect(await findTraces(perch, idOf(erased))).toEqual([]);
  expect(await findTraces(perch, idOf(kept))).toContain("api_keys");

  const after = await countRows(kept);
  const { audit_log: _, ...same } = before;
  expect(after).toMatchObject(same);
  ok(await kept.call("GET /v1/agents", {}));
  await expect(run(erased, "--yes")).rejects.toThrow("There is no organisation");
}, 120_000);
