import type { OperationKey, Operations, RequestOf } from "@perch/contract";
import { generateTotpCode } from "@perch/testkit/identity/one-time-code.ts";
import { enrolSecondFactor } from "./authenticator.ts";
import { ok } from "./contract-client.ts";
import { createModelProvider } from "./create-model-provider.ts";
import { deploy } from "./deployment-calls.ts";
import type { Organisation, Perch } from "./harness.ts";
import { addMemory } from "./memory-calls.ts";
import { addConnectedTool, createReturnedConnection, sampleUser } from "./sample-connections.ts";
import { createSecret, secretValue } from "./secret-calls.ts";
import { allowAdminToDecide, insertWaitingRun, type StoredCall } from "./stored-approvals.ts";
import { insertConnection } from "./stored-connections.ts";

type Sample<K extends OperationKey> = { readonly first: RequestOf<Operations[K]>; readonly otherBody: object };

const botParams = { params: { agent_id: "bot" } };
const createKeyId = async ({ call }: Organisation): Promise<string> =>
  ok(await call("POST /v1/keys", { body: { name: "k", role: "viewer" } })).data.id;
const createDeploymentParams = async (org: Organisation, request: Parameters<typeof deploy>[1]) => ({
  params: { agent_id: "bot", deployment_id: (await deploy(org, request)).id },
});
const createCanaryParams = async (org: Organisation) => {
  await deploy(org, { version: "v1" });
  return createDeploymentParams(org, { version: "v1", traffic_percent: 10 });
};

const hook = { url: "https://hooks.example/perch", events: ["agent.completed" as const] };
const createWebhookParams = async ({ call }: Organisation) => ({
  params: { webhook_id: ok(await call("POST /v1/webhooks", { body: hook })).data.id },
});

const newSecret = { name: "github_token", value: secretValue, hosts: ["api.github.com"] };
const createBotSecretParams = async (org: Organisation) => ({
  params: { agent_id: "bot", secret_name: (await createSecret(org, { agent: "bot" })).name },
});

/** Another call of the run stays open, so that the decision does not continue a run that was never started. */
const createApprovalParams = async (org: Organisation, perch: Perch, call: StoredCall = {}) => {
  await allowAdminToDecide(org);
  const { approvals } = await insertWaitingRun(perch, org, { calls: [call, {}] });
  return { params: { approval_id: approvals[0] ?? "" } };
};

/** A provider without a revocation endpoint, which cannot be notified. */
const notOffered = { revocationEndpoint: null };

