import { type OperationKey, operationKeys, operations, type Secret } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { beforeAll, describe, expect, test } from "vitest";
import {
  approvalAttempts,
  deploymentAttempts,
  deploymentLists,
  keyAttempts,
  memoryAttempts,
  runAttempts,
  secretAttempts,
  webhookAttempts,
} from "../support/attempts.ts";
import { ok } from "../support/contract-client.ts";
import { createModelProvider } from "../support/create-model-provider.ts";
import { deploy } from "../support/deployment-calls.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { addMemory } from "../support/memory-calls.ts";
import { createSecret } from "../support/secret-calls.ts";
import { insertWaitingRun } from "../support/stored-approvals.ts";
import { insertRuns } from "../support/stored-runs.ts";

const perch = usePerch({}, { withWorker: true });
let mine: Organisation;
let theirs: Organisation;
/** The ids of the other organisation's resources. */
const ids = {
  agentId: "",
  approvalId: "",
  clearId: "",
  deliveryId: "",
  deploymentId: "",
  eventId: "",
  keyId: "",
  memoryId: "",
  runId: "",
  webhookId: "",
};
let theirErasureId: string;
let theirSecrets: readonly Secret[];
let theirSessionId: string;

/** Operations that did not find the resources of others. */
const hiding = new Set<OperationKey>();
const noteHiding = (organisation: Organisation): Organisation => ({
  ...organisation,
  call: async (key, ...request) => {
    const answer = await organisation.call(key, ...request);
    if (answer.status === 404) hiding.add(key);
    return answer;
  },
});

beforeAll(async () => {
  mine = noteHiding(await perch().createOrganisation());
  theirs = await perch().createOrganisation();
  for (const { call } of [mine, theirs])
    ok(await call("POST /v1/agents", { body: { name: "shared-name", model: "perch/echo" } }));
  ok(await theirs.call("POST /v1/agents", { body: { name: "only-theirs", model: "perch/echo" } }));
  ids.agentId = ok(await theirs.call("GET /v1/agents/{agent_id}", { params: { agent_id: "shared-name" } })).data.id;
  await createModelProvider(theirs, "https://models.example");
  ids.keyId = ok(await theirs.call("GET /v1/me", {})).data.key.id;
  ids.clearId = ok(
    await theirs.call("DELETE /v1/agents/{agent_id}/memory", { params: { agent_id: "shared-name" }, query: {} }),
  ).data.id;
  theirErasureId = ok(await theirs.call("DELETE /v1/users/{user_id}/data", { params: { user_id: "user-42" } })).data.id;
  const signIn = { body: { api_key: theirs.adminKey } };
  theirSessionId = ok(await theirs.call("POST /v1/console/sessions", signIn)).data.id;
  theirSecrets = [await createSecret(theirs)];
  for (const agent of ["shared-name", "only-theirs"]) await createSecret(theirs, { agent });
  ids.memoryId = (await addMemory(theirs, "The secret word is tulip.", "shared-name")).id;
  ids.deploymentId = (await deploy(theirs, { version: "theirs" }, "shared-name")).id;
  const webhook = { url: "https://hooks.example/theirs", events: ["agent.failed" as const], agent_id: "only-theirs" };
  ids.webhookId = ok(await theirs.call("POST /v1/webhooks", { body: webhook })).data.id;
  const tested = await theirs.call("POST /v1/webhooks/{webhook_id}/test", { params: { webhook_id: ids.webhookId } });
  ids.deliveryId = ok(tested).data.id;
  ids.eventId = ok(tested).data.event_id;
  ids.approvalId = (await insertWaitingRun(perch(), theirs, { agent: "only-theirs" })).approvals[0] ?? "";
  await insertRuns(perch().database.adminUrl, {
    organisation: theirs.id,
    agent: ids.agentId,
    deployment: ids.deploymentId,
  });
  ids.runId = ok(await theirs.call("GET /v1/invocations", { query: {} })).data[0]?.request_id ?? "";
});

/** Every permission, because no role may decide. */
const everyPermission = ["read", "write", "delete", "manage", "approve"];

const statusesOf = async (answers: readonly Promise<{ readonly status: number }>[]) =>
  (await Promise.all(answers)).map(({ status }) => status);

