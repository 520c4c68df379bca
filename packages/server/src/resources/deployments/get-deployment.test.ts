import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { createOrganisationWithVersions } from "../../../test/support/deployment-calls.ts";
import { usePerch } from "../../../test/support/harness.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
const operation = "GET /v1/agents/{agent_id}/deployments/{deployment_id}";

describe(operation, () => {
  test("by the agent's name or id, for a key that may read", async () => {
    verifies("permissions.deployments");
    const { call, deployments, createKey } = await createOrganisationWithVersions(perch(), ["v1"]);
    const [deployment] = deployments;
    if (!deployment) throw new Error("not deployed");
    const reader = await createKey({ permissions: ["read"] });
    for (const agent_id of ["bot", deployment.agent_id])
      expect(ok(await call(operation, { params: { agent_id, deployment_id: deployment.id } }, reader)).data).toEqual(
        deployment,
      );
  });

  test("404 for anything but a deployment of this agent", async () => {
    const { call, deployments } = await createOrganisationWithVersions(perch(), ["v1"]);
    ok(await call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    const id = deployments[0]?.id ?? "";
    const attempts = [
      { agent_id: "other", deployment_id: id },
      { agent_id: "bot", deployment_id: "dep_01h455vb4pex5vsknk084sn02q" },
      { agent_id: "bot", deployment_id: id.replace("dep_", "key_") },
      { agent_id: "bot", deployment_id: "v1" },
    ];
    for (const params of attempts) expect(expectError(await call(operation, { params })).status).toBe(404);
  });
});
