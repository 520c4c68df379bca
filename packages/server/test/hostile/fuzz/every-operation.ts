import type { Deployment, OperationKey, Operations, RequestOf, ResponseOf } from "@perch/contract";
import { generateTotpCode } from "@perch/testkit/identity/one-time-code.ts";
import { vi } from "vitest";
import { connectedToolAt } from "../../support/sample-connections.ts";

/** Sends a request that must succeed, as the organisation's admin, and returns the body of its response. */
export type SendValid = <K extends OperationKey>(
  operation: K,
  request: RequestOf<Operations[K]>,
) => Promise<ResponseOf<Operations[K]>>;

const params = { agent_id: "walker" };

async function callAgentOperations(send: SendValid): Promise<void> {
  await send("POST /v1/agents", { body: { name: params.agent_id, model: "perch/echo" } });
  await send("GET /v1/agents", {});
  await send("GET /v1/agents/{agent_id}", { params });
  await send("PATCH /v1/agents/{agent_id}", { params, body: { temperature: 1, limits: { max_steps: 3 } } });
  await send("POST /v1/agents/{agent_id}/pause", { params });
  await send("POST /v1/agents/{agent_id}/resume", { params });
  await send("POST /v1/agents", { body: { name: "short-lived", model: "perch/echo" } });
  await send("DELETE /v1/agents/{agent_id}", { params: { agent_id: "short-lived" } });
}

async function callRunOperations(send: SendValid): Promise<void> {
  const { data } = await send("POST /v1/agents/{agent_id}/invoke", { params, body: { message: "hello" } });
  const run = { ...params, request_id: data.request_id };
  await send("GET /v1/agents/{agent_id}/invocations", { params });
  await send("GET /v1/invocations", { query: { status: "completed" } });
  await send("GET /v1/agents/{agent_id}/invocations/{request_id}", { params: run });
  await send("GET /v1/agents/{agent_id}/invocations/{request_id}/steps", { params: run });
  await send("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", { params: run });
  await send("POST /v1/agents/{agent_id}/logs", { params, body: { entries: [{ message: "said by the walker" }] } });
  await send("GET /v1/agents/{agent_id}/logs", { params });
  await send("GET /v1/agents/{agent_id}/metrics", { params, query: { metric: "throughput" } });
  await send("GET /v1/metrics", { query: { metrics: "throughput,error_rate" } });
}

/** Approvals of calls, and one of a question, in that order. Only a run makes approvals, not a request. */
export type CreateApprovals = () => Promise<readonly string[]>;

async function callApprovalOperations(send: SendValid, createApprovals: CreateApprovals): Promise<void> {
  const { id: key_id, permissions } = (await send("GET /v1/me", {})).data.key;
  await send("PATCH /v1/keys/{key_id}", { params: { key_id }, body: { permissions: [...permissions, "approve"] } });
  const [approved, rejected, answered] = (await createApprovals()).map((approval_id) => ({ approval_id }));
  if (!approved || !rejected || !answered) throw new Error("there are no approvals to decide");
  await send("GET /v1/approvals", { query: { status: "open" } });
  await send("GET /v1/approvals/{approval_id}", { params: approved });
  const body = { arguments: { amount: 1 } };
  await send("POST /v1/approvals/{approval_id}/approve", { params: approved, body });
  await send("POST /v1/approvals/{approval_id}/reject", { params: rejected, body: { reason: "Too much." } });
  await send("POST /v1/approvals/{approval_id}/answer", { params: answered, body: { answer: "This one." } });
}

/**
 * A provider at which users have accounts, and the way of a user through a link to the code that the application gets.
 */
export interface Accounts {
  readonly issuer: string;
  readonly consent: (link: string) => Promise<string>;
}

async function callConnectionOperations(send: SendValid, { issuer, consent }: Accounts): Promise<void> {
  const ofAgent = { params: { agent_id: "connected" } };
  const tool = connectedToolAt(issuer);
  await send("POST /v1/agents", { body: { name: ofAgent.params.agent_id, model: "perch/echo", tools: [tool] } });
  const create = async (user_id: string) =>
    (await send("POST /v1/agents/{agent_id}/connections", { ...ofAgent, body: { user_id, tool: tool.name } })).data;
  const { id: connection_id, link } = await create("walker");
  await create("another walker");
  const one = { params: { ...ofAgent.params, connection_id } };
  const body = { user_id: "walker", code: await consent(link) };
  await send("POST /v1/agents/{agent_id}/connections/{connection_id}/confirm", { ...one, body });
  await send("GET /v1/agents/{agent_id}/connections", ofAgent);
  await send("GET /v1/agents/{agent_id}/connections/{connection_id}", one);
  await send("POST /v1/agents/{agent_id}/connections/{connection_id}/revoke", one);
}

