import { randomUUID } from "node:crypto";
import { listRelations, type Relation } from "@perch/testkit/installation/database-catalogue.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { startWebhookReceiver, type WebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { type RawBuilder, sql, type Transaction } from "kysely";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { DB } from "../../src/db/generated-rows.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { ok } from "../support/contract-client.ts";
import { createModelProvider } from "../support/create-model-provider.ts";
import { deploy, invokeForReply } from "../support/deployment-calls.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { invokeAgent } from "../support/invoke-calls.ts";
import { lifecycles, stepsOf } from "../support/lifecycles.ts";
import { addMemory } from "../support/memory-calls.ts";
import { createSecret } from "../support/secret-calls.ts";
import { insertWaitingRun } from "../support/stored-approvals.ts";
import { insertConnection } from "../support/stored-connections.ts";
import { createWebhook, fastWebhookConfig } from "../support/webhook-calls.ts";

/**
 * The effects of a query that forgets its filter. reviewed-policies.test.ts compares the policies themselves with a
 * list.
 */
const perch = usePerch(fastWebhookConfig, { withWorker: true });
let receiver: WebhookReceiver;
let mine: string;
let theirs: string;
/** Every table with an organisation, from the catalogue, and the rights of the server on it. */
let tables: readonly { readonly name: string; readonly rights: readonly string[] }[];

/** The column with the owner of a row. */
const ownerColumn = (table: string): string => (table === "organisations" ? "id" : "organisation_id");
const idOf = ({ id }: Organisation): string => parsePublicId("organisation", id) ?? "";

/** Creates an organisation that has a row of its own, and none in any other table. */
const insertOrganisation = (): Promise<string> =>
  withClient(perch().database.adminUrl, async (client) => {
    const id = randomUUID();
    await client.query("insert into organisations (id, name, tier) values ($1, 'Mine', 'free')", [id]);
    return id;
  });

