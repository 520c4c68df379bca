import { tierLimits } from "@perch/contract";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { newUuid, parsePublicId, toPublicId } from "../../platform/ids.ts";
import { deleteOldestEnded } from "./kept-deployments.ts";

const perch = usePerch();

interface Inserted {
  readonly environment?: string;
  readonly status: "pending" | "active" | "failed" | "superseded" | "rolled_back";
  readonly wasLive?: boolean;
  readonly origin?: string;
}

async function createAgent(organisation: Organisation) {
  const { data } = ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  const organisationId = parsePublicId("organisation", organisation.id) ?? "";
  const agentId = parsePublicId("agent", data.id) ?? "";
  await withClient(perch().database.adminUrl, (client) =>
    client.query(
      'insert into agent_versions (organisation_id, agent_id, label, definition, checksum) values ($1, $2, \'v\', \'{"runtime":{"type":"model"},"tools":[]}\', sha256(\'\'))',
      [organisationId, agentId],
    ),
  );
  const insert = ({ environment = "production", status, wasLive = false, origin }: Inserted): Promise<string> =>
    withClient(perch().database.adminUrl, async (client) => {
      const id = newUuid();
      const isOpened = status === "pending" || status === "failed";
      await client.query(
        `insert into deployments (organisation_id, id, agent_id, environment, version, status, traffic_percent, origin, live_order, activated_at)
           values ($1, $2, $3, $4, 'v', $5, $8, $6, case when $7 then nextval('deployment_order') end, case when $5 = 'active' then now() end)`,
        [
          organisationId,
          id,
          agentId,
          environment,
          isOpened ? "pending" : "active",
          origin ?? id,
          wasLive,
          status === "active" || wasLive ? 100 : 10,
        ],
      );
      if (status !== "pending" && status !== "active")
        await client.query("update deployments set status = $2, ended_at = clock_timestamp() where id = $1", [
          id,
          status,
        ]);
      return id;
    });
  const list = (): Promise<string[]> =>
    withClient(perch().database.adminUrl, async (client) => {
      const { rows } = await client.query<{ id: string }>(
        "select id from deployments where agent_id = $1 order by creation_order",
        [agentId],
      );
      return rows.map(({ id }) => id);
    });
  const { db } = perch().server.core;
  const keep = (max: number) =>
    db.inOrganisation(organisationId, (trx) => deleteOldestEnded(trx, { organisationId, agentId }, max));
  return { insert, list, keep };
}

describe("deployments beyond what a tier keeps", () => {
  test("are deleted oldest first, except those that are pending or active and those that a rollback needs", async () => {
    const { insert, list, keep } = await createAgent(await perch().createOrganisation());
    const pending = await insert({ status: "pending" });
    const beforeOrigin = await insert({ status: "superseded", wasLive: true });
    const origin = await insert({ status: "rolled_back", wasLive: true });
    const replaced = await insert({ status: "rolled_back", wasLive: true });
    const live = await insert({ status: "active", wasLive: true, origin });
    const staging = await insert({ environment: "staging", status: "active", wasLive: true });
    const [first, second, third] = [
      await insert({ status: "failed" }),
      await insert({ status: "superseded" }),
      await insert({ environment: "staging", status: "failed" }),
    ];
    await keep(9);
    expect(await list()).toHaveLength(9);
    await keep(7);
    expect(await list()).toEqual([pending, beforeOrigin, origin, live, staging, second, third]);
    expect(await list()).not.toContain(replaced);
    expect(await list()).not.toContain(first);
    await keep(1);
    expect(await list()).toEqual([pending, beforeOrigin, origin, live, staging]);
  });

  test("make room for a new deployment and for a rollback, and are then 404", async () => {
    const organisation = await perch().createOrganisation("free");
    const { call } = organisation;
    const { insert, list } = await createAgent(organisation);
    const max = tierLimits.free.deploymentsPerAgent;
    const before = await insert({ status: "superseded", wasLive: true });
    const live = await insert({ status: "active", wasLive: true });
    const failed: string[] = [];
    for (let i = 2; i < max; i++) failed.push(await insert({ status: "failed" }));
    const params = { agent_id: "bot" };
    const body = { environment: "production", version: "v", redeploy: true };
    ok(await call("POST /v1/agents/{agent_id}/deployments", { params, body }));
    expect(await list()).toHaveLength(max);
    const deploymentOf = (id = "") => ({ agent_id: "bot", deployment_id: toPublicId("deployment", id) });
    expectError(
      await call("GET /v1/agents/{agent_id}/deployments/{deployment_id}", { params: deploymentOf(failed[0]) }),
      "not_found",
    );
    ok(await call("POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback", { params: deploymentOf(live) }));
    const kept = await list();
    expect(kept).toHaveLength(max);
    expect(kept).not.toContain(failed[1]);
    expect(kept).toEqual(expect.arrayContaining([before, live, failed[2]]));
  });

  test("a rollback is not refused when a new deployment is", async () => {
    const organisation = await perch().createOrganisation("free");
    const { call } = organisation;
    const { insert } = await createAgent(organisation);
    await insert({ status: "superseded", wasLive: true });
    const live = await insert({ status: "active", wasLive: true });
    for (let i = 1; i < tierLimits.free.deploymentsPerAgent; i++)
      await insert({ environment: `e-${i}`, status: "active", wasLive: true });
    const params = { agent_id: "bot" };
    const body = { environment: "production", version: "v", redeploy: true };
    expectError(await call("POST /v1/agents/{agent_id}/deployments", { params, body }), "conflict");
    const deployment_id = toPublicId("deployment", live);
    ok(
      await call("POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback", {
        params: { ...params, deployment_id },
      }),
    );
  });
});
