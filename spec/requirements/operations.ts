import type { RequirementTable } from "./requirement.ts";

export const operations = {
  "operations.invoke-agent": {
    section: "Endpoints",
    given:
      "POST `/v1/agents/{agent_id}/invoke` with message, context and optional `Idempotency-Key` answers response, request_id, tokens_used, duration_ms in the envelope.",
  },
  "operations.list-agents": {
    section: "Endpoints",
    given: "GET `/v1/agents` with limit, offset, sort answers a list of agent summaries and pagination.",
  },
  "operations.get-agent": {
    section: "Endpoints",
    given: "GET `/v1/agents/{agent_id}` answers the agent as data.",
  },
  "operations.update-agent": {
    section: "Endpoints",
    given: "PATCH `/v1/agents/{agent_id}` takes model (string) and temperature (number).",
  },
  "operations.delete-agent": {
    section: "Endpoints",
    given: "DELETE `/v1/agents/{agent_id}` deletes the agent.",
  },
  "operations.create-deployment": {
    section: "Endpoints",
    given: "POST `/v1/agents/{agent_id}/deployments` takes environment (string) and version (string).",
  },
  "operations.list-deployments": {
    section: "Endpoints",
    given: "GET `/v1/agents/{agent_id}/deployments` lists the agent's deployments.",
  },
  "operations.rollback-deployment": {
    section: "Endpoints",
    given: "POST `/v1/agents/{agent_id}/deployments/{deployment_id}/rollback` rolls back; it takes no body.",
  },
  "operations.get-logs": {
    section: "Endpoints",
    given: "GET `/v1/agents/{agent_id}/logs` with level, start_time, end_time, limit answers a list of log entries.",
  },
  "operations.get-metrics": {
    section: "Endpoints",
    given:
      "GET `/v1/agents/{agent_id}/metrics` with metric, start_time, end_time, granularity answers a metric series as data.",
  },
  "operations.search-memory": {
    section: "Endpoints",
    given: "POST `/v1/agents/{agent_id}/memory/search` takes query (string) and limit (integer).",
  },
  "operations.clear-memory": {
    section: "Endpoints",
    given: "DELETE `/v1/agents/{agent_id}/memory` clears the agent's memory.",
  },
  "operations.create-webhook": {
    section: "Endpoints",
    given: "POST `/v1/webhooks` takes agent_id, url, events.",
  },
  "operations.list-webhooks": {
    section: "Endpoints",
    given: "GET `/v1/webhooks` lists webhooks.",
  },
  "operations.delete-webhook": {
    section: "Endpoints",
    given: "DELETE `/v1/webhooks/{webhook_id}` removes the webhook.",
  },
  "operations.create-key": {
    section: "Endpoints",
    given: "POST `/v1/keys` takes agent_id, name, permissions.",
  },
  "operations.list-keys": {
    section: "Endpoints",
    given: "GET `/v1/keys` lists API keys.",
  },
  "operations.revoke-key": {
    section: "Endpoints",
    given: "DELETE `/v1/keys/{key_id}` revokes the key.",
  },
} as const satisfies RequirementTable;