/** Makes at least one row of the organisation in every table that has an organisation. */
async function createRowsEverywhere(organisation: Organisation): Promise<void> {
  const { call, adminKey } = organisation;
  await fetch(`${perch().url}/v1/agents`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${adminKey}`,
      "content-type": "application/json",
      "idempotency-key": "create-bot",
    },
    // Long enough that its answer is stored apart.
    body: JSON.stringify({ name: "bot", model: "perch/echo", logs: "full", instructions: "x".repeat(3000) }),
  });
  await createModelProvider(organisation, "https://models.example");
  await createSecret(organisation);
  ok(await call("POST /v1/console/links", {}));
  ok(await call("POST /v1/mfa", {}));
  ok(await call("DELETE /v1/agents/{agent_id}/memory", { params: { agent_id: "bot" }, query: {} }));
  await addMemory(organisation, "The secret word is tulip.");
  ok(await call("DELETE /v1/users/{user_id}/data", { params: { user_id: "unknown" } }));
  await createWebhook(organisation, receiver.url);
  await deploy(organisation, { version: "v1" });
  const { status, text } = await invokeAgent(
    perch(),
    adminKey,
    { message: "hello", context: { session_id: "s" } },
    { headers: { "idempotency-key": "say-hello" } },
  );
  if (status !== 200) throw new Error(text);
  // Nothing is deployed there, so this run uses the draft.
  await invokeForReply(perch(), organisation, { environment: "staging" });
  await insertWaitingRun(perch(), organisation);
  await insertConnection(perch(), organisation);
  // A row of epoch_changes is deleted as soon as the change is settled, and one of engine_tasks once the engine has the task.
  // These are not due yet.
  await withClient(perch().database.adminUrl, async (client) => {
    const values = [idOf(organisation)];
    await client.query(
      `insert into connection_links (organisation_id, connection_id, secret_digest, return_url, sealed_flow, expires_at)
         select organisation_id, id, sha256(''), '', '', now() + interval '1 day' from connections where organisation_id = $1`,
      values,
    );
    await client.query(
      `insert into oauth_clients (organisation_id, agent_id, issuer, redirect_uri, sealed_client)
         values ($1, gen_random_uuid(), 'https://login.example', 'https://perch.example', '')`,
      values,
    );
    await client.query(
      "insert into epoch_changes (organisation_id, changed_at) values ($1, now() + interval '1 day')",
      values,
    );
    await client.query(
      `insert into engine_tasks (id, organisation_id, kind, agent_id, send_after)
         values (gen_random_uuid(), $1, 'embed_memory', gen_random_uuid(), now() + interval '1 day')`,
      values,
    );
  });
}

/** Tables without a row of this organisation, as an administrator sees them. */
const listEmptyTables = (organisationId: string): Promise<string[]> =>
  withClient(perch().database.adminUrl, async (client) => {
    const empty: string[] = [];
    for (const { name } of tables) {
      const { rowCount } = await client.query(`select from ${name} where ${ownerColumn(name)} = $1 limit 1`, [
        organisationId,
      ]);
      if (rowCount === 0) empty.push(name);
    }
    return empty;
  });

beforeAll(async () => {
  const server = new URL(perch().database.appUrl).username;
  const relations = await withClient(perch().database.adminUrl, (client) => listRelations(client, [server]));
  const isTenantTable = ({ parent, hasOrganisation }: Relation) => parent === null && hasOrganisation;
  tables = relations.filter(isTenantTable).map(({ name, rights }) => ({ name, rights: rights[server] ?? [] }));
  receiver = await startWebhookReceiver();
  mine = await insertOrganisation();
  const organisation = await perch().createOrganisation();
  theirs = idOf(organisation);
  await createRowsEverywhere(organisation);
  // The attempt to deliver the event is recorded a moment after the run.
  await vi.waitFor(async () => expect(await listEmptyTables(theirs)).toEqual([]), { timeout: 15_000, interval: 100 });
});
afterAll(() => receiver?.close());

const rollback = new Error("roll back");

/** Runs a statement as the server does, within a scope or without one, rolls it back, and returns how many rows it reached. */
async function countReached(organisationId: string | undefined, statement: RawBuilder<unknown>): Promise<number> {
  const { db } = perch().server.core;
  let reached = 0;
  const work = async (trx: Transaction<DB>) => {
    const { rows, numAffectedRows } = await statement.execute(trx);
    reached = Number(numAffectedRows ?? rows.length);
    throw rollback;
  };
  const ran = organisationId ? db.inOrganisation(organisationId, work) : db.unscoped.transaction().execute(work);
  await ran.catch((error: unknown) => {
    // A trigger refuses to delete some rows, and it sees only those that the statement reaches.
    if (error instanceof Error && error.message.endsWith("may not be deleted")) reached = 1;
    else if (error !== rollback) throw error;
  });
  return reached;
}

/** Statements that forget the filter. Changes read no column: PostgreSQL would then apply the policies for reading as well. */
const forgetful = {
  select: (name: string) => sql`select * from ${sql.table(name)}`,
  update: (name: string, owner: string) => sql`update ${sql.table(name)} set ${sql.ref(ownerColumn(name))} = ${owner}`,
  delete: (name: string) => sql`delete from ${sql.table(name)}`,
};

/** Tables in which the server has this right, also on some columns only. */
const tablesWith = (right: string) =>
  tables.filter(({ rights }) => rights.some((each) => each.startsWith(right))).map(({ name }) => name);

test("every table with an organisation has a row of the other organisation, so the tests below can fail", async () => {
  expect(tables.length).toBeGreaterThan(20);
  expect(await listEmptyTables(theirs)).toEqual([]);
});

describe.each(["select", "update", "delete"] as const)("%s without a filter", (right) => {
  /** How many rows of each table that is granted it reaches. */
  const reach = async (scope: string | undefined, owner: string) => {
    const reached: Record<string, number> = {};
    for (const name of tablesWith(right)) reached[name] = await countReached(scope, forgetful[right](name, owner));
    expect(Object.keys(reached).length).toBeGreaterThan(4);
    return reached;
  };
  const nothing = () => Object.fromEntries(tablesWith(right).map((name) => [name, 0]));

  test("reaches nothing without a scope", async () => {
    expect(await reach(undefined, theirs)).toEqual(nothing());
  });

  test("reaches nothing of another organisation", async () => {
    // An organisation that has just been created has one row: itself.
    expect(await reach(mine, mine)).toEqual({ ...nothing(), ...(right !== "delete" && { organisations: 1 }) });
  });

  test("reaches the rows of its own organisation in every table", async () => {
    expect(Object.entries(await reach(theirs, theirs)).filter(([, count]) => count === 0)).toEqual([]);
  });
});

test("a row cannot be given to another organisation", async () => {
  for (const name of tablesWith("update")) {
    const give = forgetful.update(name, mine);
    await expect(countReached(theirs, give), name).rejects.toThrow(/violates row-level security policy/);
  }
});

/** The status that a new row must have, because a trigger refuses any other before policies are applied. */
function firstStatus(table: string): { status?: string } {
  const lifecycle = lifecycles.find((each) => each.table === table);
  const first = lifecycle && stepsOf(lifecycle).find(([from]) => from === null)?.[1];
  return first ? { status: first } : {};
}

test("a row cannot be inserted for another organisation", async () => {
  await withClient(perch().database.adminUrl, async (client) => {
    for (const name of tablesWith("insert")) {
      const { rows } = await client.query<{ copy: object; columns: string[] }>(
        `select to_jsonb(t) as copy, array(select attname::text from pg_attribute where attrelid = '${name}'::regclass
           and attnum > 0 and not attisdropped and attgenerated = '' and attidentity = '') as columns
           from ${name} t where ${ownerColumn(name)} = $1 limit 1`,
        [theirs],
      );
      const columns = sql.join((rows[0]?.columns ?? []).map((column) => sql.ref(column)));
      const insert = sql`insert into ${sql.table(name)} (${columns})
        select ${columns} from jsonb_populate_record(null::${sql.table(name)}, ${JSON.stringify({ ...rows[0]?.copy, ...firstStatus(name) })})`;
      for (const scope of [undefined, mine])
        await expect(countReached(scope, insert), name).rejects.toThrow(/violates row-level security policy/);
    }
  });
});

test("partitions are refused to the server: it reaches rows through their table only", async () => {
  const { rows } = await withClient(perch().database.adminUrl, (client) =>
    client.query<{ partition: string }>(
      "select distinct on (inhparent) inhrelid::regclass::text as partition from pg_inherits join pg_class c on c.oid = inhrelid where c.relkind = 'r'",
    ),
  );
  expect(rows.length).toBeGreaterThan(8);
  for (const { partition } of rows)
    for (const attempt of [
      `select from ${partition}`,
      `insert into ${partition} default values`,
      `update ${partition} set organisation_id = organisation_id`,
      `delete from ${partition}`,
      `truncate ${partition}`,
    ])
      await expect(countReached(theirs, sql.raw(attempt)), attempt).rejects.toThrow(/permission denied/);
});
