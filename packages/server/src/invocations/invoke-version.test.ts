import { describe, expect, onTestFinished, test } from "vitest";
import { serviceUrl } from "../../../../scripts/testbed/scratch-database.ts";
import { verifies } from "../../../../spec/verifies.ts";
import { ok } from "../../test/contract-client.ts";
import { deploy, draftSays, rollBack, saysAt, withVersions } from "../../test/deploying.ts";
import { usePerch } from "../../test/harness.ts";
import { inBackground, invokeAt, recordOf } from "../../test/invoking.ts";
import { startToolServer } from "../../test/tool-server.ts";

const perch = usePerch(
  { valkeyUrl: serviceUrl("PERCH_VALKEY_URL"), outboundPrivateRanges: ["127.0.0.0/8"] },
  { runs: true },
);
const hello = (context: object) => ({ message: "hello", context });

describe("the environment of an invocation", () => {
  test("production unless another is named; each runs what is live there", async () => {
    verifies("invocation.environment");
    const organisation = await withVersions(perch(), ["v1"]);
    await draftSays(organisation, "v2");
    await deploy(organisation, { version: "v2", environment: "staging" });
    await draftSays(organisation, "draft");
    expect(await saysAt(perch(), organisation)).toBe("v1");
    expect(await saysAt(perch(), organisation, { environment: "production" })).toBe("v1");
    expect(await saysAt(perch(), organisation, { environment: "staging" })).toBe("v2");
  });

  test("one that nothing was ever deployed to runs the draft, as it is now", async () => {
    verifies("invocation.environment", "deployment.never-deployed-draft");
    const organisation = await withVersions(perch(), []);
    expect(await saysAt(perch(), organisation)).toBe("draft");
    await draftSays(organisation, "changed");
    expect(await saysAt(perch(), organisation)).toBe("changed");
    await deploy(organisation, { version: "v1" });
    await draftSays(organisation, "changed again");
    expect(await saysAt(perch(), organisation)).toBe("changed");
    expect(await saysAt(perch(), organisation, { environment: "Never Heard Of" })).toBe("changed again");
  });

  test("a failed first deployment leaves it to the draft", async () => {
    verifies("deployment.never-deployed-draft", "deployment.failed-keeps-previous");
    const organisation = await withVersions(perch(), []);
    const params = { agent_id: "bot" };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { fallback_models: ["acme/none"] } }));
    expect(await deploy(organisation, { version: "v1" })).toMatchObject({ status: "failed" });
    expect(await saysAt(perch(), organisation)).toBe("draft");
  });
});

describe("the record of an invocation", () => {
  test("says which version ran, by which deployment, in which environment", async () => {
    verifies("invocation.environment", "deployment.pinned-version");
    const organisation = await withVersions(perch(), ["v1"]);
    const run = async (context: object) => {
      const { data } = await invokeAt(perch(), organisation.adminKey, hello(context));
      return recordOf(organisation, data.request_id);
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
    const organisation = await withVersions(perch(), ["v1", "v2"]);
    expect(await saysAt(perch(), organisation)).toBe("v2");
    expect(await saysAt(perch(), organisation, { version: "v1" })).toBe("v1");
    expect(await saysAt(perch(), organisation, { version: "v2", environment: "staging" })).toBe("v2");
  });

  test("403 for a key that may write and not read; what is deployed it may run", async () => {
    verifies("deployment.pinned-version");
    const organisation = await withVersions(perch(), ["v1"]);
    const writer = await organisation.newKey({ permissions: ["write"] });
    for (const version of ["v1", "v9"]) {
      const { status, error } = await invokeAt(perch(), writer, hello({ version }));
      expect(status).toBe(403);
      expect(error.message).toContain("context.version");
    }
    expect((await invokeAt(perch(), writer, hello({}))).data.response).toBe("v1");
    const both = await organisation.newKey({ permissions: ["read", "write"] });
    expect((await invokeAt(perch(), both, hello({ version: "v1" }))).status).toBe(200);
  });

  test("404 for a version that is not there, and it is there once it is", async () => {
    verifies("deployment.pinned-version");
    const organisation = await withVersions(perch(), ["v1"]);
    for (const version of ["v2", "draft", "a b"]) {
      const { status, error } = await invokeAt(perch(), organisation.adminKey, hello({ version }));
      expect([status, error.code]).toEqual([404, "not_found"]);
    }
    await draftSays(organisation, "v2");
    await deploy(organisation, { version: "v2", environment: "staging" });
    expect(await saysAt(perch(), organisation, { version: "v2" })).toBe("v2");
  });
});

describe("what is under way while a deployment or a rollback happens", () => {
  test("a run ends on the version it began with, and its record says so", async () => {
    verifies("deployment.runs-under-way");
    const organisation = await withVersions(perch(), []);
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
    const began = await inBackground(perch(), organisation.adminKey, hello({}));
    await expect.poll(working, { timeout: 5000 }).toBe(1);
    ok(await draft("v2"));
    const second = await deploy(organisation, { version: "v2" });
    expect((await recordOf(organisation, began, () => true)).status).toBe("running");
    const next = await inBackground(perch(), organisation.adminKey, hello({}));
    await expect.poll(working, { timeout: 5000 }).toBe(2);
    await rollBack(organisation, second.id);
    work.resolve(undefined);
    expect(await recordOf(organisation, began)).toMatchObject({
      status: "completed",
      response: "v1",
      version: "v1",
      deployment_id: first.id,
      steps: 2,
    });
    expect(await recordOf(organisation, next)).toMatchObject({
      status: "completed",
      response: "v2",
      version: "v2",
      deployment_id: second.id,
    });
  });

  test("a session goes on, with what was said before, on the version that is live now", async () => {
    verifies("deployment.runs-under-way");
    const organisation = await withVersions(perch(), []);
    const params = { agent_id: "bot" };
    const echo = { model: "perch/echo", instructions: "" };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: echo }));
    await deploy(organisation, { version: "v1" });
    const context = { session_id: "s" };
    const say = (message: string) => invokeAt(perch(), organisation.adminKey, { message, context });
    const one = (await say("first")).data;
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { temperature: 1 } }));
    await deploy(organisation, { version: "v2" });
    const two = (await say("second")).data;
    // The echo counts all it hears: "first" twice, "second", and its own answer.
    expect([one.tokens_used, two.tokens_used]).toEqual([2, 4]);
    expect(await recordOf(organisation, one.request_id)).toMatchObject({ version: "v1", session_id: "s" });
    expect(await recordOf(organisation, two.request_id)).toMatchObject({ version: "v2", session_id: "s" });
  });
});
