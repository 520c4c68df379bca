import type { Deployment } from "@perch/contract";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import {
  createDeployment,
  createOrganisationWithVersions,
  deploy,
  getDeployment,
  rollBack,
} from "../../../test/support/deployment-calls.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });

interface EventRow {
  readonly type: string;
  readonly agent_id: string;
  readonly data: Deployment;
}

/** As the database administrator. A row's `xmin` is the transaction that wrote it. */
const query = <T extends object>(statement: string, values: unknown[]) =>
  withClient(perch().database.adminUrl, async (client) => (await client.query<T>(statement, values)).rows);
const eventsOf = ({ id }: Organisation) =>
  query<EventRow>("select type, agent_id, data from events where organisation_id = $1 order by id", [
    parsePublicId("organisation", id),
  ]);
const toTypesAndIds = (events: readonly EventRow[]) => events.map(({ type, data }) => [type, data.id]);

describe("the events of a deployment", () => {
  test("activated: written with the change, and holds the deployment as the API shows it", async () => {
    verifies("deployment.events");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const [deployment] = organisation.deployments;
    const events = await eventsOf(organisation);
    expect(events).toEqual([
      {
        type: "deployment.activated",
        agent_id: parsePublicId("agent", deployment?.agent_id ?? ""),
        data: deployment,
      },
    ]);
    const writers = await query<{ writer: string }>(
      `select xmin::text as writer from events where organisation_id = $1
       union all select xmin::text from deployments where organisation_id = $1`,
      [parsePublicId("organisation", organisation.id)],
    );
    expect(writers).toHaveLength(2);
    expect(new Set(writers.map(({ writer }) => writer)).size).toBe(1);
  });

  test("failed: with its error; a superseded deployment has no event of its own", async () => {
    verifies("deployment.events");
    const organisation = await createOrganisationWithVersions(perch(), ["v1", "v2"]);
    const [first, second] = organisation.deployments;
    const canary = await deploy(organisation, { version: "v2", traffic_percent: 10 });
    const failed = await deploy(organisation, { version: "v2", traffic_percent: 10 });
    expect(failed.status).toBe("failed");
    const events = await eventsOf(organisation);
    expect(toTypesAndIds(events)).toEqual([
      ["deployment.activated", first?.id],
      ["deployment.activated", second?.id],
      ["deployment.activated", canary.id],
      ["deployment.failed", failed.id],
    ]);
    expect(events[3]?.data).toEqual(failed);
  });

  test("rolled_back: the deployment that was taken out of service; then activated: the one that replaces it", async () => {
    verifies("deployment.events");
    const organisation = await createOrganisationWithVersions(perch(), ["v1", "v2"]);
    const rollback = await rollBack(organisation, organisation.deployments[1]?.id ?? "");
    const ended = await getDeployment(organisation, organisation.deployments[1]?.id ?? "");
    const events = (await eventsOf(organisation)).slice(-2);
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ["deployment.rolled_back", ended],
      ["deployment.activated", rollback],
    ]);
    expect([ended.status, rollback.rollback_of]).toEqual(["rolled_back", ended.id]);
  });

  test("promoting a canary publishes activated, aborting one publishes rolled_back", async () => {
    verifies("deployment.events");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const canary = await deploy(organisation, { version: "v1", traffic_percent: 10 });
    const params = { agent_id: "bot", deployment_id: canary.id };
    ok(await organisation.call("POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote", { params }));
    const other = await deploy(organisation, { version: "v1", traffic_percent: 10 });
    const aborted = ok(
      await organisation.call("POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort", {
        params: { ...params, deployment_id: other.id },
      }),
    ).data;
    const events = (await eventsOf(organisation)).slice(2);
    expect(toTypesAndIds(events)).toEqual([
      ["deployment.activated", canary.id],
      ["deployment.activated", other.id],
      ["deployment.rolled_back", other.id],
    ]);
    expect(events[0]?.data.traffic_percent).toBe(100);
    expect(events[2]?.data).toEqual(aborted);
  });

  test("neither a rejected request nor a pending deployment publishes an event", async () => {
    verifies("deployment.events");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const first = organisation.deployments[0]?.id ?? "";
    const params = { agent_id: "bot", deployment_id: first };
    expectError(await organisation.call("POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback", { params }));
    expectError(await organisation.call("POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort", { params }));
    expect(await eventsOf(organisation)).toHaveLength(1);
    const { id } = await createDeployment(organisation, { version: "v1" });
    await expect.poll(async () => (await getDeployment(organisation, id)).status).toBe("active");
    expect(await eventsOf(organisation)).toHaveLength(2);
  });
});
