import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { createOrganisationWithVersions, deploy } from "../../../test/support/deployment-calls.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
const operation = "GET /v1/agents/{agent_id}/versions";
const params = { agent_id: "bot" };
const listLabels = async ({ call }: Organisation, query: object = {}): Promise<string[]> =>
  ok(await call(operation, { params, query })).data.map(({ version }) => version);

describe(operation, () => {
  test("newest first, each with its checksum and creator, and without its definition", async () => {
    verifies("version.list");
    const organisation = await createOrganisationWithVersions(perch(), ["v1", "v2"]);
    const { data, pagination } = ok(await organisation.call(operation, { params, query: {} }));
    expect(data.map(({ version }) => version)).toEqual(["v2", "v1"]);
    expect(data[1]).toEqual({
      version: "v1",
      agent_id: organisation.deployments[0]?.agent_id,
      checksum: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      created_by: organisation.deployments[0]?.created_by,
      created_at: expect.any(String),
    });
    expect(data[0]?.checksum).not.toBe(data[1]?.checksum);
    expect(pagination).toEqual({ limit: 10, offset: 0, total: 2, has_more: false });
  });

  test("a version that was deployed twice is listed once; two labels of one definition have the same checksum", async () => {
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    await deploy(organisation, { version: "v1", environment: "staging" });
    await deploy(organisation, { version: "same" });
    const { data } = ok(await organisation.call(operation, { params, query: {} }));
    expect(data.map(({ version }) => version).sort()).toEqual(["same", "v1"]);
    expect(new Set(data.map(({ checksum }) => checksum)).size).toBe(1);
  });

  test("pages and sorts", async () => {
    verifies("version.list");
    const organisation = await createOrganisationWithVersions(perch(), ["a", "b", "c"]);
    expect(await listLabels(organisation, { sort: "created_at" })).toEqual(["a", "b", "c"]);
    expect(await listLabels(organisation, { limit: 1, offset: 1 })).toEqual(["b"]);
    const { pagination } = ok(await organisation.call(operation, { params, query: { limit: 2 } }));
    expect(pagination).toEqual({ limit: 2, offset: 0, total: 3, has_more: true });
    expect(
      expectError(await organisation.call(operation, { params, query: { sort: "version" as never } })).status,
    ).toBe(400);
  });

  test("the list is empty before the first deployment; 404 for an unknown agent", async () => {
    const organisation = await createOrganisationWithVersions(perch(), []);
    expect(await listLabels(organisation)).toEqual([]);
    expect(expectError(await organisation.call(operation, { params: { agent_id: "no" }, query: {} })).status).toBe(404);
  });
});