/** A sample request for every operation that changes something. Tests over the operation table fail for an operation without one. */
const samples: {
  readonly [K in OperationKey as K extends `${"POST" | "PATCH" | "DELETE"} ${string}` ? K : never]?: (
    org: Organisation,
    perch: Perch,
  ) => Promise<Sample<K>>;
} = {
  "POST /v1/agents": async () => ({
    first: { body: { name: "fresh", model: "perch/echo" } },
    otherBody: { name: "other", model: "perch/echo" },
  }),
  "PATCH /v1/agents/{agent_id}": async () => ({
    first: { ...botParams, body: { temperature: 1 } },
    otherBody: { temperature: 2 },
  }),
  "POST /v1/agents/{agent_id}/pause": async () => ({ first: botParams, otherBody: {} }),
  "POST /v1/agents/{agent_id}/resume": async () => ({ first: botParams, otherBody: {} }),
  "POST /v1/agents/{agent_id}/invoke": async () => ({
    first: { ...botParams, body: { message: "hello" } },
    otherBody: { message: "goodbye" },
  }),
  "POST /v1/agents/{agent_id}/invocations/{request_id}/cancel": async ({ call }) => {
    const ran = ok(await call("POST /v1/agents/{agent_id}/invoke", { ...botParams, body: { message: "hello" } }));
    return { first: { params: { agent_id: "bot", request_id: ran.data.request_id } }, otherBody: {} };
  },
  "POST /v1/approvals/{approval_id}/approve": async (org, perch) => ({
    first: { ...(await createApprovalParams(org, perch)), body: { arguments: { amount: 1 } } },
    otherBody: { arguments: { amount: 2 } },
  }),
  "POST /v1/approvals/{approval_id}/reject": async (org, perch) => ({
    first: { ...(await createApprovalParams(org, perch)), body: { reason: "Too much." } },
    otherBody: { reason: "Too late." },
  }),
  "POST /v1/approvals/{approval_id}/answer": async (org, perch) => ({
    first: {
      ...(await createApprovalParams(org, perch, { kind: "question", question: "Which?", parameters: {} })),
      body: { answer: "This one." },
    },
    otherBody: { answer: "The other." },
  }),
  "POST /v1/agents/{agent_id}/connections": async (org) => ({
    first: { ...botParams, body: { ...sampleUser, tool: await addConnectedTool(org) } },
    otherBody: { user_id: "bob", tool: "mail" },
  }),
  "POST /v1/agents/{agent_id}/connections/{connection_id}/confirm": async (org, perch) => {
    const first = await createReturnedConnection(perch, org);
    return { first, otherBody: { ...first.body, code: "another" } };
  },
  "POST /v1/agents/{agent_id}/connections/{connection_id}/revoke": async (org, perch) => ({
    first: {
      params: { agent_id: "bot", connection_id: await insertConnection(perch, org, { configuration: notOffered }) },
    },
    otherBody: {},
  }),
  "POST /v1/agents/{agent_id}/check": async () => ({ first: botParams, otherBody: {} }),
  "POST /v1/agents/{agent_id}/deployments": async () => ({
    first: { ...botParams, body: { environment: "production", version: "v1" } },
    otherBody: { environment: "production", version: "v2" },
  }),
  "PATCH /v1/agents/{agent_id}/deployments/{deployment_id}": async (org) => ({
    first: { ...(await createCanaryParams(org)), body: { traffic_percent: 20 } },
    otherBody: { traffic_percent: 30 },
  }),
  "POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote": async (org) => ({
    first: await createCanaryParams(org),
    otherBody: {},
  }),
  "POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort": async (org) => ({
    first: await createCanaryParams(org),
    otherBody: {},
  }),
  "POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback": async (org) => {
    await deploy(org, { version: "v1" });
    return { first: await createDeploymentParams(org, { version: "v1" }), otherBody: {} };
  },
  "POST /v1/agents/{agent_id}/logs": async () => ({
    first: { ...botParams, body: { entries: [{ message: "one" }] } },
    otherBody: { entries: [{ message: "two" }] },
  }),
  "POST /v1/agents/{agent_id}/memory": async () => ({
    first: { ...botParams, body: { content: "one" } },
    otherBody: { content: "two" },
  }),
  "POST /v1/agents/{agent_id}/memory/search": async () => ({
    first: { ...botParams, body: { query: "one" } },
    otherBody: { query: "two" },
  }),
  "POST /v1/webhooks": async () => ({ first: { body: hook }, otherBody: { ...hook, events: ["agent.failed"] } }),
  "PATCH /v1/webhooks/{webhook_id}": async (org) => ({
    first: { ...(await createWebhookParams(org)), body: { enabled: false } },
    otherBody: { enabled: true },
  }),
  "POST /v1/webhooks/{webhook_id}/rotate": async (org) => ({
    first: { ...(await createWebhookParams(org)), body: { overlap_seconds: 3600 } },
    otherBody: { overlap_seconds: 7200 },
  }),
  "POST /v1/webhooks/{webhook_id}/test": async (org) => ({ first: await createWebhookParams(org), otherBody: {} }),
  "POST /v1/webhooks/{webhook_id}/redeliver": async (org) => ({
    first: { ...(await createWebhookParams(org)), body: { since: "2026-01-01T00:00:00Z" } },
    otherBody: { since: "2026-01-02T00:00:00Z" },
  }),
  "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": async (org) => {
    const { params } = await createWebhookParams(org);
    const { id: delivery_id } = ok(await org.call("POST /v1/webhooks/{webhook_id}/test", { params })).data;
    return { first: { params: { ...params, delivery_id } }, otherBody: {} };
  },
  "POST /v1/providers": async () => ({
    first: { body: { name: "acme", type: "openai", api_key: "sk-1" } },
    otherBody: { name: "acme", type: "openai", api_key: "sk-2" },
  }),
  "PATCH /v1/providers/{provider_name}": async (org) => {
    await createModelProvider(org, "https://models.example");
    return { first: { params: { provider_name: "acme" }, body: { models: ["a"] } }, otherBody: { models: ["b"] } };
  },
  "POST /v1/secrets": async () => ({
    first: { body: newSecret },
    otherBody: { ...newSecret, value: "another value" },
  }),
  "PATCH /v1/secrets/{secret_name}": async (org) => ({
    first: { params: { secret_name: (await createSecret(org)).name }, body: { value: "the next value" } },
    otherBody: { value: "another value" },
  }),
  "DELETE /v1/secrets/{secret_name}": async (org) => ({
    first: { params: { secret_name: (await createSecret(org)).name } },
    otherBody: {},
  }),
  "POST /v1/agents/{agent_id}/secrets": async () => ({
    first: { ...botParams, body: newSecret },
    otherBody: { ...newSecret, value: "another value" },
  }),
  "PATCH /v1/agents/{agent_id}/secrets/{secret_name}": async (org) => ({
    first: { ...(await createBotSecretParams(org)), body: { value: "the next value" } },
    otherBody: { value: "another value" },
  }),
  "DELETE /v1/agents/{agent_id}/secrets/{secret_name}": async (org) => ({
    first: await createBotSecretParams(org),
    otherBody: {},
  }),
  "POST /v1/keys": async () => ({
    first: { body: { name: "k", role: "viewer" } },
    otherBody: { name: "k", role: "admin" },
  }),
  "PATCH /v1/keys/{key_id}": async (org) => ({
    first: { params: { key_id: await createKeyId(org) }, body: { name: "n" } },
    otherBody: { name: "m" },
  }),
  "POST /v1/keys/{key_id}/rotate": async (org) => ({
    first: { params: { key_id: await createKeyId(org) }, body: { overlap_seconds: 60 } },
    otherBody: { overlap_seconds: 61 },
  }),
  "POST /v1/keys/{key_id}/begin-mfa": async (org) => ({
    first: { params: { key_id: await createKeyId(org) } },
    otherBody: {},
  }),
  "POST /v1/mfa": async () => ({ first: {}, otherBody: {} }),
  "POST /v1/mfa/confirm": async ({ call }) => {
    const { secret } = ok(await call("POST /v1/mfa", {})).data;
    return { first: { body: { code: generateTotpCode(secret) } }, otherBody: { code: "000000" } };
  },
  "POST /v1/mfa/step-up": async (org) => ({
    first: { body: { code: generateTotpCode((await enrolSecondFactor(org)).secret) } },
    otherBody: { code: "000000" },
  }),
  "POST /v1/mfa/remove": async (org) => ({
    first: { body: { code: generateTotpCode((await enrolSecondFactor(org)).secret) } },
    otherBody: { code: "000000" },
  }),
  "DELETE /v1/agents/{agent_id}": async () => ({ first: botParams, otherBody: {} }),
  "DELETE /v1/agents/{agent_id}/memory": async () => ({ first: { ...botParams, query: {} }, otherBody: {} }),
  "DELETE /v1/agents/{agent_id}/memory/{memory_id}": async (org) => ({
    first: { params: { agent_id: "bot", memory_id: (await addMemory(org, "one")).id } },
    otherBody: {},
  }),
  "DELETE /v1/webhooks/{webhook_id}": async (org) => ({ first: await createWebhookParams(org), otherBody: {} }),
  "DELETE /v1/keys/{key_id}": async (org) => ({ first: { params: { key_id: await createKeyId(org) } }, otherBody: {} }),
  "POST /v1/console/links": async () => ({ first: {}, otherBody: {} }),
  "DELETE /v1/console/sessions/{session_id}": async ({ call, adminKey }) => {
    const { id } = ok(await call("POST /v1/console/sessions", { body: { api_key: adminKey } })).data;
    return { first: { params: { session_id: id } }, otherBody: {} };
  },
  "PATCH /v1/organisation": async () => ({ first: { body: { manage_grants_approve: false } }, otherBody: {} }),
  "DELETE /v1/users/{user_id}/data": async () => ({ first: { params: { user_id: "user-42" } }, otherBody: {} }),
  "DELETE /v1/providers/{provider_name}": async (org) => {
    await createModelProvider(org, "https://models.example");
    return { first: { params: { provider_name: "acme" } }, otherBody: {} };
  },
};

/** Creates an organisation with an agent `bot`, and a valid request for this operation. */
export async function createOrganisationWithSample(perch: Perch, key: OperationKey) {
  const organisation = await perch.createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  const make = samples[key as keyof typeof samples] as
    | ((org: Organisation, perch: Perch) => Promise<Sample<OperationKey>>)
    | undefined;
  if (!make) throw new Error(`${key} has no sample here`);
  return { organisation, ...(await make(organisation, perch)) };
}
