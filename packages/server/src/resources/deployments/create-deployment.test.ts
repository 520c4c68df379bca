import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import {
  createDeployment,
  createOrganisationWithVersions,
  deploy,
  getDeployment,
  invokeForReply,
  setDraftReply,
} from "../../../test/support/deployment-calls.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
const operation = "POST /v1/agents/{agent_id}/deployments";
const params = { agent_id: "bot" };
const getReply = (organisation: Organisation, context: object = {}) => invokeForReply(perch(), organisation, context);
const countDeployments = async ({ call }: Organisation) =>
  ok(await call("GET /v1/agents/{agent_id}/deployments", { params, query: {} })).pagination.total;

describe(operation, () => {
  test("201 with a pending deployment, which then becomes active and live", async () => {
    verifies("operations.create-deployment", "responses.create-deployment");
    verifies("deployment.record-fields", "deployment.statuses");
    const organisation = await createOrganisationWithVersions(perch(), []);
    await setDraftReply(organisation, "one");
    const { call } = organisation;
    const me = ok(await call("GET /v1/me", {})).data.key.id;
    const answer = await call(operation, { params, body: { environment: "production", version: "v1" } });
    expect(answer.status).toBe(201);
    const created = ok(answer).data;
    expect(created).toEqual({
      id: expect.stringMatching(/^dep_[0-9a-z]{26}$/),
      agent_id: ok(await call("GET /v1/agents/{agent_id}", { params })).data.id,
      environment: "production",
      version: "v1",
      status: "pending",
      traffic_percent: 100,
      guards: null,
      guard_report: null,
      rollback_of: null,
      created_by: me,
      created_at: expect.any(String),
      activated_at: null,
      ended_at: null,
      error: null,
    });
    await expect.poll(async () => (await getDeployment(organisation, created.id)).status).toBe("active");
    const active = await getDeployment(organisation, created.id);
    expect(active).toEqual({ ...created, status: "active", activated_at: expect.any(String) });
    expect(Date.parse(active.activated_at ?? "")).toBeGreaterThanOrEqual(Date.parse(created.created_at));
    expect(await getReply(organisation)).toBe("one");
  });

  test("the next deployment supersedes it", async () => {
    verifies("deployment.statuses");
    const organisation = await createOrganisationWithVersions(perch(), ["v1", "v2"]);
    const [first, second] = organisation.deployments;
    expect(await getDeployment(organisation, first?.id ?? "")).toEqual({
      ...first,
      status: "superseded",
      ended_at: expect.any(String),
    });
    expect(await getDeployment(organisation, second?.id ?? "")).toEqual(second);
    expect(await getReply(organisation)).toBe("v2");
  });

  test("a label's first use snapshots the draft: later drafts do not touch what is live", async () => {
    verifies("deployment.label-snapshot");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    await setDraftReply(organisation, "changed since");
    expect(await getReply(organisation)).toBe("v1");
    expect(await getReply(organisation, { environment: "staging" })).toBe("changed since");
  });

  test("a used label deploys its snapshot again, also to another environment", async () => {
    verifies("deployment.label-snapshot", "deployment.label-reused");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    await deploy(organisation, { version: "v1", environment: "staging" });
    await setDraftReply(organisation, "v2");
    await deploy(organisation, { version: "v2" });
    expect(await deploy(organisation, { version: "v1", redeploy: true })).toMatchObject({ status: "active" });
    expect(await getReply(organisation)).toBe("v1");
    expect(await getReply(organisation, { environment: "staging" })).toBe("v1");
    await setDraftReply(organisation, "v1");
    expect(await deploy(organisation, { version: "v1" })).toMatchObject({ status: "active" });
  });

  test("409 for a used label and a changed draft: the error names what differs, and nothing is created", async () => {
    verifies("deployment.label-reused");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const { call } = organisation;
    await setDraftReply(organisation, "other");
    ok(await call("PATCH /v1/agents/{agent_id}", { params, body: { limits: { max_steps: 7 } } }));
    const error = expectError(await call(operation, { params, body: { environment: "production", version: "v1" } }));
    expect(error).toMatchObject({ status: 409, code: "conflict" });
    expect(error.message).toContain("The version v1 exists, and the draft differs from it in ");
    expect(error.message).toContain('"redeploy": true');
    expect(error.details?.map(({ field }) => field).sort()).toEqual(["instructions", "limits.max_steps"]);
    expect(await countDeployments(organisation)).toBe(1);
    expect(await getReply(organisation)).toBe("v1");
  });

  test("409 for tools in another order too, and the message names the field", async () => {
    const organisation = await createOrganisationWithVersions(perch(), []);
    const tool = (name: string) => ({ type: "mcp" as const, name, url: "https://tools.example/mcp" });
    const patch = (...names: string[]) =>
      organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { tools: names.map(tool) } });
    ok(await patch("a", "b"));
    await createDeployment(organisation, { version: "v1" });
    ok(await patch("b", "a"));
    const body = { environment: "production", version: "v1" };
    const error = expectError(await organisation.call(operation, { params, body }), "conflict");
    expect(error.message).toContain("differs from it in tools.");
    expect(error.details?.map(({ field }) => field)).toEqual(["tools"]);
  });

  test("security is not part of a version: changing it does not conflict with a used label", async () => {
    verifies("version.immutable");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const security = { rateLimit: { enabled: true, requests: 1000, window: "1m" } };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { security } }));
    expect(await deploy(organisation, { version: "v1" })).toMatchObject({ status: "active" });
    const agent = ok(await organisation.call("GET /v1/agents/{agent_id}", { params })).data;
    expect(agent.security).toEqual(security);
  });

  test("404 for redeploying a label that was never used", async () => {
    const organisation = await createOrganisationWithVersions(perch(), []);
    const body = { environment: "production", version: "v9", redeploy: true };
    expect(expectError(await organisation.call(operation, { params, body })).status).toBe(404);
    expect(await countDeployments(organisation)).toBe(0);
  });

  test("concurrent deployments become live in the order they were created: the last one stays live", async () => {
    verifies("deployment.order");
    const organisation = await createOrganisationWithVersions(perch(), []);
    const ids: string[] = [];
    for (const version of ["a", "b", "c", "d", "e"]) {
      await setDraftReply(organisation, version);
      ids.push((await createDeployment(organisation, { version })).id);
    }
    const statuses = () => Promise.all(ids.map(async (id) => (await getDeployment(organisation, id)).status));
    await expect
      .poll(statuses, { timeout: 10_000 })
      .toEqual(["superseded", "superseded", "superseded", "superseded", "active"]);
    expect(await getReply(organisation)).toBe("e");
  });

  test("less than 100 % is a canary: the live one stays active beside it", async () => {
    verifies("deployment.canary");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    await setDraftReply(organisation, "v2");
    const canary = await deploy(organisation, {
      version: "v2",
      traffic_percent: 50,
      guards: { max_error_rate_increase: 0.1 },
    });
    expect(canary).toMatchObject({
      status: "active",
      traffic_percent: 50,
      guards: { max_error_rate_increase: 0.1, min_runs: 50, window_seconds: 3600 },
    });
    expect(await getDeployment(organisation, organisation.deployments[0]?.id ?? "")).toMatchObject({
      status: "active",
    });
    const sessions = Array.from({ length: 20 }, (_, i) => `session-${i}`);
    const listReplies = async () => {
      const answers: string[] = [];
      for (const session_id of sessions) answers.push(await getReply(organisation, { session_id }));
      return answers;
    };
    const first = await listReplies();
    expect([...new Set(first)].sort()).toEqual(["v1", "v2"]);
    expect(await listReplies()).toEqual(first);
  });

  test("a second canary fails and names the first; 100 % supersedes both", async () => {
    verifies("deployment.canary");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const canary = await deploy(organisation, { version: "v1", traffic_percent: 5 });
    const second = await deploy(organisation, { version: "v1", traffic_percent: 5 });
    expect(second).toMatchObject({ status: "failed", activated_at: null, ended_at: expect.any(String) });
    expect(second.error).toBe(`There is a canary already: ${canary.id}. Promote or abort it first.`);
    await deploy(organisation, { version: "v1" });
    expect(await getDeployment(organisation, canary.id)).toMatchObject({ status: "superseded", traffic_percent: 5 });
  });

  test("a canary with nothing live beside it fails, and the draft still answers", async () => {
    verifies("deployment.canary");
    const organisation = await createOrganisationWithVersions(perch(), []);
    const created = await deploy(organisation, { version: "v1", traffic_percent: 10 });
    expect(created.status).toBe("failed");
    expect(created.error).toContain("Deploy with a traffic_percent of 100.");
    expect(await getReply(organisation)).toBe("draft");
  });

  test.each([
    ["environment", { environment: "Production" }],
    ["environment", { environment: "" }],
    ["environment", { environment: undefined }],
    ["version", { version: "" }],
    ["version", { version: "a b" }],
    ["version", { version: "draft" }],
    ["version", { version: "x".repeat(65) }],
    ["traffic_percent", { traffic_percent: 0 }],
    ["traffic_percent", { traffic_percent: 101 }],
    ["traffic_percent", { traffic_percent: 1.5 }],
    ["guards", { guards: { max_p95_ratio: 2 } }],
    ["guards", { traffic_percent: 5, guards: {} }],
    ["guards.max_p95_ratio", { traffic_percent: 5, guards: { max_p95_ratio: 0.5 } }],
    ["status", { status: "active" }],
  ])("400 for a wrong %s: %j", async (field, change) => {
    const { call } = await perch().createOrganisation();
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const body = { environment: "production", version: "v1", ...change } as never;
    const error = expectError(await call(operation, { params, body }));
    expect(error).toMatchObject({ status: 400, code: "invalid_request" });
    expect(error.details?.map((detail) => detail.field)).toEqual([field]);
  });

  test("403 for a key that may only read, 404 for an unknown agent", async () => {
    verifies("permissions.deployments");
    const organisation = await createOrganisationWithVersions(perch(), []);
    const body = { environment: "production", version: "v1" };
    const reader = await organisation.createKey({ permissions: ["read"] });
    expect(expectError(await organisation.call(operation, { params, body }, reader)).status).toBe(403);
    const writer = await organisation.createKey({ permissions: ["write"] });
    expect((await organisation.call(operation, { params, body }, writer)).status).toBe(201);
    expect(expectError(await organisation.call(operation, { params: { agent_id: "no" }, body })).status).toBe(404);
  });
});
