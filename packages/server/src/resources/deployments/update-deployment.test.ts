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
const operation = "PATCH /v1/agents/{agent_id}/deployments/{deployment_id}";
const adjust = ({ call }: Organisation, deployment_id = "", body: object = { traffic_percent: 50 }, as?: string) =>
  call(operation, { params: { agent_id: "bot", deployment_id }, body: body as never }, as);

async function createOrganisationWithCanary(traffic_percent: number) {
  const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
  await setDraftReply(organisation, "v2");
  return { organisation, canary: await deploy(organisation, { version: "v2", traffic_percent }) };
}

describe(operation, () => {
  test("changes the traffic share from the next request on; sessions on the canary stay there when it grows", async () => {
    verifies("deployment.canary-operations", "deployment.canary-sticky");
    const { organisation, canary } = await createOrganisationWithCanary(30);
    const sessions = Array.from({ length: 20 }, (_, i) => `session-${i}`);
    const listCanarySessions = async () => {
      const replies = await Promise.all(
        sessions.map((session_id) => invokeForReply(perch(), organisation, { session_id })),
      );
      return sessions.filter((_, i) => replies[i] === "v2");
    };
    const before = await listCanarySessions();
    expect(ok(await adjust(organisation, canary.id, { traffic_percent: 80 })).data).toEqual({
      ...canary,
      traffic_percent: 80,
    });
    const after = await listCanarySessions();
    expect(after).toEqual(expect.arrayContaining(before));
    expect(after.length).toBeGreaterThan(before.length);
    ok(await adjust(organisation, canary.id, { traffic_percent: 30 }));
    expect(await listCanarySessions()).toEqual(before);
  });

  test("409 for the live deployment, which gets all requests", async () => {
    verifies("deployment.canary-operations");
    const { organisation } = await createOrganisationWithCanary(10);
    const live = organisation.deployments[0]?.id ?? "";
    expect(expectError(await adjust(organisation, live)).status).toBe(409);
    expect(await getDeployment(organisation, live)).toMatchObject({ status: "active", traffic_percent: 100 });
  });

  test.each([{ traffic_percent: 0 }, { traffic_percent: 100 }, { traffic_percent: "50" }, {}])(
    "400 for %j: promote and abort are separate operations",
    async (body) => {
      const { organisation, canary } = await createOrganisationWithCanary(10);
      const error = expectError(await adjust(organisation, canary.id, body));
      expect(error.status).toBe(400);
      expect(error.details?.map(({ field }) => field)).toEqual(["traffic_percent"]);
    },
  );

  test("403 for a key that may only read, 404 for an unknown deployment", async () => {
    const { organisation, canary } = await createOrganisationWithCanary(10);
    const reader = await organisation.createKey({ permissions: ["read"] });
    expect(expectError(await adjust(organisation, canary.id, undefined, reader)).status).toBe(403);
    expect(expectError(await adjust(organisation, "dep_01h455vb4pex5vsknk084sn02q")).status).toBe(404);
    expect(await getDeployment(organisation, canary.id)).toEqual(canary);
  });
});
