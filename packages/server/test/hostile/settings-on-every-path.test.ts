import {
  type AgentAuth,
  agentSourceOf,
  type Operation,
  type OperationKey,
  operationKeys,
  operations,
  type SecuritySettings,
} from "@perch/contract";
import { generateTotpCode } from "@perch/testkit/identity/one-time-code.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { signEnrolment } from "../../src/auth/mfa-rules.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { isAudited } from "../../src/resources/audit/audit-entry.ts";
import { buildRequest, expectError, ok } from "../support/contract-client.ts";
import { createDeployment } from "../support/deployment-calls.ts";
import { type Organisation, type Perch, startPerch, usePerch } from "../support/harness.ts";
import { insertWaitingRun } from "../support/stored-approvals.ts";
import { insertRuns } from "../support/stored-runs.ts";

const perch = usePerch();

interface Settings {
  readonly security?: SecuritySettings;
  readonly auth?: AgentAuth;
}

/** Each refuses the test's own client. */
const settings = {
  ipWhitelist: { security: { ipWhitelist: { enabled: true, addresses: ["203.0.113.0/24"] } } },
  mtls: { security: { mtls: { enabled: true, clientCert: "c", clientKey: "k", caCert: "ca" } } },
  auth: { auth: { type: "jwt", secret: "a secret that has 32 bytes or more" } },
  mfa: { security: { mfa: { enabled: true, operations: ["delete", "update"] } } },
} as const satisfies Record<string, Settings>;
type Setting = keyof typeof settings;

const url = "https://hooks.example/perch";
const events = ["agent.failed" as const];

