import { type OperationKey, type QuotaName, tierLimits } from "@perch/contract";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { parsePublicId } from "../../src/platform/ids.ts";
import { type Answer, expectError, ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { addConnectedTool, connectionConfig } from "../support/sample-connections.ts";
import { insertWaitingRuns } from "../support/waiting-run-rows.ts";

const perch = usePerch(connectionConfig);
const limits = tierLimits.free;

const bot = { agent_id: "bot" };
const deployments = "POST /v1/agents/{agent_id}/deployments";

interface QuotaCase {
  readonly quota: QuotaName;
  readonly message: string;
  /** Inserts `$2` of them into the organisation `$1`. */
  readonly fill: string;
  /** How many there are before. */
  readonly present?: number;
  /** What must be there before one can be created. */
  readonly prepare?: (organisation: Organisation) => Promise<unknown>;
  readonly create: (organisation: Organisation, i: number) => Promise<Answer<OperationKey>>;
}

const labelled = `(select organisation_id, id as agent_id from agents where organisation_id = $1 and name = 'bot') a`;
const cases: readonly QuotaCase[] = [
  {
    quota: "agents",
    message:
      "This organisation has 20 agents, as many as its tier (free) allows. Delete one, or ask for a larger tier.",
    fill: `insert into agents (id, organisation_id, name, status, definition, security)
      select gen_random_uuid(), $1, 'filled-' || i, 'running', '{}', '{}' from generate_series(1, $2) i`,
    present: 1,
    create: ({ call }, i) => call("POST /v1/agents", { body: { name: `new-${i}`, model: "perch/echo" } }),
  },
  {
    quota: "keys",
    message:
      "This organisation has 20 active API keys, as many as its tier (free) allows. Revoke one, or ask for a larger tier.",
    fill: `insert into api_keys (id, organisation_id, name, digest, prefix, permissions, expires_at)
      select gen_random_uuid(), $1, 'filled', sha256(gen_random_uuid()::text::bytea), 'perch_', '{read}',
             case when i % 2 = 0 then now() + interval '1 day' end from generate_series(1, $2) i`,
    // The one that the organisation began with.
    present: 1,
    create: ({ call }) => call("POST /v1/keys", { body: { name: "new", role: "viewer" } }),
  },
  {
    quota: "webhooks",
    message:
      "This organisation has 20 webhooks, as many as its tier (free) allows. Delete one, or ask for a larger tier.",
    fill: `insert into webhooks (organisation_id, id, url, events, sealed_secret)
      select $1, gen_random_uuid(), 'https://hooks.example/', '{agent.failed}', '' from generate_series(1, $2)`,
    create: ({ call }) =>
      call("POST /v1/webhooks", { body: { url: "https://hooks.example/new", events: ["agent.failed"] } }),
  },
  {
    quota: "providers",
    message:
      "This organisation has 5 model providers, as many as its tier (free) allows. Delete one, or ask for a larger tier.",
    fill: `insert into model_providers (organisation_id, name, type, models)
      select $1, 'filled-' || i, 'openai', '{}' from generate_series(1, $2) i`,
    create: ({ call }, i) => call("POST /v1/providers", { body: { name: `new-${i}`, type: "openai", api_key: "k" } }),
  },
  {
    quota: "secrets",
    message:
      "This organisation has 20 secrets, those of its agents included, as many as its tier (free) allows. Delete one, or ask for a larger tier.",
    fill: `insert into secrets (organisation_id, agent_id, name, sealed_value, hosts)
      select $1, case when i % 2 = 0 then a.agent_id end, 'filled_' || i, '', '{a.example}' from ${labelled}, generate_series(1, $2) i`,
    create: ({ call }, i) => {
      const body = { name: `new_${i}`, value: "open sesame", hosts: ["a.example"] };
      return i % 2 === 0
        ? call("POST /v1/secrets", { body })
        : call("POST /v1/agents/{agent_id}/secrets", { params: bot, body });
    },
  },
  {
    quota: "connections",
    message:
      "This organisation has 1,000 connections of users, those that were revoked in the last 30 days included, as many as its tier (free) allows. Delete agents or erase users that are gone, or ask for a larger tier.",
    fill: `insert into connections (organisation_id, id, agent_id, user_id, tool, sent_to)
      select organisation_id, gen_random_uuid(), agent_id, 'filled-' || i, 'mail', 'https://tools.example' from ${labelled}, generate_series(1, $2) i`,
    prepare: addConnectedTool,
    create: ({ call }, i) =>
      call("POST /v1/agents/{agent_id}/connections", { params: bot, body: { user_id: `new-${i}`, tool: "mail" } }),
  },
  {
    quota: "versionsPerAgent",
    message:
      'This agent has 100 versions, as many as its tier (free) allows. Deploy one of them with "redeploy": true, create another agent, or ask for a larger tier.',
    fill: `insert into agent_versions (organisation_id, agent_id, label, definition, checksum)
      select organisation_id, agent_id, 'filled-' || i, '{}', sha256('') from ${labelled}, generate_series(1, $2) i`,
    create: ({ call }, i) =>
      call(deployments, { params: bot, body: { environment: "production", version: `new-${i}` } }),
  },
  {
    quota: "deploymentsPerAgent",
    message:
      "This agent has 100 pending and active deployments, as many as its tier (free) allows. Wait until pending ones have ended, create another agent for more environments, or ask for a larger tier.",
    fill: `with version as (
        insert into agent_versions (organisation_id, agent_id, label, definition, checksum)
          select organisation_id, agent_id, 'filled', '{}', sha256('') from ${labelled} returning *)
      insert into deployments (organisation_id, id, agent_id, environment, version, status, traffic_percent, origin, activated_at)
        select organisation_id, id, agent_id, 'filled-' || i, label, case when i % 2 = 0 then 'active' else 'pending' end, 100, id,
               case when i % 2 = 0 then now() end
          from version, generate_series(1, $2) i, lateral (select gen_random_uuid() as id where i > 0) each`,
    create: ({ call }, i) => call(deployments, { params: bot, body: { environment: `new-${i}`, version: "new" } }),
  },
];

async function createOrganisationWithAgent(): Promise<Organisation> {
  const organisation = await perch().createOrganisation("free");
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  return organisation;
}

const fillTo = ({ id }: Organisation, { fill, present = 0 }: QuotaCase, total: number) =>
  withClient(perch().database.adminUrl, (client) =>
    client.query(fill, [parsePublicId("organisation", id), total - present]),
  );

const labelOf = (quota: QuotaName) => quota.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

async function countRefusals(quota: QuotaName): Promise<number> {
  const { text } = await perch().server.core.telemetry.read();
  return Number(new RegExp(`perch_quota_refusals_total\\{quota="${labelOf(quota)}"\\} (\\d+)`).exec(text)?.[1]);
}

describe.each(cases)("the quota $quota", (each) => {
  const { quota, message, create } = each;

  test("is not passed by requests at the same time, names itself in the refusal, and leaves others alone", async () => {
    const [full, other] = [await createOrganisationWithAgent(), await createOrganisationWithAgent()];
    for (const organisation of [full, other]) await each.prepare?.(organisation);
    await fillTo(full, each, limits[quota] - 2);
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => create(full, i)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, ...Array.from({ length: 6 }, () => 409)]);
    for (const answer of answers.filter(({ status }) => status === 409))
      expect(expectError(answer, "conflict").message).toBe(message);
    expect(await countRefusals(quota)).toBe(6);
    expect((await create(other, 0)).status).toBe(201);
  });
});

