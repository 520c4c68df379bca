import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import {
  createOrganisationWithVersions,
  deploy,
  getDeployment,
  rollBack,
} from "../../../test/support/deployment-calls.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
const operation = "GET /v1/agents/{agent_id}/deployments";
const params = { agent_id: "bot" };
const listIds = async ({ call }: Organisation, query: object = {}): Promise<string[]> =>
  ok(await call(operation, { params, query })).data.map(({ id }) => id);

describe(operation, () => {
  test("every deployment, newest first, as Get Deployment shows it", async () => {
    verifies("operations.list-deployments", "responses.list-deployments");
    const organisation = await createOrganisationWithVersions(perch(), ["v1", "v2"]);
    const [first, second] = organisation.deployments.map(({ id }) => id);
    const back = await rollBack(organisation, second ?? "");
    const { data, pagination } = ok(await organisation.call(operation, { params, query: {} }));
    expect(data.map(({ id }) => id)).toEqual([back.id, second, first]);
    expect(data.map(({ status }) => status)).toEqual(["active", "rolled_back", "superseded"]);
    for (const deployment of data) expect(await getDeployment(organisation, deployment.id)).toEqual(deployment);
    expect(pagination).toEqual({ limit: 10, offset: 0, total: 3, has_more: false });
  });

  test("pages, sorts and filters by environment and status, with the exact total", async () => {
    verifies("lists.deployments-parameters");
    const organisation = await createOrganisationWithVersions(perch(), ["v1", "v2"]);
    const ids = organisation.deployments.map(({ id }) => id);
    ids.push((await deploy(organisation, { version: "v2", environment: "staging" })).id);
    expect(await listIds(organisation, { sort: "created_at" })).toEqual(ids);
    expect(await listIds(organisation, { sort: "-created_at" })).toEqual(ids.toReversed());
    expect(await listIds(organisation, { environment: "staging" })).toEqual([ids[2]]);
    expect(await listIds(organisation, { status: "active" })).toEqual([ids[2], ids[1]]);
    expect(await listIds(organisation, { status: "active", environment: "production" })).toEqual([ids[1]]);
    expect(await listIds(organisation, { environment: "unused" })).toEqual([]);
    const page = ok(await organisation.call(operation, { params, query: { limit: 1, offset: 1 } }));
    expect(page.data.map(({ id }) => id)).toEqual([ids[1]]);
    expect(page.pagination).toEqual({ limit: 1, offset: 1, total: 3, has_more: true });
    const filtered = ok(await organisation.call(operation, { params, query: { limit: 1, status: "active" } }));
    expect(filtered.pagination).toMatchObject({ total: 2, has_more: true });
  });

  test.each([{ status: "live" }, { environment: "A B" }, { sort: "version" }, { limit: 0 }, { version: "v1" }])(
    "400 for %j",
    async (query) => {
      const { call } = await perch().createOrganisation();
      ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
      const error = expectError(await call(operation, { params, query: query as never }));
      expect(error.status).toBe(400);
      expect(error.details?.map(({ field }) => field)).toEqual(Object.keys(query));
    },
  );

  test("lists one agent's only; read is enough; 404 for an unknown agent", async () => {
    verifies("permissions.deployments");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const { call } = organisation;
    ok(await call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    const reader = await organisation.createKey({ permissions: ["read"] });
    expect(ok(await call(operation, { params, query: {} }, reader)).data).toHaveLength(1);
    expect(ok(await call(operation, { params: { agent_id: "other" }, query: {} }, reader)).data).toEqual([]);
    const writer = await organisation.createKey({ permissions: ["write"] });
    expect(expectError(await call(operation, { params, query: {} }, writer)).status).toBe(403);
    expect(expectError(await call(operation, { params: { agent_id: "no" }, query: {} })).status).toBe(404);
  });
});
