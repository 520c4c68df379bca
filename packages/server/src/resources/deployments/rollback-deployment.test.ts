import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import {
  createDeployment,
  createOrganisationWithVersions,
  deploy,
  getDeployment,
  invokeForReply,
  rollBack,
  setDraftReply,
  startSlowTool,
} from "../../../test/support/deployment-calls.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { createScriptedAgent } from "../../../test/support/invoke-calls.ts";

const perch = usePerch(
  { valkeyUrl: serviceUrl("PERCH_VALKEY_URL"), outboundAllowedPrivateRanges: ["127.0.0.0/8"] },
  { withWorker: true },
);
const operation = "POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback";
const getReply = (organisation: Organisation, context: object = {}) => invokeForReply(perch(), organisation, context);
const requestRollback = ({ call }: Organisation, deployment_id = "", as?: string) =>
  call(operation, { params: { agent_id: "bot", deployment_id } }, as);

async function createThreeDeployments() {
  const organisation = await createOrganisationWithVersions(perch(), ["v1", "v2", "v3"]);
  const [one = "", two = "", three = ""] = organisation.deployments.map(({ id }) => id);
  return { organisation, one, two, three };
}

describe(operation, () => {
  test("of the live one: 201 with a new, active deployment of what was live before; no record is removed", async () => {
    verifies("operations.rollback-deployment", "responses.rollback-deployment", "deployment.rollback-target");
    const { organisation, one, two, three } = await createThreeDeployments();
    const answer = await requestRollback(organisation, three);
    expect(answer.status).toBe(201);
    const rollback = ok(answer).data;
    expect(rollback).toMatchObject({
      status: "active",
      version: "v2",
      traffic_percent: 100,
      rollback_of: three,
      error: null,
    });
    expect(rollback.id).not.toBe(two);
    expect(await getReply(organisation)).toBe("v2");
    const states = await Promise.all([one, two, three, rollback.id].map((id) => getDeployment(organisation, id)));
    expect(states.map(({ status }) => status)).toEqual(["superseded", "superseded", "rolled_back", "active"]);
    expect(states[2]?.ended_at).toEqual(expect.any(String));
    expect(states[3]).toEqual(rollback);
  });

  test("a second rollback goes further back, and is 409 when nothing is left", async () => {
    verifies("deployment.rollback-further");
    const { organisation, three } = await createThreeDeployments();
    const second = await rollBack(organisation, three);
    const third = await rollBack(organisation, second.id);
    expect(third).toMatchObject({ version: "v1", rollback_of: second.id });
    expect(await getReply(organisation)).toBe("v1");
    const error = expectError(await requestRollback(organisation, third.id));
    expect(error).toMatchObject({ status: 409, code: "conflict" });
    expect(error.message).toBe(`Nothing was live in production before ${third.id}.`);
    expect(await getReply(organisation)).toBe("v1");
  });

  test("a deployment after a rollback is rolled back to what that rollback restored", async () => {
    verifies("deployment.rollback-further");
    const { organisation, three } = await createThreeDeployments();
    await rollBack(organisation, three);
    await setDraftReply(organisation, "v4");
    const fourth = await deploy(organisation, { version: "v4" });
    const back = await rollBack(organisation, fourth.id);
    expect(back).toMatchObject({ version: "v2", rollback_of: fourth.id });
    expect(await rollBack(organisation, back.id)).toMatchObject({ version: "v1" });
  });

  test("of an older one: its version runs again, and the live deployment is marked as rolled back", async () => {
    verifies("deployment.rollback-target");
    const { organisation, one, three } = await createThreeDeployments();
    expect(await rollBack(organisation, one)).toMatchObject({ version: "v1", rollback_of: three });
    expect(await getReply(organisation)).toBe("v1");
    expect(await getDeployment(organisation, three)).toMatchObject({ status: "rolled_back" });
    expect(await getDeployment(organisation, one)).toMatchObject({ status: "superseded" });
  });

  test("409 for a deployment that was already rolled back: repeating does not restore it", async () => {
    const { organisation, three } = await createThreeDeployments();
    await rollBack(organisation, three);
    const error = expectError(await requestRollback(organisation, three));
    expect([error.status, error.message]).toEqual([409, expect.stringContaining('"redeploy": true')]);
    expect(await getReply(organisation)).toBe("v2");
  });

  test("409 if nothing was live before, and for one that was never live", async () => {
    verifies("deployment.never-live", "deployment.rollback-further");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const first = organisation.deployments[0]?.id;
    expect(expectError(await requestRollback(organisation, first)).message).toBe(
      `Nothing was live in production before ${first}.`,
    );
    const canary = await deploy(organisation, { version: "v1", traffic_percent: 5 });
    const failed = await deploy(organisation, { version: "v1", traffic_percent: 5 });
    const aborted = await rollBack(organisation, canary.id);
    for (const { id, status } of [failed, aborted]) {
      const error = expectError(await requestRollback(organisation, id));
      expect(error.status).toBe(409);
      expect(error.message).toBe(`${id} was never live: it is ${status}. Choose one that was.`);
    }
    expect(await getReply(organisation)).toBe("v1");
  });

  test("of a canary aborts it: the live one gets all requests", async () => {
    verifies("deployment.never-live");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    await setDraftReply(organisation, "v2");
    const canary = await deploy(organisation, { version: "v2", traffic_percent: 99 });
    expect(await rollBack(organisation, canary.id)).toMatchObject({ id: canary.id, status: "rolled_back" });
    for (let i = 0; i < 5; i++) expect(await getReply(organisation)).toBe("v1");
    expect(await getDeployment(organisation, organisation.deployments[0]?.id ?? "")).toMatchObject({
      status: "active",
    });
  });

  test("of the live one ends its canary too", async () => {
    verifies("deployment.canary");
    const { organisation, three } = await createThreeDeployments();
    const canary = await deploy(organisation, { version: "v3", traffic_percent: 50 });
    await rollBack(organisation, three);
    expect(await getDeployment(organisation, canary.id)).toMatchObject({ status: "superseded" });
    for (let i = 0; i < 5; i++) expect(await getReply(organisation)).toBe("v2");
  });

  test("does not wait for a pending deployment, which then fails as obsolete", async () => {
    verifies("deployment.overtaken");
    const organisation = await createOrganisationWithVersions(perch(), ["v1", "v2"]);
    const slow = await startSlowTool();
    onTestFinished(slow.close);
    const params = { agent_id: "bot" };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { tools: [slow.tool] } }));
    const pending = await createDeployment(organisation, { version: "v3" });
    const elsewhere = await createDeployment(organisation, { version: "v3", environment: "staging" });
    await expect.poll(() => slow.calls.length).toBe(2);
    const error = expectError(await requestRollback(organisation, pending.id));
    expect(error.message).toBe(`${pending.id} was never live: it is pending. Choose one that was.`);
    await rollBack(organisation, organisation.deployments[1]?.id ?? "");
    expect(await getReply(organisation)).toBe("v1");
    expect((await getDeployment(organisation, pending.id)).status).toBe("pending");
    slow.answer();
    await expect.poll(async () => (await getDeployment(organisation, pending.id)).status).toBe("failed");
    expect((await getDeployment(organisation, pending.id)).error).toBe(
      "The environment was rolled back after this deployment was created. Deploy again if it is still wanted.",
    );
    expect(await getReply(organisation)).toBe("v1");
    await expect.poll(async () => (await getDeployment(organisation, elsewhere.id)).status).toBe("active");
    expect(await deploy(organisation, { version: "v3" })).toMatchObject({ status: "active" });
  });

  test("touches neither other environments nor other agents", async () => {
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    await setDraftReply(organisation, "staged");
    const staged = await deploy(organisation, { version: "staged", environment: "staging" });
    await setDraftReply(organisation, "v2");
    const second = await deploy(organisation, { version: "v2" });
    await createScriptedAgent(organisation, [{ reply: "other" }], {}, "other");
    const others = await deploy(organisation, { version: "v2" }, "other");
    await rollBack(organisation, second.id);
    expect(await getReply(organisation)).toBe("v1");
    expect(await getReply(organisation, { environment: "staging" })).toBe("staged");
    expect(await getDeployment(organisation, staged.id)).toEqual(staged);
    expect(await getDeployment(organisation, others.id, "other")).toEqual(others);
    expect(expectError(await requestRollback(organisation, others.id)).status).toBe(404);
  });

  test("changes neither the draft nor the agent's security", async () => {
    verifies("version.immutable");
    const organisation = await createOrganisationWithVersions(perch(), ["v1", "v2"]);
    const { call } = organisation;
    const params = { agent_id: "bot" };
    const security = { rateLimit: { enabled: true, requests: 1000, window: "1m" } };
    const before = ok(await call("PATCH /v1/agents/{agent_id}", { params, body: { security } })).data;
    await rollBack(organisation, organisation.deployments[1]?.id ?? "");
    expect(ok(await call("GET /v1/agents/{agent_id}", { params })).data).toEqual(before);
  });

  test("of two concurrent rollbacks the second is refused, and the previous version answers", async () => {
    const { organisation, three } = await createThreeDeployments();
    const answers = await Promise.all([requestRollback(organisation, three), requestRollback(organisation, three)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const query = { status: "active" as const };
    const params = { agent_id: "bot" };
    const active = ok(await organisation.call("GET /v1/agents/{agent_id}/deployments", { params, query })).data;
    expect(active).toHaveLength(1);
    expect(await getReply(organisation)).toBe(active[0]?.version);
  });

  test("403 for a key that may only read; 404 for an unknown deployment", async () => {
    verifies("permissions.deployments");
    const organisation = await createOrganisationWithVersions(perch(), ["v1", "v2"]);
    const reader = await organisation.createKey({ permissions: ["read"] });
    expect(expectError(await requestRollback(organisation, organisation.deployments[1]?.id, reader)).status).toBe(403);
    expect(expectError(await requestRollback(organisation, "dep_01h455vb4pex5vsknk084sn02q")).status).toBe(404);
    expect(await getReply(organisation)).toBe("v2");
  });
});