/** The same attempts for an organisation's key and for a key that belongs to one agent. */
describe.each(["organisation key", "agent-scoped key"])(
  "two organisations with agents of the same name, %s",
  (kind) => {
    let key: string;
    beforeAll(async () => {
      key =
        kind === "organisation key" ? mine.adminKey : await mine.createKey({ role: "admin", agent_id: "shared-name" });
    });

    test("404 hides agents of other organisations, by id and by name, for reads and changes alike", async () => {
      verifies("auth.other-organisation-404");
      for (const agent_id of [ids.agentId, "only-theirs"]) {
        const params = { agent_id };
        const answers = await Promise.all([
          mine.call("GET /v1/agents/{agent_id}", { params }, key),
          mine.call("PATCH /v1/agents/{agent_id}", { params, body: { temperature: 2 } }, key),
          mine.call("DELETE /v1/agents/{agent_id}", { params }, key),
          mine.call("POST /v1/agents/{agent_id}/pause", { params }, key),
          mine.call("POST /v1/agents/{agent_id}/resume", { params }, key),
          mine.call("GET /v1/agents/{agent_id}/logs", { params, query: {} }, key),
          mine.call("POST /v1/agents/{agent_id}/logs", { params, body: { entries: [{ message: "x" }] } }, key),
          mine.call("GET /v1/agents/{agent_id}/metrics", { params, query: { metric: "tokens" } }, key),
          mine.call("GET /v1/agents/{agent_id}/connections", { params }, key),
          mine.call("POST /v1/agents/{agent_id}/connections", { params, body: { user_id: "ada", tool: "mail" } }, key),
          mine.call("GET /v1/metrics", { query: { agent_ids: `shared-name,${agent_id}` } }, key),
          mine.call("GET /v1/invocations", { query: params }, key),
          mine.call("GET /v1/deployments", { query: params }, key),
        ]);
        expect(answers).toHaveLength(13);
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
      }
    });

    test("404 hides deployments and versions of other organisations, through their agents and through one's own", async () => {
      verifies("auth.other-organisation-404");
      for (const agent_id of [ids.agentId, "only-theirs", "shared-name"])
        expect(new Set(await statusesOf(deploymentAttempts(mine, ids, agent_id, key)))).toEqual(new Set([404]));
      for (const agent_id of [ids.agentId, "only-theirs"])
        expect(await statusesOf(deploymentLists(mine, agent_id, key))).toEqual([404, 404, 404, 404]);
      const params = { agent_id: "shared-name" };
      const { data } = ok(await mine.call("GET /v1/agents/{agent_id}/deployments", { params, query: {} }, key));
      expect(data).toEqual([]);
      expect(ok(await mine.call("GET /v1/agents/{agent_id}/versions", { params, query: {} }, key)).data).toEqual([]);
      const kept = { params: { agent_id: "shared-name", deployment_id: ids.deploymentId } };
      expect(ok(await theirs.call("GET /v1/agents/{agent_id}/deployments/{deployment_id}", kept)).data).toMatchObject({
        status: "active",
        traffic_percent: 100,
      });
    });

    test("lists over all agents leave out the resources of other organisations", async () => {
      verifies("auth.other-organisation-404");
      expect(ok(await theirs.call("GET /v1/deployments", { query: {} })).data).toHaveLength(1);
      expect(ok(await mine.call("GET /v1/deployments", { query: {} }, key)).data).toEqual([]);
      expect(ok(await theirs.call("GET /v1/invocations", { query: {} })).data).toHaveLength(2);
      for (const query of [{}, { deployment_id: ids.deploymentId }])
        expect(ok(await mine.call("GET /v1/invocations", { query }, key)).data).toEqual([]);
      const { series } = ok(await mine.call("GET /v1/metrics", { query: {} }, key)).data;
      expect(new Set(series.map(({ agent_name }) => agent_name))).toEqual(new Set(["shared-name"]));
    });

    test("404 hides runs of other organisations, through their agents and through one's own", async () => {
      verifies("auth.other-organisation-404");
      for (const agent_id of [ids.agentId, "only-theirs", "shared-name"])
        expect(new Set(await statusesOf(runAttempts(mine, ids, agent_id, key)))).toEqual(new Set([404]));
    });

    test("404 hides memories of other organisations, through their agents and through one's own", async () => {
      verifies("auth.other-organisation-404");
      for (const agent_id of [ids.agentId, "only-theirs", "shared-name"])
        expect(new Set(await statusesOf(memoryAttempts(mine, ids, agent_id, key)))).toEqual(new Set([404]));
      const params = { agent_id: "shared-name" };
      for (const mode of ["hybrid", "vector", "text"] as const) {
        const body = { query: "The secret word is tulip.", mode };
        expect(ok(await mine.call("POST /v1/agents/{agent_id}/memory/search", { params, body }, key)).data).toEqual([]);
      }
      expect(ok(await mine.call("GET /v1/agents/{agent_id}/memory", { params, query: {} }, key)).data).toEqual([]);
      const kept = { params: { agent_id: "shared-name", memory_id: ids.memoryId } };
      expect(ok(await theirs.call("GET /v1/agents/{agent_id}/memory/{memory_id}", kept)).data.content).toContain(
        "tulip",
      );
    });

    test("404 hides webhooks, deliveries and events of other organisations; lists leave them out", async () => {
      verifies("auth.other-organisation-404");
      expect(new Set(await statusesOf(webhookAttempts(mine, ids, key)))).toEqual(new Set([404]));
      expect(ok(await mine.call("GET /v1/webhooks", { query: {} }, key)).data).toEqual([]);
      expect(ok(await mine.call("GET /v1/events", { query: {} }, key)).data).toEqual([]);
      const params = { webhook_id: ids.webhookId };
      expect(ok(await theirs.call("GET /v1/webhooks/{webhook_id}", { params })).data.status).toBe("enabled");
    });

    test("404 hides approvals of other organisations from keys that may decide; lists leave them out", async () => {
      verifies("auth.other-organisation-404");
      const agent = kind === "organisation key" ? {} : { agent_id: "shared-name" };
      const decider = await mine.createKey({ permissions: everyPermission, ...agent });
      expect(await statusesOf(approvalAttempts(mine, ids, decider))).toEqual([404, 404, 404, 404, 404, 404]);
      const { data, open } = ok(await mine.call("GET /v1/approvals", { query: {} }, decider));
      expect([data, open.count]).toEqual([[], 0]);
      const params = { approval_id: ids.approvalId };
      expect(ok(await theirs.call("GET /v1/approvals/{approval_id}", { params })).data.status).toBe("open");
    });

    test("model providers of other organisations cannot be reached", async () => {
      const params = { provider_name: "acme" };
      const answers = await Promise.all([
        mine.call("GET /v1/providers/{provider_name}", { params }, key),
        mine.call("PATCH /v1/providers/{provider_name}", { params, body: { api_key: null } }, key),
        mine.call("DELETE /v1/providers/{provider_name}", { params }, key),
      ]);
      const hidden = kind === "organisation key" ? 404 : 403;
      expect(answers.map(({ status }) => status)).toEqual([hidden, hidden, hidden]);
      expect(
        ok(await mine.call("GET /v1/models", { query: {} }, key)).data.map(({ provider }) => provider),
      ).not.toContain("acme");
    });

    test("404 hides secrets of other organisations, through their agents and through one's own", async () => {
      verifies("auth.other-organisation-404");
      for (const agent_id of [ids.agentId, "only-theirs", "shared-name"])
        expect(new Set(await statusesOf(secretAttempts(mine, agent_id, key)))).toEqual(new Set([404]));
      const params = { secret_name: "github_token" };
      const answers = await Promise.all([
        mine.call("GET /v1/secrets/{secret_name}", { params }, key),
        mine.call("PATCH /v1/secrets/{secret_name}", { params, body: { value: "of the intruder" } }, key),
        mine.call("DELETE /v1/secrets/{secret_name}", { params }, key),
      ]);
      const hidden = kind === "organisation key" ? 404 : 403;
      expect(answers.map(({ status }) => status)).toEqual([hidden, hidden, hidden]);
      expect(ok(await theirs.call("GET /v1/secrets", { query: {} })).data).toEqual(theirSecrets);
    });

    test("an agent of another organisation and one that never existed get the same response", async () => {
      const absent = "agent_01h455vb4pex5vsknk084sn02q";
      const [foreign, never] = await Promise.all(
        [ids.agentId, absent].map(async (agent_id) => {
          const { status, body } = await mine.call("GET /v1/agents/{agent_id}", { params: { agent_id } }, key);
          return { status, body: JSON.stringify(body).replaceAll(agent_id, "…") };
        }),
      );
      expect(foreign).toEqual(never);
    });

    test("a caller reads its own organisation, which a change of another one leaves as it is", async () => {
      verifies("auth.other-organisation-404");
      const { call } = await perch().createOrganisation();
      ok(await call("PATCH /v1/organisation", { body: { manage_grants_approve: false } }));
      const { data } = ok(await mine.call("GET /v1/organisation", {}, key));
      expect(data).toMatchObject({ id: mine.id, manage_grants_approve: true });
    });

    test("lists, names and keys are limited to the caller's organisation", async () => {
      const own = ok(await mine.call("GET /v1/agents/{agent_id}", { params: { agent_id: "shared-name" } }, key)).data
        .id;
      expect(own).not.toBe(ids.agentId);
      const { data, pagination } = ok(await mine.call("GET /v1/agents", { query: { limit: 100 } }, key));
      expect(data.map(({ id }) => id)).toEqual([own]);
      expect(pagination.total).toBe(1);
      expect(await statusesOf(keyAttempts(mine, ids, key))).toEqual([404, 404, 404, 404, 404]);
      expect((await mine.call("GET /v1/keys", { query: { agent_id: ids.agentId } }, key)).status).toBe(404);
      const session = { params: { session_id: theirSessionId } };
      expect((await mine.call("DELETE /v1/console/sessions/{session_id}", session, key)).status).toBe(404);
      expect(ok(await mine.call("GET /v1/console/sessions", {}, key)).data).toEqual([]);
      const erasure = { params: { erasure_id: theirErasureId } };
      // Erasures are of all agents, so a key of one sees none at all.
      const [one, all] = [
        await mine.call("GET /v1/erasures/{erasure_id}", erasure, key),
        await mine.call("GET /v1/erasures", {}, key),
      ];
      if (all.status === 403) expect(one.status).toBe(403);
      else expect([one.status, ok(all).data]).toEqual([404, []]);
      const body = { name: "x", role: "viewer" as const, agent_id: ids.agentId };
      expect((await mine.call("POST /v1/keys", { body }, key)).status).toBe(404);
      const keys = ok(await mine.call("GET /v1/keys", { query: { limit: 100 } }, key)).data;
      expect(keys.map(({ id }) => id)).not.toContain(ids.keyId);
    });
  },
);

