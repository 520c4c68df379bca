import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { withClient } from "../../../../scripts/testbed/scratch-database.ts";
import { scratchSettings } from "../../../../scripts/testbed/server-process.ts";
import { runEraseOrganisation } from "../../src/compose/commands/run-erase-organisation.ts";
import { openAsOwner } from "../../src/db/open-as-owner.ts";
import { createEngineRuns } from "../../src/engine/engine-runs.ts";
import { newUuid, parsePublicId, toPublicId } from "../../src/platform/ids.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { eraseOrganisation } from "../../src/resources/organisations/erase-organisation.ts";
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
async function run(organisation: Pick<Organisation, "id">, ...args: string[]): Promise<Record<string, unknown>> {
  const printed = vi.spyOn(console, "log").mockImplementation(() => {});
  const config = { ...perch.server.core.config, migrationDatabaseUrl: perch.database.ownerUrl };
  await runEraseOrganisation(config, createLogger("silent"), ["--organisation", organisation.id, "--json", ...args]);
  return JSON.parse(String(printed.mock.lastCall?.[0]));
}

/** Kills the command, in a process of its own, when it has deleted the rows of its first tables. */
async function eraseAndKill({ id }: Organisation): Promise<void> {
  const { config } = perch.server.core;
  const main = join(import.meta.dirname, "../../src/main.ts");
  const child = spawn(process.execPath, [main, "erase-organisation", "--organisation", id, "--yes"], {
    env: {
      ...process.env,
      ...scratchSettings(perch.database, 0),
      PERCH_MASTER_KEY: config.masterKey.toString("base64"),
      PERCH_RESTATE_ADMIN_URL: config.adminUrls.join(","),
      PERCH_VALKEY_URL: valkey.url,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let printed = "";
  child.stderr.on("data", (text: Buffer) => {
    printed += text.toString();
    if (printed.includes("rows deleted.")) child.kill("SIGKILL");
  });
  const [, signal] = await once(child, "exit");
  expect(signal, printed).toBe("SIGKILL");
}

/** As the command does it, with no time for runs to end. */
async function eraseAtOnce(organisation: Organisation): Promise<void> {
  const owner = openAsOwner(perch.database.ownerUrl);
  const { config, slots, streams } = perch.server.core;
  const engineRuns = createEngineRuns(config.adminUrls);
  const others = { deleteSharedKeys: () => Promise.resolve(0), report: () => {}, maxWaitMs: 0 };
  try {
    await eraseOrganisation({ owner, engineRuns, slots, streams, ...others }, idOf(organisation));
  } finally {
    await owner.destroy();
  }
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

test("what no organisation has as its id is refused, also by a dry run", async () => {
  const id = toPublicId("organisation", newUuid());
  const message = `There is no organisation ${id}. \`perch-server list-organisations\` shows the ids.`;
  await expect(run({ id })).rejects.toThrow(message);
});

test("an organisation goes with all that it has, also if the command is killed, and others keep everything", async () => {
  const [erased, kept] = [await createBusyOrganisation(), await createBusyOrganisation()];
  vi.spyOn(console, "error").mockImplementation(() => {});
  // Without --yes nothing changes.
  const shown = await run(erased);
  expect(shown).toMatchObject({ name: "Test", erased: false, rows: { agents: 4 } });
  ok(await erased.call("GET /v1/agents", {}));
  await invokeInBackground(perch, erased.adminKey, { message: "slow one" }, { agent: "tools" });
  await expect.poll(async () => (await countRows(kept)).engine_tasks).toBe(0);
  const before = await countRows(kept);

  // The engine still has a run: its records stay.
  await expect(eraseAtOnce(erased)).rejects.toThrow("1 run has not ended. Start workers and run this again.");
  const { agents, memories, run_contents } = shown.rows as Record<string, number>;
  expect(await countRows(erased)).toMatchObject({ agents, memories, run_contents });
  await eraseAndKill(erased);
  expect((await erased.call("GET /v1/agents", {})).status).toBe(401);
  const receipt = await run(erased, "--yes");
  expect(receipt).toMatchObject({ organisation: erased.id, erased: true, rows: { organisations: 1 } });
  expect(Object.values(await countRows(erased)).every((count) => count === 0)).toBe(true);
  expect(await findTraces(perch, idOf(erased))).toEqual([]);
  expect(await findTraces(perch, idOf(kept))).toContain("api_keys");

  const after = await countRows(kept);
  const { audit_log: _, ...same } = before;
  expect(after).toMatchObject(same);
  ok(await kept.call("GET /v1/agents", {}));
  await expect(run(erased, "--yes")).rejects.toThrow("There is no organisation");
}, 120_000);
