import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { createOrganisationWithVersions, setDraftReply } from "../../../test/support/deployment-calls.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
const operation = "GET /v1/agents/{agent_id}/versions/{version}";
const params = { agent_id: "bot", version: "v1" };

describe(operation, () => {
  test("returns the definition without security, as it was when the label was first used", async () => {
    verifies("version.get", "version.immutable");
    const organisation = await createOrganisationWithVersions(perch(), []);
    const { call } = organisation;
    const body = { limits: { max_steps: 7 }, security: { enforceHttps: false }, temperature: 0.5 };
    ok(await call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body }));
    const agent = ok(await call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } })).data;
    ok(
      await call("POST /v1/agents/{agent_id}/deployments", {
        params: { agent_id: "bot" },
        body: { environment: "production", version: "v1" },
      }),
    );
    const { id, name, status, created_at, updated_at, security, auth, ...definition } = agent;
    const version = ok(await call(operation, { params })).data;
    expect(version).toMatchObject({ version: "v1", agent_id: id, definition });
    expect(Object.keys(version.definition).sort()).toEqual(Object.keys(definition).sort());
    await setDraftReply(organisation, "changed");
    expect(ok(await call(operation, { params })).data).toEqual(version);
  });

  test("404 for a label that was never used, for the name of the draft, and for an invalid label", async () => {
    verifies("version.get");
    const { call } = await createOrganisationWithVersions(perch(), ["v1"]);
    for (const version of ["v2", "draft", "V1", "a b", "é", "x".repeat(500)])
      expect(expectError(await call(operation, { params: { ...params, version } })).status).toBe(404);
    expect(expectError(await call(operation, { params: { ...params, agent_id: "no" } })).status).toBe(404);
  });

  test("the server's database role can neither change nor delete versions, nor delete events, nor deployments that have not ended", async () => {
    verifies("version.immutable");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const id = parsePublicId("organisation", organisation.id);
    const attempt = (statement: string) =>
      withClient(perch().database.appUrl, async (client) => {
        await client.query("select set_config('perch.organisation_id', $1, false)", [id]);
        return client.query<{ label: string }>(statement);
      });
    expect((await attempt("select label from agent_versions")).rows).toEqual([{ label: "v1" }]);
    for (const statement of [
      "update agent_versions set definition = '{}'",
      "update agent_versions set label = 'v2'",
      "delete from agent_versions",
      "truncate agent_versions",
      "delete from events",
      "update events set type = 'x'",
    ])
      await expect(attempt(statement), statement).rejects.toThrow(/permission denied/);
    await expect(attempt("delete from deployments")).rejects.toThrow(/a deployment that is active may not be deleted/);
  });
});
