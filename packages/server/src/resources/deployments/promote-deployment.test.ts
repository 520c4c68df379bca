import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import {
  createOrganisationWithVersions,
  deploy,
  getDeployment,
  invokeForReply,
  rollBack,
  setDraftReply,
} from "../../../test/support/deployment-calls.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
const operation = "POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote";
const promote = ({ call }: Organisation, deployment_id = "", as?: string) =>
  call(operation, { params: { agent_id: "bot", deployment_id } }, as);

async function createOrganisationWithCanary() {
  const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
  await setDraftReply(organisation, "v2");
  const canary = await deploy(organisation, { version: "v2", traffic_percent: 1 });
  return { organisation, canary, liveId: organisation.deployments[0]?.id ?? "" };
}

describe(operation, () => {
  test("the canary gets all requests, starting with the next one, and the previous live deployment is superseded", async () => {
    verifies("deployment.canary-operations");
    const { organisation, canary, liveId } = await createOrganisationWithCanary();
    const promoted = ok(await promote(organisation, canary.id)).data;
    expect(promoted).toEqual({ ...canary, traffic_percent: 100 });
    for (let i = 0; i < 5; i++) expect(await invokeForReply(perch(), organisation)).toBe("v2");
    expect(await getDeployment(organisation, liveId)).toMatchObject({ status: "superseded" });
  });

  test("promoting again changes nothing; a rollback then restores what was live before", async () => {
    verifies("deployment.canary-operations");
    const { organisation, canary, liveId } = await createOrganisationWithCanary();
    const promoted = ok(await promote(organisation, canary.id)).data;
    expect(ok(await promote(organisation, canary.id)).data).toEqual(promoted);
    expect(await rollBack(organisation, canary.id)).toMatchObject({ version: "v1", rollback_of: canary.id });
    expect(await invokeForReply(perch(), organisation)).toBe("v1");
    expect(await getDeployment(organisation, liveId)).toMatchObject({ status: "superseded" });
  });

  test("409 for an ended deployment, 404 for an unknown one, 403 for a key that may only read", async () => {
    verifies("deployment.canary-operations");
    const { organisation, canary, liveId } = await createOrganisationWithCanary();
    expect(expectError(await promote(organisation, "dep_01h455vb4pex5vsknk084sn02q")).status).toBe(404);
    const reader = await organisation.createKey({ permissions: ["read"] });
    expect(expectError(await promote(organisation, canary.id, reader)).status).toBe(403);
    await rollBack(organisation, canary.id);
    const error = expectError(await promote(organisation, canary.id));
    expect(error.status).toBe(409);
    expect(error.message).toContain("is no canary: it is rolled_back");
    await deploy(organisation, { version: "v2" });
    expect(expectError(await promote(organisation, liveId)).status).toBe(409);
  });
});
