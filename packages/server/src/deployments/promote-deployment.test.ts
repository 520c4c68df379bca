import { describe, expect, test } from "vitest";
import { serviceUrl } from "../../../../scripts/testbed/scratch-database.ts";
import { verifies } from "../../../../spec/verifies.ts";
import { ok, refusal } from "../../test/contract-client.ts";
import { deploy, deploymentOf, draftSays, rollBack, saysAt, withVersions } from "../../test/deploying.ts";
import { type Organisation, usePerch } from "../../test/harness.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { runs: true });
const operation = "POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote";
const promote = ({ call }: Organisation, deployment_id = "", as?: string) =>
  call(operation, { params: { agent_id: "bot", deployment_id } }, as);

async function withCanary() {
  const organisation = await withVersions(perch(), ["v1"]);
  await draftSays(organisation, "v2");
  const canary = await deploy(organisation, { version: "v2", traffic_percent: 1 });
  return { organisation, canary, liveId: organisation.deployments[0]?.id ?? "" };
}

describe(operation, () => {
  test("the canary gets all, from the next request on, and what was live is superseded", async () => {
    verifies("deployment.canary-operations");
    const { organisation, canary, liveId } = await withCanary();
    const promoted = ok(await promote(organisation, canary.id)).data;
    expect(promoted).toEqual({ ...canary, traffic_percent: 100 });
    for (let i = 0; i < 5; i++) expect(await saysAt(perch(), organisation)).toBe("v2");
    expect(await deploymentOf(organisation, liveId)).toMatchObject({ status: "superseded" });
  });

  test("again changes nothing; a rollback then goes back to what was live before", async () => {
    verifies("deployment.canary-operations");
    const { organisation, canary, liveId } = await withCanary();
    const promoted = ok(await promote(organisation, canary.id)).data;
    expect(ok(await promote(organisation, canary.id)).data).toEqual(promoted);
    expect(await rollBack(organisation, canary.id)).toMatchObject({ version: "v1", rollback_of: canary.id });
    expect(await saysAt(perch(), organisation)).toBe("v1");
    expect(await deploymentOf(organisation, liveId)).toMatchObject({ status: "superseded" });
  });

  test("409 for one that has ended, 404 for one that is not there, 403 for a key that may only read", async () => {
    verifies("deployment.canary-operations");
    const { organisation, canary, liveId } = await withCanary();
    expect(refusal(await promote(organisation, "dep_01h455vb4pex5vsknk084sn02q")).status).toBe(404);
    const reader = await organisation.newKey({ permissions: ["read"] });
    expect(refusal(await promote(organisation, canary.id, reader)).status).toBe(403);
    await rollBack(organisation, canary.id);
    const error = refusal(await promote(organisation, canary.id));
    expect(error.status).toBe(409);
    expect(error.message).toContain("is no canary: it is rolled_back");
    await deploy(organisation, { version: "v2" });
    expect(refusal(await promote(organisation, liveId)).status).toBe(409);
  });
});