describe("the quota of keys", () => {
  const keys = cases.find(({ quota }) => quota === "keys") as QuotaCase;

  test("does not count revoked and expired keys, and revoking one makes room", async () => {
    const organisation = await createOrganisationWithAgent();
    const { call } = organisation;
    const { data } = ok(await call("POST /v1/keys", { body: { name: "old", role: "viewer" } }));
    await fillTo(organisation, { ...keys, present: 2 }, limits.keys);
    expectError(await keys.create(organisation, 0), "conflict");
    ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: data.id } }));
    expect((await keys.create(organisation, 0)).status).toBe(201);
    await withClient(perch().database.adminUrl, (client) =>
      client.query(
        "update api_keys set expires_at = now() - interval '1 s' where organisation_id = $1 and name = 'filled'",
        [parsePublicId("organisation", organisation.id)],
      ),
    );
    expect((await keys.create(organisation, 0)).status).toBe(201);
  });

  test("holds for a rotation with an overlap and for an expired key that is to work again, not for a rotation without", async () => {
    const organisation = await createOrganisationWithAgent();
    const { call } = organisation;
    const body = { name: "old", role: "viewer" as const };
    const [rotated, expired] = [
      ok(await call("POST /v1/keys", { body })).data,
      ok(await call("POST /v1/keys", { body })).data,
    ];
    await withClient(perch().database.adminUrl, (client) =>
      client.query("update api_keys set expires_at = now() - interval '1 s' where id = $1", [
        parsePublicId("key", expired.id),
      ]),
    );
    await fillTo(organisation, { ...keys, present: 2 }, limits.keys);
    const rotate = (overlap_seconds: number) =>
      call("POST /v1/keys/{key_id}/rotate", { params: { key_id: rotated.id }, body: { overlap_seconds } });
    const revive = () =>
      call("PATCH /v1/keys/{key_id}", { params: { key_id: expired.id }, body: { expires_at: null } });
    expect(expectError(await rotate(60), "conflict").message).toBe(keys.message);
    expect(expectError(await revive(), "conflict").message).toBe(keys.message);
    expect((await rotate(0)).status).toBe(201);
  });
});