test("an agent-scoped key cannot reach another agent of its organisation", async () => {
  verifies("auth.other-agent-404");
  const bound = await theirs.createKey({ role: "admin", agent_id: "shared-name" });
  for (const agent_id of [
    "only-theirs",
    ok(await theirs.call("GET /v1/agents/{agent_id}", { params: { agent_id: "only-theirs" } })).data.id,
  ]) {
    expect((await theirs.call("GET /v1/agents/{agent_id}", { params: { agent_id } }, bound)).status).toBe(404);
    expect((await theirs.call("DELETE /v1/agents/{agent_id}", { params: { agent_id } }, bound)).status).toBe(404);
    const attempts = [
      ...runAttempts(theirs, ids, agent_id, bound),
      ...deploymentAttempts(theirs, ids, agent_id, bound),
      ...deploymentLists(theirs, agent_id, bound),
      ...memoryAttempts(theirs, ids, agent_id, bound),
      ...secretAttempts(theirs, agent_id, bound),
    ];
    expect(new Set(await statusesOf(attempts))).toEqual(new Set([404]));
  }
});

test("an agent-scoped key cannot decide for another agent of its organisation", async () => {
  verifies("auth.other-agent-404");
  const bound = await theirs.createKey({ permissions: everyPermission, agent_id: "shared-name" });
  expect(await statusesOf(approvalAttempts(theirs, ids, bound))).toEqual([404, 404, 404, 404, 404, 404]);
  expect(ok(await theirs.call("GET /v1/approvals", { query: {} }, bound)).data).toEqual([]);
});