/** An organisation whose agent `vault` has one of everything that can belong to an agent, and then gets a setting. */
async function createGuarded(setting: Setting) {
  const organisation = await perch().createOrganisation();
  const { call } = organisation;
  for (const name of ["vault", "open"]) ok(await call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
  const createWebhook = async (agent_id?: string) =>
    ok(await call("POST /v1/webhooks", { body: { url, events, ...(agent_id && { agent_id }) } })).data.id;
  const webhook_id = await createWebhook("vault");
  const forAll = await createWebhook();
  const delivery = ok(await call("POST /v1/webhooks/{webhook_id}/test", { params: { webhook_id } })).data;
  const newKey = { name: "bound", role: "admin" as const, agent_id: "vault" };
  const key = ok(await call("POST /v1/keys", { body: newKey })).data;
  // The key that sets `auth` has a grace period of an hour, so another one asks.
  const otherKey = await organisation.createKey({ permissions: ["read", "write", "delete", "manage", "approve"] });
  const params = { agent_id: "vault" };
  const { id: vaultId } = ok(await call("GET /v1/agents/{agent_id}", { params })).data;
  await insertRuns(perch().database.adminUrl, { organisation: organisation.id, agent: vaultId });
  const { approvals } = await insertWaitingRun(perch(), organisation, { agent: "vault" });
  await createDeployment(organisation, { version: "v1" }, "vault");
  ok(await call("PATCH /v1/agents/{agent_id}", { params, query: { force: true }, body: settings[setting] }));
  const ids = {
    ...params,
    webhook_id,
    delivery_id: delivery.id,
    event_id: delivery.event_id,
    key_id: key.id,
    approval_id: approvals[0] ?? "",
  };
  return { organisation, otherKey, ids, vaultId, forAll, boundKey: key.key };
}

/** Valid bodies of operations whose agent is known only from the body. */
const bodies: Partial<Record<OperationKey, object>> = {
  "POST /v1/webhooks": { url, events, agent_id: "vault" },
  "PATCH /v1/webhooks/{webhook_id}": { enabled: false },
  "POST /v1/webhooks/{webhook_id}/rotate": {},
  "POST /v1/webhooks/{webhook_id}/redeliver": { since: "2026-01-01T00:00:00Z" },
  "POST /v1/keys": { name: "new", role: "viewer", agent_id: "vault" },
  "PATCH /v1/keys/{key_id}": { name: "renamed" },
  "POST /v1/keys/{key_id}/rotate": {},
  "POST /v1/approvals/{approval_id}/approve": {},
  "POST /v1/approvals/{approval_id}/reject": {},
  "POST /v1/approvals/{approval_id}/answer": { answer: "yes" },
};

async function request(key: OperationKey, apiKey: string, parts: Parameters<typeof buildRequest>[1]) {
  const { path, init } = buildRequest(key, parts);
  const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${apiKey}` };
  const response = await fetch(perch().url + path, { ...init, headers });
  return { status: response.status, text: await response.text() };
}

const sourceOf = (key: OperationKey) => agentSourceOf(operations[key] as Operation);
const naming = operationKeys.filter((key) => !["none", "listed"].includes(sourceOf(key)));
const listing = operationKeys.filter((key) => ["query", "listed"].includes(sourceOf(key)) && !isAudited(key));

const refusalOf = (setting: Setting, key: OperationKey): number | undefined => {
  // The policy of an approval sets whether its decision needs a code.
  if (setting === "mfa" && (!isAudited(key) || key.includes("/v1/approvals/"))) return undefined;
  return setting === "ipWhitelist" ? 403 : 401;
};

describe.each(Object.keys(settings) as Setting[])("an agent with %s", (setting) => {
  test("refuses on every path to its data or its control, as on its own paths", async () => {
    const { otherKey, ids } = await createGuarded(setting);
    const wrong: string[] = [];
    for (const key of naming) {
      const query = sourceOf(key) === "query" ? { agent_id: "vault" } : {};
      const { status, text } = await request(key, otherKey, { params: ids, query, body: bodies[key] });
      const expected = refusalOf(setting, key);
      const isRight = expected === undefined ? ![401, 403].includes(status) : status === expected;
      if (!isRight) wrong.push(`${key}: ${status} instead of ${expected ?? "no refusal"}: ${text.slice(0, 200)}`);
    }
    expect(wrong).toEqual([]);
    expect(naming.length).toBeGreaterThan(45);
  });

  test("is left out of lists over all agents, unless its settings are about changes only", async () => {
    const { organisation, vaultId } = await createGuarded(setting);
    const isShown = setting === "mfa";
    for (const key of listing) {
      const { status, text } = await request(key, organisation.adminKey, {});
      expect(status, key).toBe(200);
      expect(text.includes(`"agent_id":"${vaultId}"`), key).toBe(isShown);
    }
  });

  test("refuses a key of its own in those lists, instead of showing it nothing", async () => {
    const { boundKey } = await createGuarded(setting);
    for (const key of listing) {
      const { status } = await request(key, boundKey, {});
      expect(status, key).toBe(refusalOf(setting, key) ?? 200);
    }
  });
});

describe("a webhook without an agent gets the events of every agent", () => {
  const change = (organisation: Organisation, webhook_id: string) =>
    organisation.call("PATCH /v1/webhooks/{webhook_id}", { params: { webhook_id }, body: { enabled: false } });

  test.each(Object.keys(settings) as Setting[])(
    "so %s of one of them refuses its changes, and names that agent",
    async (setting) => {
      const { organisation, forAll } = await createGuarded(setting);
      const code = setting === "ipWhitelist" ? "forbidden" : "unauthorized";
      const created = await organisation.call("POST /v1/webhooks", { body: { url, events } });
      for (const answer of [created, await change(organisation, forAll)]) {
        const { message } = expectError(answer, code);
        if (setting !== "mfa") expect(message).toContain("The agent vault requires it");
      }
      ok(await organisation.call("GET /v1/webhooks/{webhook_id}", { params: { webhook_id: forAll } }));
      ok(await organisation.call("POST /v1/webhooks", { body: { url, events, agent_id: "open" } }));
    },
  );
});

test.each(Object.keys(settings) as Setting[])(
  "%s of one agent refuses the erasure of a user, which reaches it too",
  async (setting) => {
    const { organisation } = await createGuarded(setting);
    const answer = await organisation.call("DELETE /v1/users/{user_id}/data", { params: { user_id: "user-42" } });
    const { message } = expectError(answer, setting === "ipWhitelist" ? "forbidden" : "unauthorized");
    if (setting !== "mfa") expect(message).toContain("The agent vault requires it");
    expect(ok(await organisation.call("GET /v1/erasures", {})).data).toEqual([]);
  },
);

/** If the instance demands a second factor, the operator begins the enrolment of the first. */
async function enrolWithToken({ url: at, server }: Perch, { adminKey, call }: Organisation) {
  const keyId = ok(await call("GET /v1/me", {})).data.key.id;
  const token = signEnrolment(server.core.keys.enrolmentKey(), parsePublicId("key", keyId) ?? "", Date.now() + 60_000);
  const headers = { authorization: `Bearer ${adminKey}`, "x-mfa-code": token };
  const response = await fetch(`${at}/v1/mfa`, { method: "POST", headers });
  const { data } = (await response.json()) as { data: { secret: string } };
  ok(await call("POST /v1/mfa/confirm", { body: { code: generateTotpCode(data.secret, -1) } }));
  return { secret: data.secret, key: adminKey };
}

test("deleting a webhook or a provider is a deletion for the second factor that the instance asks for", async () => {
  const guarded = await startPerch({ security: { mfa: { enabled: true, operations: ["delete"] } } });
  onTestFinished(guarded.stop);
  const organisation = await guarded.createOrganisation();
  const { secret, key } = await enrolWithToken(guarded, organisation);
  const create = async () => {
    const webhook = ok(await organisation.call("POST /v1/webhooks", { body: { url, events } })).data.id;
    const body = { name: "models", type: "openai-compatible" as const, base_url: "https://models.example/v1" };
    ok(await organisation.call("POST /v1/providers", { body }));
    return [`/v1/webhooks/${webhook}`, "/v1/providers/models"];
  };
  const paths = await create();
  const { token } = ok(
    await organisation.call("POST /v1/mfa/step-up", { body: { code: generateTotpCode(secret) } }, key),
  ).data;
  for (const path of paths) {
    const send = (headers: Record<string, string>) =>
      fetch(guarded.url + path, { method: "DELETE", headers: { authorization: `Bearer ${key}`, ...headers } });
    expect((await send({})).status, path).toBe(401);
    expect((await send({ "x-mfa-code": token })).status, path).toBe(200);
  }
});

test("metrics of named agents are refused if one of them refuses the caller, and the refusal shows how to see why", async () => {
  const { organisation, otherKey } = await createGuarded("ipWhitelist");
  const query = { agent_ids: "open,vault" };
  const { message } = expectError(await organisation.call("GET /v1/metrics", { query }, otherKey), "forbidden");
  expect(message).toContain("GET /v1/agents/vault/metrics");
  ok(await organisation.call("GET /v1/metrics", { query: { agent_ids: "open" } }, otherKey));
});

test("an operation that does not declare its agents fails the walk, and the start of the server", () => {
  const planted = { ...operations["GET /v1/providers"], id: "planted", agents: undefined } as unknown as Operation;
  expect(() => agentSourceOf(planted)).toThrow("planted does not say which agent it is about");
});