describe("the quota of connections", () => {
  test("counts exactly, also where many are created and deleted at the same time", async () => {
    const organisation = await createOrganisationWithAgent();
    await addConnectedTool(organisation);
    const own = parsePublicId("organisation", organisation.id) ?? "";
    const connections = cases.find(({ quota }) => quota === "connections") as QuotaCase;
    await fillTo(organisation, connections, 500);
    const { db } = perch().server.core;
    const deleteSome = () =>
      db.inOrganisation(own, (trx) =>
        sql`delete from connections where organisation_id = ${own} and id in (
              select id from connections where organisation_id = ${own} and user_id like 'filled-%' order by random() limit 40)`.execute(
          trx,
        ),
      );
    await Promise.all(
      Array.from({ length: 24 }, (_, i) => (i % 3 === 0 ? deleteSome() : connections.create(organisation, i))),
    );
    const { rows } = await withClient(perch().database.adminUrl, (client) =>
      client.query<{ n: number }>("select count(*)::int as n from connections where organisation_id = $1", [own]),
    );
    expect(rows[0]?.n).toBeLessThan(500);
    ok(await organisation.call("POST /v1/agents", { body: { name: "another", model: "perch/echo" } }));
    const { usage } = ok(await organisation.call("GET /v1/me", {})).data;
    expect(usage?.connections).toEqual({ used: rows[0]?.n, limit: 1000 });
  });
});

describe("the quota of runs that wait", () => {
  test("holds at its limit, leaves others alone, and has room again when a run has ended", async () => {
    const [full, other] = [await createOrganisationWithAgent(), await createOrganisationWithAgent()];
    const { db, quotas } = perch().server.core;
    const hasRoom = (organisation: Organisation) => {
      const id = parsePublicId("organisation", organisation.id) ?? "";
      return db.inOrganisation(id, (trx) => quotas.hasRoomToWait(trx, id, "free"));
    };
    const agent = ok(await full.call("GET /v1/agents/{agent_id}", { params: bot })).data.id;
    const { runs } = await insertWaitingRuns(perch().database.adminUrl, {
      organisation: full.id,
      agent,
      count: limits.waitingRuns - 1,
    });
    expect(await hasRoom(full)).toBe(true);
    await insertWaitingRuns(perch().database.adminUrl, { organisation: full.id, agent });
    expect([await hasRoom(full), await hasRoom(other)]).toEqual([false, true]);
    expect(await countRefusals("waitingRuns")).toBe(1);
    ok(await full.call("POST /v1/agents", { body: { name: "another", model: "perch/echo" } }));
    const { usage } = ok(await full.call("GET /v1/me", {})).data;
    expect(usage?.waiting_runs).toEqual({ used: 1000, limit: 1000 });
    await withClient(perch().database.adminUrl, (client) =>
      client.query("delete from waiting_runs where id = $1", [runs[0]]),
    );
    expect(await hasRoom(full)).toBe(true);
  });
});

test("the largest tier is not told to ask for a larger one", async () => {
  const { call, id } = await perch().createOrganisation("enterprise");
  const { webhooks } = tierLimits.enterprise;
  const each = cases.find(({ quota }) => quota === "webhooks") as QuotaCase;
  await fillTo({ id } as Organisation, each, webhooks);
  const body = { url: "https://hooks.example/", events: ["agent.failed" as const] };
  expect(expectError(await call("POST /v1/webhooks", { body }), "conflict").message).toBe(
    "This organisation has 1,000 webhooks, as many as its tier (enterprise) allows. Delete one.",
  );
});
