import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import {
  createOrganisationWithVersions,
  deploy,
  invokeForReply,
  rollBack,
  setDraftReply,
} from "../../../test/support/deployment-calls.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { invokeAgent, invokeInBackground, waitForRunRecord } from "../../../test/support/invoke-calls.ts";

const perch = usePerch(
  { valkeyUrl: serviceUrl("PERCH_VALKEY_URL"), outboundAllowedPrivateRanges: ["127.0.0.0/8"] },
  { withWorker: true },
);
const development = usePerch({ draftByDefault: true }, { withWorker: true });
const hello = (context: object) => ({ message: "hello", context });

describe("the environment of an invocation", () => {
  test("is production by default; each environment runs what is live there", async () => {
    verifies("invocation.environment");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    await setDraftReply(organisation, "v2");
    await deploy(organisation, { version: "v2", environment: "staging" });
    await setDraftReply(organisation, "draft");
    expect(await invokeForReply(perch(), organisation)).toBe("v1");
    expect(await invokeForReply(perch(), organisation, { environment: "production" })).toBe("v1");
    expect(await invokeForReply(perch(), organisation, { environment: "staging" })).toBe("v2");
  });

  test("without any deployment it runs the current draft", async () => {
    verifies("invocation.environment", "deployment.never-deployed-draft");
    const organisation = await createOrganisationWithVersions(perch(), []);
    expect(await invokeForReply(perch(), organisation)).toBe("draft");
    await setDraftReply(organisation, "changed");
    expect(await invokeForReply(perch(), organisation)).toBe("changed");
    await deploy(organisation, { version: "v1" });
    await setDraftReply(organisation, "changed again");
    expect(await invokeForReply(perch(), organisation)).toBe("changed");
    expect(await invokeForReply(perch(), organisation, { environment: "Never Heard Of" })).toBe("changed again");
  });

  test("after a failed first deployment it still runs the draft", async () => {
    verifies("deployment.never-deployed-draft", "deployment.failed-keeps-previous");
    const organisation = await createOrganisationWithVersions(perch(), []);
    const params = { agent_id: "bot" };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { fallback_models: ["acme/none"] } }));
    expect(await deploy(organisation, { version: "v1" })).toMatchObject({ status: "failed" });
    expect(await invokeForReply(perch(), organisation)).toBe("draft");
  });
});

describe("the record of an invocation", () => {
  test("has the version, the deployment and the environment", async () => {
    verifies("invocation.environment", "deployment.pinned-version", "deployment.never-deployed-draft");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const run = async (context: object) => {
      const { data } = await invokeAgent(perch(), organisation.adminKey, hello(context));
      return waitForRunRecord(organisation, data.request_id);
    };
    const deployment_id = organisation.deployments[0]?.id;
    expect(await run({})).toMatchObject({ environment: "production", version: "v1", deployment_id });
    expect(await run({ environment: "staging" })).toMatchObject({
      environment: "staging",
      version: null,
      deployment_id: null,
    });
    expect(await run({ version: "v1", environment: "staging" })).toMatchObject({
      environment: "staging",
      version: "v1",
      deployment_id: null,
    });
    const params = { agent_id: "bot" };
    const { data } = ok(await organisation.call("GET /v1/agents/{agent_id}/invocations", { params, query: {} }));
    expect(data.map(({ version }) => version)).toEqual(["v1", null, "v1"]);
    expect(data.map((item) => item.deployment_id)).toEqual([null, null, deployment_id]);
  });
});

describe("context.version", () => {
  test("runs that version, whatever is deployed", async () => {
    verifies("deployment.pinned-version");
    const organisation = await createOrganisationWithVersions(perch(), ["v1", "v2"]);
    expect(await invokeForReply(perch(), organisation)).toBe("v2");
    expect(await invokeForReply(perch(), organisation, { version: "v1" })).toBe("v1");
    expect(await invokeForReply(perch(), organisation, { version: "v2", environment: "staging" })).toBe("v2");
  });

  test("403 for a key without read, which may still run the deployed version", async () => {
    verifies("deployment.pinned-version");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const writer = await organisation.createKey({ permissions: ["write"] });
    for (const version of ["v1", "v9"]) {
      const { status, error } = await invokeAgent(perch(), writer, hello({ version }));
      expect(status).toBe(403);
      expect(error.message).toContain("context.version");
    }
    expect((await invokeAgent(perch(), writer, hello({}))).data.response).toBe("v1");
    const both = await organisation.createKey({ permissions: ["read", "write"] });
    expect((await invokeAgent(perch(), both, hello({ version: "v1" }))).status).toBe(200);
  });

  test("404 for a version that does not exist yet, and 200 once it does", async () => {
    verifies("deployment.pinned-version");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    for (const version of ["v2", "Draft", "a b"]) {
      const { status, error } = await invokeAgent(perch(), organisation.adminKey, hello({ version }));
      expect([status, error.code]).toEqual([404, "not_found"]);
    }
    await setDraftReply(organisation, "v2");
    await deploy(organisation, { version: "v2", environment: "staging" });
    expect(await invokeForReply(perch(), organisation, { version: "v2" })).toBe("v2");
  });
});

