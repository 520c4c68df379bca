import type { Organisation } from "./harness.ts";

/** The ids of an organisation's resources. */
export interface Ids {
  readonly agentId: string;
  readonly approvalId: string;
  readonly clearId: string;
  readonly deliveryId: string;
  readonly deploymentId: string;
  readonly eventId: string;
  readonly keyId: string;
  readonly memoryId: string;
  readonly runId: string;
  readonly webhookId: string;
}

/** Everything that names a run. */
export const runAttempts = ({ call }: Organisation, ids: Ids, agent_id: string, key: string) => {
  const one = { params: { agent_id, request_id: ids.runId } };
  return [
    call("GET /v1/agents/{agent_id}/invocations/{request_id}", one, key),
    call("GET /v1/agents/{agent_id}/invocations/{request_id}/steps", one, key),
    call("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", one, key),
    ...(agent_id === "shared-name"
      ? []
      : [call("GET /v1/agents/{agent_id}/invocations", { params: { agent_id }, query: {} }, key)]),
  ];
};
/** Everything that names a key. */
export const keyAttempts = ({ call }: Organisation, ids: Ids, key: string) => {
  const params = { key_id: ids.keyId };
  return [
    call("GET /v1/keys/{key_id}", { params }, key),
    call("PATCH /v1/keys/{key_id}", { params, body: { name: "mine" } }, key),
    call("POST /v1/keys/{key_id}/rotate", { params, body: {} }, key),
    call("POST /v1/keys/{key_id}/begin-mfa", { params }, key),
    call("DELETE /v1/keys/{key_id}", { params }, key),
  ];
};

/** Everything that names a webhook, a delivery or an event. */
export const webhookAttempts = ({ call }: Organisation, ids: Ids, key: string) => {
  const params = { webhook_id: ids.webhookId };
  const one = { params: { ...params, delivery_id: ids.deliveryId } };
  return [
    call("GET /v1/webhooks/{webhook_id}", { params }, key),
    call("PATCH /v1/webhooks/{webhook_id}", { params, body: { enabled: false } }, key),
    call("POST /v1/webhooks/{webhook_id}/rotate", { params, body: {} }, key),
    call("POST /v1/webhooks/{webhook_id}/test", { params }, key),
    call("POST /v1/webhooks/{webhook_id}/redeliver", { params, body: { since: "2026-01-01T00:00:00Z" } }, key),
    call("GET /v1/webhooks/{webhook_id}/deliveries", { params, query: {} }, key),
    call("GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}", one, key),
    call("POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", one, key),
    call("DELETE /v1/webhooks/{webhook_id}", { params }, key),
    call("GET /v1/events/{event_id}", { params: { event_id: ids.eventId } }, key),
    call("GET /v1/events", { query: { agent_id: ids.agentId } }, key),
    call("GET /v1/webhooks", { query: { agent_id: ids.agentId } }, key),
  ];
};

/** Everything that names a deployment or a version of an agent. */
export const deploymentAttempts = ({ call }: Organisation, ids: Ids, agent_id: string, key: string) => {
  const params = { agent_id };
  const one = { params: { agent_id, deployment_id: ids.deploymentId } };
  return [
    call("GET /v1/agents/{agent_id}/deployments/{deployment_id}", one, key),
    call("PATCH /v1/agents/{agent_id}/deployments/{deployment_id}", { ...one, body: { traffic_percent: 5 } }, key),
    call("POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote", one, key),
    call("POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort", one, key),
    call("POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback", one, key),
    call("GET /v1/agents/{agent_id}/versions/{version}", { params: { agent_id, version: "theirs" } }, key),
    call(
      "GET /v1/agents/{agent_id}/versions/{version}/diff",
      { params: { agent_id, version: "theirs" }, query: {} },
      key,
    ),
    call("POST /v1/agents/{agent_id}/invoke", { params, body: { message: "x", context: { version: "theirs" } } }, key),
  ];
};
/** Everything that names only an agent: allowed for the caller's own agent. */
export const deploymentLists = ({ call }: Organisation, agent_id: string, key: string) => {
  const params = { agent_id };
  const body = { environment: "production", version: "mine" };
  return [
    call("GET /v1/agents/{agent_id}/deployments", { params, query: {} }, key),
    call("GET /v1/agents/{agent_id}/versions", { params, query: {} }, key),
    call("POST /v1/agents/{agent_id}/deployments", { params, body }, key),
    call("POST /v1/agents/{agent_id}/check", { params }, key),
  ];
};
/** Everything that names a memory or a clear of an agent, and everything that searches or changes them. */
export const memoryAttempts = ({ call }: Organisation, ids: Ids, agent_id: string, key: string) => {
  const params = { agent_id };
  const one = { params: { agent_id, memory_id: ids.memoryId } };
  return [
    call("GET /v1/agents/{agent_id}/memory/{memory_id}", one, key),
    call("DELETE /v1/agents/{agent_id}/memory/{memory_id}", one, key),
    call("GET /v1/agents/{agent_id}/memory/clears/{clear_id}", { params: { agent_id, clear_id: ids.clearId } }, key),
    ...(agent_id === "shared-name"
      ? []
      : [
          call("POST /v1/agents/{agent_id}/memory/search", { params, body: { query: "secret" } }, key),
          call("POST /v1/agents/{agent_id}/memory", { params, body: { content: "x" } }, key),
          call("GET /v1/agents/{agent_id}/memory", { params, query: {} }, key),
          call("GET /v1/agents/{agent_id}/memory/status", { params }, key),
          call("DELETE /v1/agents/{agent_id}/memory", { params, query: {} }, key),
        ]),
  ];
};
/** Everything that names a secret of an agent. */
export const secretAttempts = ({ call }: Organisation, agent_id: string, key: string) => {
  const params = { agent_id };
  const one = { params: { agent_id, secret_name: "github_token" } };
  const body = { name: "github_token", value: "of the intruder", hosts: ["evil.example"] };
  return [
    call("GET /v1/agents/{agent_id}/secrets/{secret_name}", one, key),
    call("PATCH /v1/agents/{agent_id}/secrets/{secret_name}", { ...one, body: { value: "of the intruder" } }, key),
    call("DELETE /v1/agents/{agent_id}/secrets/{secret_name}", one, key),
    ...(agent_id === "shared-name"
      ? []
      : [
          call("GET /v1/agents/{agent_id}/secrets", { params, query: {} }, key),
          call("POST /v1/agents/{agent_id}/secrets", { params, body }, key),
        ]),
  ];
};
/** Everything that names an approval. */
export const approvalAttempts = ({ call }: Organisation, ids: Ids, key: string) => {
  const params = { approval_id: ids.approvalId };
  return [
    call("GET /v1/approvals/{approval_id}", { params }, key),
    call("POST /v1/approvals/{approval_id}/approve", { params, body: {} }, key),
    call("POST /v1/approvals/{approval_id}/approve", { params, body: { arguments: { amount: "not checked" } } }, key),
    call("POST /v1/approvals/{approval_id}/reject", { params, body: {} }, key),
    call("POST /v1/approvals/{approval_id}/answer", { params, body: { answer: 1 } }, key),
    call("GET /v1/approvals", { query: { agent_id: "only-theirs" } }, key),
  ];
};