async function callDeploymentOperations(send: SendValid): Promise<void> {
  const deploy = async (traffic_percent: number): Promise<Deployment["id"]> => {
    const body = { environment: "production", version: "v1", traffic_percent };
    const { id } = (await send("POST /v1/agents/{agent_id}/deployments", { params, body })).data;
    const at = { ...params, deployment_id: id };
    const isActive = async () => {
      const { data } = await send("GET /v1/agents/{agent_id}/deployments/{deployment_id}", { params: at });
      if (data.status !== "active") throw new Error(`the deployment is ${data.status}: ${data.error}`);
    };
    await vi.waitFor(isActive, { timeout: 20_000, interval: 50 });
    return id;
  };
  await send("POST /v1/agents/{agent_id}/check", { params });
  const first = await deploy(100);
  const canary = { ...params, deployment_id: await deploy(10) };
  await send("PATCH /v1/agents/{agent_id}/deployments/{deployment_id}", {
    params: canary,
    body: { traffic_percent: 20 },
  });
  await send("POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote", { params: canary });
  const aborted = { ...params, deployment_id: await deploy(10) };
  await send("POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort", { params: aborted });
  const rolledBackTo = { ...params, deployment_id: first };
  await send("POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback", { params: rolledBackTo });
  await send("GET /v1/agents/{agent_id}/deployments", { params });
  await send("GET /v1/deployments", {});
  await send("GET /v1/agents/{agent_id}/versions", { params });
  await send("GET /v1/agents/{agent_id}/versions/{version}", { params: { ...params, version: "v1" } });
  await send("GET /v1/agents/{agent_id}/versions/{version}/diff", { params: { ...params, version: "v1" } });
}

async function callMemoryOperations(send: SendValid): Promise<void> {
  const add = async (content: string) =>
    (await send("POST /v1/agents/{agent_id}/memory", { params, body: { content } })).data.id;
  const memory = { ...params, memory_id: await add("the walker was here") };
  await send("POST /v1/agents/{agent_id}/memory/search", { params, body: { query: "walker", mode: "text" } });
  await send("GET /v1/agents/{agent_id}/memory", { params });
  await send("GET /v1/agents/{agent_id}/memory/status", { params });
  await send("GET /v1/agents/{agent_id}/memory/{memory_id}", { params: memory });
  await send("DELETE /v1/agents/{agent_id}/memory/{memory_id}", { params: memory });
  const { data } = await send("DELETE /v1/agents/{agent_id}/memory", { params });
  await send("GET /v1/agents/{agent_id}/memory/clears/{clear_id}", { params: { ...params, clear_id: data.id } });
  await add("the walker came back");
}

async function callWebhookOperations(send: SendValid): Promise<void> {
  const create = async () => {
    const body = { url: "https://hooks.example/perch", events: ["agent.failed" as const] };
    return { webhook_id: (await send("POST /v1/webhooks", { body })).data.id };
  };
  const webhook = await create();
  await send("GET /v1/webhooks", {});
  await send("GET /v1/webhooks/{webhook_id}", { params: webhook });
  await send("PATCH /v1/webhooks/{webhook_id}", { params: webhook, body: { enabled: true } });
  await send("POST /v1/webhooks/{webhook_id}/rotate", { params: webhook, body: { overlap_seconds: 60 } });
  const { data } = await send("POST /v1/webhooks/{webhook_id}/test", { params: webhook });
  const delivery = { ...webhook, delivery_id: data.id };
  await send("GET /v1/webhooks/{webhook_id}/deliveries", { params: webhook });
  await send("GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}", { params: delivery });
  await send("POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", { params: delivery });
  const since = new Date(Date.now() - 60_000).toISOString();
  await send("POST /v1/webhooks/{webhook_id}/redeliver", { params: webhook, body: { since } });
  await send("GET /v1/events", {});
  await send("GET /v1/events/{event_id}", { params: { event_id: data.event_id } });
  await send("DELETE /v1/webhooks/{webhook_id}", { params: await create() });
}