describe("context.version draft", () => {
  test("runs the draft as it is now, whatever is deployed, and the record has no version", async () => {
    verifies("deployment.draft-invoked");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    await setDraftReply(organisation, "changed");
    expect(await invokeForReply(perch(), organisation, { version: "draft" })).toBe("changed");
    await setDraftReply(organisation, "changed again");
    const context = { version: "draft", environment: "staging" };
    const { data } = await invokeAgent(perch(), organisation.adminKey, hello(context));
    expect(data.response).toBe("changed again");
    expect(await waitForRunRecord(organisation, data.request_id)).toMatchObject({
      environment: "staging",
      version: null,
      deployment_id: null,
    });
    expect(await invokeForReply(perch(), organisation)).toBe("v1");
  });

  test("403 for a key without read, which learns nothing of the draft", async () => {
    verifies("deployment.draft-invoked");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    const writer = await organisation.createKey({ permissions: ["write"] });
    const { status, error } = await invokeAgent(perch(), writer, hello({ version: "draft" }));
    expect([status, error.code]).toEqual([403, "forbidden"]);
  });

  test("no version can be labelled so: the 400 gives the reason", async () => {
    verifies("deployment.draft-invoked");
    const organisation = await createOrganisationWithVersions(perch(), []);
    const body = { environment: "production", version: "draft" };
    const params = { agent_id: "bot" };
    const { status, body: answer } = await organisation.call("POST /v1/agents/{agent_id}/deployments", {
      params,
      body,
    });
    expect(status).toBe(400);
    expect(JSON.stringify(answer)).toContain("`draft` is reserved: it names the agent's draft");
  });
});

describe("a server that runs drafts by default", () => {
  test("runs the draft if neither an environment nor a version is named, else the deployed version", async () => {
    verifies("deployment.draft-by-default");
    const organisation = await createOrganisationWithVersions(development(), ["v1"]);
    await setDraftReply(organisation, "changed");
    expect(await invokeForReply(development(), organisation)).toBe("changed");
    expect(await invokeForReply(development(), organisation, { session_id: "s" })).toBe("changed");
    expect(await invokeForReply(development(), organisation, { environment: "production" })).toBe("v1");
    expect(await invokeForReply(development(), organisation, { version: "v1" })).toBe("v1");
    const writer = await organisation.createKey({ permissions: ["write"] });
    expect((await invokeAgent(development(), writer, hello({}))).data.response).toBe("changed");
  });
});

describe("during a deployment or a rollback", () => {
  test("a run ends on the version it began with, and its record has that version", async () => {
    verifies("deployment.runs-under-way");
    const organisation = await createOrganisationWithVersions(perch(), []);
    const work = Promise.withResolvers<undefined>();
    const server = await startToolServer(({ method }) => (method === "OPTIONS" ? undefined : work.promise));
    onTestFinished(server.close);
    const { url } = server;
    const parameters = { type: "object" as const };
    const tool = {
      type: "http" as const,
      name: "wait",
      description: "Waits.",
      method: "POST" as const,
      url,
      parameters,
    };
    const script = (label: string) => ({
      steps: [{ tool_calls: [{ name: "wait", arguments: {} }] }, { reply: label }],
    });
    const params = { agent_id: "bot" };
    const draft = (label: string) =>
      organisation.call("PATCH /v1/agents/{agent_id}", {
        params,
        body: { instructions: JSON.stringify(script(label)), tools: [tool] },
      });
    const working = () => server.calls.filter(({ method }) => method === "POST").length;
    ok(await draft("v1"));
    const first = await deploy(organisation, { version: "v1" });
    const began = await invokeInBackground(perch(), organisation.adminKey, hello({}));
    await expect.poll(working).toBe(1);
    ok(await draft("v2"));
    const second = await deploy(organisation, { version: "v2" });
    expect((await waitForRunRecord(organisation, began, () => true)).status).toBe("running");
    const next = await invokeInBackground(perch(), organisation.adminKey, hello({}));
    await expect.poll(working).toBe(2);
    await rollBack(organisation, second.id);
    work.resolve(undefined);
    expect(await waitForRunRecord(organisation, began)).toMatchObject({
      status: "completed",
      response: "v1",
      version: "v1",
      deployment_id: first.id,
      steps: 2,
    });
    expect(await waitForRunRecord(organisation, next)).toMatchObject({
      status: "completed",
      response: "v2",
      version: "v2",
      deployment_id: second.id,
    });
  });

  test("a session continues with its history on the version that is live now", async () => {
    verifies("deployment.runs-under-way");
    const organisation = await createOrganisationWithVersions(perch(), []);
    const params = { agent_id: "bot" };
    const echo = { model: "perch/echo", instructions: "" };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: echo }));
    await deploy(organisation, { version: "v1" });
    const context = { session_id: "s" };
    const say = (message: string) => invokeAgent(perch(), organisation.adminKey, { message, context });
    const one = (await say("first")).data;
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { temperature: 1 } }));
    await deploy(organisation, { version: "v2" });
    const two = (await say("second")).data;
    // The echo model counts all it is sent: "first" twice, "second", and its own answer.
    expect([one.tokens_used, two.tokens_used]).toEqual([2, 4]);
    expect(await waitForRunRecord(organisation, one.request_id)).toMatchObject({ version: "v1", session_id: "s" });
    expect(await waitForRunRecord(organisation, two.request_id)).toMatchObject({ version: "v2", session_id: "s" });
  });
});