test("an agent-scoped key reaches sessions of its agent's keys, and no others of its organisation", async () => {
  verifies("auth.other-agent-404", "console.sessions-listed");
  const bound = await theirs.createKey({ role: "admin", agent_id: "shared-name" });
  const other = await theirs.createKey({ role: "viewer", agent_id: "only-theirs" });
  const signIn = async (api_key: string) =>
    ok(await theirs.call("POST /v1/console/sessions", { body: { api_key } })).data.id;
  const [own, hidden] = [await signIn(bound), await signIn(other)];
  const listed = ok(await theirs.call("GET /v1/console/sessions", {}, bound)).data;
  expect(listed.map(({ id }) => id)).toEqual([own]);
  for (const session_id of [hidden, theirSessionId]) {
    const ended = await theirs.call("DELETE /v1/console/sessions/{session_id}", { params: { session_id } }, bound);
    expect(ended.status).toBe(404);
  }
});

test("an agent-scoped key cannot reach a webhook of another agent of its organisation", async () => {
  verifies("auth.other-agent-404");
  const bound = await theirs.createKey({ role: "admin", agent_id: "shared-name" });
  // The last two name an agent that this key can reach.
  expect(new Set(await statusesOf(webhookAttempts(theirs, ids, bound).slice(0, -2)))).toEqual(new Set([404]));
});

/**
 * Operations on one connection are in connection-tenancy.test.ts. An erasure is about the caller's own user, who may
 * have no data.
 */
const triedElsewhere = (key: OperationKey): boolean =>
  key.includes("/{connection_id}") || key === "DELETE /v1/users/{user_id}/data";

test("every operation that names a resource was tried on resources of others", () => {
  const named = operationKeys.filter((key) => key.includes("{") && operations[key].permission !== "public");
  expect(named.length).toBeGreaterThan(60);
  expect(Object.values(ids)).not.toContain("");
  expect(named.filter((key) => !hiding.has(key) && !triedElsewhere(key))).toEqual([]);
});
