import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import {
  createOrganisationWithVersions,
  deploy,
  getDeployment,
  invokeForReply,
  setDraftReply,
} from "../../../test/support/deployment-calls.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
const operation = "POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort";
const abort = ({ call }: Organisation, deployment_id = "", as?: string) =>
  call(operation, { params: { agent_id: "bot", deployment_id } }, as);

describe(operation, () => {
  test("the canary gets no more requests, and another canary can be deployed", async () => {
    verifies("deployment.canary-operations", "deployment.statuses");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    await setDraftReply(organisation, "v2");
    const canary = await deploy(organisation, { version: "v2", traffic_percent: 99 });
    expect(ok(await abort(organisation, canary.id)).data).toEqual({
      ...canary,
      status: "rolled_back",
      ended_at: expect.any(String),
      error: "Aborted.",
    });
    for (let i = 0; i < 5; i++) expect(await invokeForReply(perch(), organisation)).toBe("v1");
    expect(await deploy(organisation, { version: "v2", traffic_percent: 10 })).toMatchObject({ status: "active" });
  });

  test("409 for the live one, which stays live, and for a canary that has ended", async () => {
    verifies("deployment.canary-operations");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const live = organisation.deployments[0]?.id ?? "";
    const error = expectError(await abort(organisation, live));
    expect(error).toMatchObject({ status: 409, code: "conflict" });
    expect(error.message).toBe(`${live} is no canary: it is active, with 100 % of the traffic.`);
    expect(await getDeployment(organisation, live)).toMatchObject({ status: "active" });
    const canary = await deploy(organisation, { version: "v1", traffic_percent: 10 });
    ok(await abort(organisation, canary.id));
    expect(expectError(await abort(organisation, canary.id)).status).toBe(409);
  });

  test("403 for a key that may only read, 404 for an unknown deployment", async () => {
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const canary = await deploy(organisation, { version: "v1", traffic_percent: 10 });
    const reader = await organisation.createKey({ permissions: ["read"] });
    expect(expectError(await abort(organisation, canary.id, reader)).status).toBe(403);
    expect(expectError(await abort(organisation, "dep_01h455vb4pex5vsknk084sn02q")).status).toBe(404);
  });
});