async function callKeyOperations(send: SendValid): Promise<void> {
  const create = async () => (await send("POST /v1/keys", { body: { name: "walker", role: "viewer" } })).data;
  const { id } = await create();
  await send("GET /v1/keys", {});
  await send("GET /v1/keys/{key_id}", { params: { key_id: id } });
  await send("PATCH /v1/keys/{key_id}", { params: { key_id: id }, body: { name: "walker's" } });
  await send("POST /v1/keys/{key_id}/begin-mfa", { params: { key_id: id } });
  const { data: rotated } = await send("POST /v1/keys/{key_id}/rotate", { params: { key_id: id }, body: {} });
  await send("DELETE /v1/keys/{key_id}", { params: { key_id: rotated.id } });
  await send("POST /v1/keys/revoke-leaked", { body: { key: (await create()).key } });
  await send("GET /v1/console/sign-in-methods", {});
  await send("POST /v1/console/links", {});
  const { data: signedIn } = await send("POST /v1/console/sessions", { body: { api_key: (await create()).key } });
  await send("GET /v1/console/sessions", {});
  await send("DELETE /v1/console/sessions/{session_id}", { params: { session_id: signedIn.id } });
  await send("GET /v1/me", {});
  await send("GET /v1/organisation", {});
  await send("PATCH /v1/organisation", { body: { manage_grants_approve: true } });
  await send("GET /v1/audit-log", {});
  const erasure = await send("DELETE /v1/users/{user_id}/data", {
    params: { user_id: "a user of only this operation" },
  });
  await send("GET /v1/erasures", {});
  await send("GET /v1/erasures/{erasure_id}", { params: { erasure_id: erasure.data.id } });
}

async function callProviderOperations(send: SendValid): Promise<void> {
  const create = (name: string) =>
    send("POST /v1/providers", { body: { name, type: "openai-compatible", base_url: "https://models.example/v1" } });
  await create("walker");
  await send("GET /v1/providers", {});
  await send("GET /v1/providers/{provider_name}", { params: { provider_name: "walker" } });
  await send("PATCH /v1/providers/{provider_name}", { params: { provider_name: "walker" }, body: { models: ["m"] } });
  await send("GET /v1/models", {});
  await create("short-lived");
  await send("DELETE /v1/providers/{provider_name}", { params: { provider_name: "short-lived" } });
}

const secret = { value: "open sesame", hosts: ["api.example"] };

async function callSecretOperations(send: SendValid): Promise<void> {
  const create = (name: string) => send("POST /v1/secrets", { body: { name, ...secret } });
  await create("walker");
  await send("GET /v1/secrets", {});
  await send("GET /v1/secrets/{secret_name}", { params: { secret_name: "walker" } });
  await send("PATCH /v1/secrets/{secret_name}", { params: { secret_name: "walker" }, body: { value: "open barley" } });
  await create("short_lived");
  await send("DELETE /v1/secrets/{secret_name}", { params: { secret_name: "short_lived" } });
}

async function callAgentSecretOperations(send: SendValid): Promise<void> {
  const create = (name: string) => send("POST /v1/agents/{agent_id}/secrets", { params, body: { name, ...secret } });
  await create("walker");
  const one = { ...params, secret_name: "walker" };
  await send("GET /v1/agents/{agent_id}/secrets", { params });
  await send("GET /v1/agents/{agent_id}/secrets/{secret_name}", { params: one });
  await send("PATCH /v1/agents/{agent_id}/secrets/{secret_name}", { params: one, body: { value: "open barley" } });
  await create("short_lived");
  const last = { ...params, secret_name: "short_lived" };
  await send("DELETE /v1/agents/{agent_id}/secrets/{secret_name}", { params: last });
}

async function callSecondFactorOperations(send: SendValid): Promise<void> {
  const { secret, recovery_codes } = (await send("POST /v1/mfa", {})).data;
  const [first = "", second = ""] = recovery_codes;
  await send("POST /v1/mfa/confirm", { body: { code: generateTotpCode(secret) } });
  await send("POST /v1/mfa/step-up", { body: { code: first } });
  await send("POST /v1/mfa/remove", { body: { code: second } });
}

/**
 * Calls every operation of the table at least once, with ids and codes that only an earlier response shows: random requests rarely or
 * never succeed at a rollback or a second factor. Leaves resources of every kind behind, for random requests to find.
 */
export async function callEveryOperation(
  send: SendValid,
  createApprovals: CreateApprovals,
  accounts: Accounts,
): Promise<void> {
  await callAgentOperations(send);
  await callApprovalOperations(send, createApprovals);
  await Promise.all([
    callRunOperations(send),
    callConnectionOperations(send, accounts),
    callDeploymentOperations(send),
    callMemoryOperations(send),
    callWebhookOperations(send),
    callKeyOperations(send),
    callProviderOperations(send),
    callSecretOperations(send),
    callAgentSecretOperations(send),
    send("GET /v1/installation", {}),
  ]);
  // Last, because some of the operations above need a code from a key that has a second factor.
  await callSecondFactorOperations(send);
}
