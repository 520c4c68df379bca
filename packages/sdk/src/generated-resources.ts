// Made from openapi.json by `pnpm generate`. Do not edit.

import type { Client } from "./client.ts";
import type { Operations } from "./generated-operations.ts";
import type { RequestOptions } from "./options.ts";
import type { PageList } from "./page-list.ts";
import type {
  AddLogs,
  AddMemory,
  Agent,
  AgentSummary,
  ApiKey,
  AuditEntry,
  AuditPagination,
  CappedPagination,
  ConfirmMfa,
  CreateAgent,
  CreateDeployment,
  CreateKey,
  CreateProvider,
  CreateWebhook,
  CreatedApiKey,
  Delivery,
  DeliveryWithAttempts,
  Deployment,
  Event,
  Invocation,
  InvocationSummary,
  LogEntry,
  LogPagination,
  Me,
  Memory,
  MemoryClear,
  MemoryStatus,
  MetricSeries,
  MfaEnrolment,
  ModelEntry,
  Pagination,
  Provider,
  RedeliverFailed,
  RemoveMfa,
  RevokeLeakedKey,
  RotateKey,
  RotateWebhookSecret,
  SearchMemory,
  StepUp,
  StepUpToken,
  UpdateAgent,
  UpdateDeployment,
  UpdateKey,
  UpdateProvider,
  UpdateWebhook,
  Version,
  VersionDiff,
  VersionSummary,
  Webhook,
  WebhookWithSecret,
} from "./generated-schemas.ts";

/** The operations of `agents`. */
export class AgentsMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Create agent. `name` never changes afterwards. `model` is required, except for a remote agent (`runtime.type` is `http`). Left out, the rest is `{"temperature":null,"instructions":"","tools":[],"memory":{"recall":false,"recall_limit":5,"remember":false,"embedder":{"model":"perch/minilm","dimensions":384}},"limits":{"max_steps":20,"max_tokens":100000,"timeout_seconds":120,"history_messages":40,"max_concurrent_runs":100},"logs":{"messages":false},"fallback_models":[],"runtime":{"type":"model"},"security":{}}`. Setting `security` or `auth` also needs the permission `manage`.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents`
   */
  create(body: CreateAgent, query?: NonNullable<Operations["POST /v1/agents"]["request"]["query"]>, options?: RequestOptions): Promise<Agent> {
    return this.client.data("POST /v1/agents", { body, query }, options);
  }

  /**
   * List agents. Needs the permission `read`.
   *
   * `GET /v1/agents`
   */
  list(query?: NonNullable<Operations["GET /v1/agents"]["request"]["query"]>, options?: RequestOptions): PageList<AgentSummary, Pagination> {
    return this.client.list("GET /v1/agents", { query }, options);
  }

  /**
   * Get agent. Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}`
   */
  get(agentId: string, options?: RequestOptions): Promise<Agent> {
    return this.client.data("GET /v1/agents/{agent_id}", { params: { agent_id: agentId } }, options);
  }

  /**
   * Update agent. Changes the draft. `memory`, `limits` and `security` merge field by field, everything else is replaced; null restores the default. Changing `security` or `auth` also needs the permission `manage`, and is refused with `conflict` where it would refuse this very request, unless forced.
   *
   * Needs the permission `write`.
   *
   * `PATCH /v1/agents/{agent_id}`
   */
  update(agentId: string, body?: UpdateAgent, query?: NonNullable<Operations["PATCH /v1/agents/{agent_id}"]["request"]["query"]>, options?: RequestOptions): Promise<Agent> {
    return this.client.data("PATCH /v1/agents/{agent_id}", { params: { agent_id: agentId }, body, query }, options);
  }

  /**
   * Delete agent. The agent is gone at once and its name is free again. Keys that belong to it are revoked.
   *
   * Needs the permission `delete`.
   *
   * `DELETE /v1/agents/{agent_id}`
   */
  delete(agentId: string, options?: RequestOptions): Promise<Operations["DELETE /v1/agents/{agent_id}"]["response"]["data"]> {
    return this.client.data("DELETE /v1/agents/{agent_id}", { params: { agent_id: agentId } }, options);
  }

  /**
   * Pause agent. A paused agent refuses new invocations with `conflict`. Pausing twice is the same as once.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/pause`
   */
  pause(agentId: string, options?: RequestOptions): Promise<Agent> {
    return this.client.data("POST /v1/agents/{agent_id}/pause", { params: { agent_id: agentId } }, options);
  }

  /**
   * Resume agent. Resuming a running agent changes nothing.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/resume`
   */
  resume(agentId: string, options?: RequestOptions): Promise<Agent> {
    return this.client.data("POST /v1/agents/{agent_id}/resume", { params: { agent_id: agentId } }, options);
  }
}

/** The operations of `invocations`. */
export class InvocationsMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * List invocations. Newest first. `total` is counted up to 10,000; beyond that `total_relation` is `gte`.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/invocations`
   */
  list(agentId: string, query?: NonNullable<Operations["GET /v1/agents/{agent_id}/invocations"]["request"]["query"]>, options?: RequestOptions): PageList<InvocationSummary, CappedPagination> {
    return this.client.list("GET /v1/agents/{agent_id}/invocations", { params: { agent_id: agentId }, query }, options);
  }

  /**
   * Get invocation. `Accept: text/event-stream` follows the run instead, from its beginning or after `Last-Event-ID`, with the same events as invoke.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/invocations/{request_id}`
   */
  get(agentId: string, requestId: string, options?: RequestOptions): Promise<Invocation> {
    return this.client.data("GET /v1/agents/{agent_id}/invocations/{request_id}", { params: { agent_id: agentId, request_id: requestId } }, options);
  }

  /**
   * Cancel invocation. The run stops before its next step and is recorded as `cancelled`. A run that has ended stays as it is.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/invocations/{request_id}/cancel`
   */
  cancel(agentId: string, requestId: string, options?: RequestOptions): Promise<Invocation> {
    return this.client.data("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", { params: { agent_id: agentId, request_id: requestId } }, options);
  }
}

/** The operations of `deployments`. */
export class DeploymentsMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Create deployment. Answers at once with `pending`. Checks of the model, the tools and the limits follow; then it is `active` and live from the next request on, or `failed` with an `error`, and what was live stays so.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/deployments`
   */
  create(agentId: string, body: CreateDeployment, options?: RequestOptions): Promise<Deployment> {
    return this.client.data("POST /v1/agents/{agent_id}/deployments", { params: { agent_id: agentId }, body }, options);
  }

  /**
   * List deployments. All there ever were: nothing is removed.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/deployments`
   */
  list(agentId: string, query?: NonNullable<Operations["GET /v1/agents/{agent_id}/deployments"]["request"]["query"]>, options?: RequestOptions): PageList<Deployment, Pagination> {
    return this.client.list("GET /v1/agents/{agent_id}/deployments", { params: { agent_id: agentId }, query }, options);
  }

  /**
   * Get deployment. Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/deployments/{deployment_id}`
   */
  get(agentId: string, deploymentId: string, options?: RequestOptions): Promise<Deployment> {
    return this.client.data("GET /v1/agents/{agent_id}/deployments/{deployment_id}", { params: { agent_id: agentId, deployment_id: deploymentId } }, options);
  }

  /**
   * Adjust canary. Changes the share of a canary. Sessions that are on it stay on it when the share grows.
   *
   * Needs the permission `write`.
   *
   * `PATCH /v1/agents/{agent_id}/deployments/{deployment_id}`
   */
  update(agentId: string, deploymentId: string, body: UpdateDeployment, options?: RequestOptions): Promise<Deployment> {
    return this.client.data("PATCH /v1/agents/{agent_id}/deployments/{deployment_id}", { params: { agent_id: agentId, deployment_id: deploymentId }, body }, options);
  }

  /**
   * Promote canary. The canary becomes the live deployment, from the next request on.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote`
   */
  promote(agentId: string, deploymentId: string, options?: RequestOptions): Promise<Deployment> {
    return this.client.data("POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote", { params: { agent_id: agentId, deployment_id: deploymentId } }, options);
  }

  /**
   * Abort canary. The canary gets no request any more; the live deployment gets all.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort`
   */
  abort(agentId: string, deploymentId: string, options?: RequestOptions): Promise<Deployment> {
    return this.client.data("POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort", { params: { agent_id: agentId, deployment_id: deploymentId } }, options);
  }

  /**
   * Roll back deployment. The environment runs the version of this deployment again; if it is the live one, the version before it. Counts from the next request on, on every node. The answer is a new deployment; no record is removed. A canary is aborted.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback`
   */
  rollback(agentId: string, deploymentId: string, options?: RequestOptions): Promise<Deployment> {
    return this.client.data("POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback", { params: { agent_id: agentId, deployment_id: deploymentId } }, options);
  }
}

/** The operations of `versions`. */
export class VersionsMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * List versions. Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/versions`
   */
  list(agentId: string, query?: NonNullable<Operations["GET /v1/agents/{agent_id}/versions"]["request"]["query"]>, options?: RequestOptions): PageList<VersionSummary, Pagination> {
    return this.client.list("GET /v1/agents/{agent_id}/versions", { params: { agent_id: agentId }, query }, options);
  }

  /**
   * Get version. The whole definition, as it was when the label was first used. It never changes.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/versions/{version}`
   */
  get(agentId: string, version: string, options?: RequestOptions): Promise<Version> {
    return this.client.data("GET /v1/agents/{agent_id}/versions/{version}", { params: { agent_id: agentId, version: version } }, options);
  }

  /**
   * Compare versions. What changes from this version to another one, or to the agent's draft.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/versions/{version}/diff`
   */
  diff(agentId: string, version: string, query?: NonNullable<Operations["GET /v1/agents/{agent_id}/versions/{version}/diff"]["request"]["query"]>, options?: RequestOptions): Promise<VersionDiff> {
    return this.client.data("GET /v1/agents/{agent_id}/versions/{version}/diff", { params: { agent_id: agentId, version: version }, query }, options);
  }
}

/** The operations of `logs`. */
export class LogsMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Get logs. Newest first. `total` is counted up to 10,000; beyond that `total_relation` is `gte`. `Accept: text/event-stream` follows new entries instead, with the same filters.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/logs`
   */
  list(agentId: string, query?: NonNullable<Operations["GET /v1/agents/{agent_id}/logs"]["request"]["query"]>, options?: RequestOptions): PageList<LogEntry, LogPagination> {
    return this.client.list("GET /v1/agents/{agent_id}/logs", { params: { agent_id: agentId }, query }, options);
  }

  /**
   * Add log entries. For remote agents and tools: what they did, beside what Perch saw.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/logs`
   */
  add(agentId: string, body: AddLogs, options?: RequestOptions): Promise<Operations["POST /v1/agents/{agent_id}/logs"]["response"]["data"]> {
    return this.client.data("POST /v1/agents/{agent_id}/logs", { params: { agent_id: agentId }, body }, options);
  }
}

/** The operations of `metrics`. */
export class MetricsMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Get metrics. Every interval of the range has a value, also one without runs. `response_time` is in milliseconds, `throughput` in requests per minute, `error_rate` a share from 0 to 1, `tokens` and `cost` are sums; `cost` is in US dollars, as far as the operator set prices. Percentiles are true to within 6 %.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/metrics`
   */
  get(agentId: string, query: NonNullable<Operations["GET /v1/agents/{agent_id}/metrics"]["request"]["query"]>, options?: RequestOptions): Promise<MetricSeries> {
    return this.client.data("GET /v1/agents/{agent_id}/metrics", { params: { agent_id: agentId }, query }, options);
  }
}

/** The operations of `memory`. */
export class MemoryMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Search memory. By meaning and by words at once: what only one of the two finds is found. Where no embedder answers, it goes by words alone and says so.
   *
   * Needs the permission `read`.
   *
   * `POST /v1/agents/{agent_id}/memory/search`
   */
  search(agentId: string, body: SearchMemory, options?: RequestOptions): Promise<Operations["POST /v1/agents/{agent_id}/memory/search"]["response"]> {
    return this.client.request("POST /v1/agents/{agent_id}/memory/search", { params: { agent_id: agentId }, body }, options);
  }

  /**
   * Add memory. The same content of the same user is kept once: adding it again makes it the newest.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/memory`
   */
  add(agentId: string, body: AddMemory, options?: RequestOptions): Promise<Memory> {
    return this.client.data("POST /v1/agents/{agent_id}/memory", { params: { agent_id: agentId }, body }, options);
  }

  /**
   * List memories. The one last said comes first.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/memory`
   */
  list(agentId: string, query?: NonNullable<Operations["GET /v1/agents/{agent_id}/memory"]["request"]["query"]>, options?: RequestOptions): PageList<Memory, {
    limit: number;
    offset: number;
    /** How many items there are on all pages. */
    total: number;
    has_more: boolean;
    /** `gte`: there are more than `total`, which is counted to 10,000. */
    total_relation: "eq" | "gte";
  }> {
    return this.client.list("GET /v1/agents/{agent_id}/memory", { params: { agent_id: agentId }, query }, options);
  }

  /**
   * Clear memory. Memories and what was said in sessions. It is out of sight when this returns; a large clear goes on removing in the background, and answers 202. Records of runs and logs are not memory: they expire by themselves.
   *
   * Needs the permission `delete`.
   *
   * `DELETE /v1/agents/{agent_id}/memory`
   */
  clear(agentId: string, query?: NonNullable<Operations["DELETE /v1/agents/{agent_id}/memory"]["request"]["query"]>, options?: RequestOptions): Promise<MemoryClear> {
    return this.client.data("DELETE /v1/agents/{agent_id}/memory", { params: { agent_id: agentId }, query }, options);
  }

  /**
   * Get memory status. How much there is, and how far embedding has come after the embedder was changed.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/memory/status`
   */
  status(agentId: string, options?: RequestOptions): Promise<MemoryStatus> {
    return this.client.data("GET /v1/agents/{agent_id}/memory/status", { params: { agent_id: agentId } }, options);
  }

  /**
   * Get memory. Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/memory/{memory_id}`
   */
  get(agentId: string, memoryId: string, options?: RequestOptions): Promise<Memory> {
    return this.client.data("GET /v1/agents/{agent_id}/memory/{memory_id}", { params: { agent_id: agentId, memory_id: memoryId } }, options);
  }

  /**
   * Delete memory. Needs the permission `delete`.
   *
   * `DELETE /v1/agents/{agent_id}/memory/{memory_id}`
   */
  delete(agentId: string, memoryId: string, options?: RequestOptions): Promise<Operations["DELETE /v1/agents/{agent_id}/memory/{memory_id}"]["response"]["data"]> {
    return this.client.data("DELETE /v1/agents/{agent_id}/memory/{memory_id}", { params: { agent_id: agentId, memory_id: memoryId } }, options);
  }

  /**
   * Get clear. How far a clear has come.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/memory/clears/{clear_id}`
   */
  getClear(agentId: string, clearId: string, options?: RequestOptions): Promise<MemoryClear> {
    return this.client.data("GET /v1/agents/{agent_id}/memory/clears/{clear_id}", { params: { agent_id: agentId, clear_id: clearId } }, options);
  }
}

/** The operations of `webhooks`. */
export class WebhooksMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Create webhook. The answer holds the secret that signs deliveries, this once. `X-Service-Signature` is the HMAC-SHA-256 of the raw body in hex, keyed with the secret as it is shown; the headers of Standard Webhooks come besides.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/webhooks`
   */
  create(body: CreateWebhook, options?: RequestOptions): Promise<WebhookWithSecret> {
    return this.client.data("POST /v1/webhooks", { body }, options);
  }

  /**
   * List webhooks. Needs the permission `read`.
   *
   * `GET /v1/webhooks`
   */
  list(query?: NonNullable<Operations["GET /v1/webhooks"]["request"]["query"]>, options?: RequestOptions): PageList<Webhook, Pagination> {
    return this.client.list("GET /v1/webhooks", { query }, options);
  }

  /**
   * Get webhook. Needs the permission `read`.
   *
   * `GET /v1/webhooks/{webhook_id}`
   */
  get(webhookId: string, options?: RequestOptions): Promise<Webhook> {
    return this.client.data("GET /v1/webhooks/{webhook_id}", { params: { webhook_id: webhookId } }, options);
  }

  /**
   * Update webhook. Counts from the next attempt on, also for deliveries that are pending.
   *
   * Needs the permission `write`.
   *
   * `PATCH /v1/webhooks/{webhook_id}`
   */
  update(webhookId: string, body?: UpdateWebhook, options?: RequestOptions): Promise<Webhook> {
    return this.client.data("PATCH /v1/webhooks/{webhook_id}", { params: { webhook_id: webhookId }, body }, options);
  }

  /**
   * Delete webhook. Its pending deliveries are cancelled, and its delivery log is gone with it.
   *
   * Needs the permission `delete`.
   *
   * `DELETE /v1/webhooks/{webhook_id}`
   */
  delete(webhookId: string, options?: RequestOptions): Promise<Operations["DELETE /v1/webhooks/{webhook_id}"]["response"]["data"]> {
    return this.client.data("DELETE /v1/webhooks/{webhook_id}", { params: { webhook_id: webhookId } }, options);
  }

  /**
   * Rotate webhook secret. Makes a new secret and shows it once. During the overlap both sign: `webhook-signature` holds one signature of each, `X-Service-Signature` is the new secret's and `X-Service-Signature-Previous` the old one's.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/webhooks/{webhook_id}/rotate`
   */
  rotateSecret(webhookId: string, body?: RotateWebhookSecret, options?: RequestOptions): Promise<WebhookWithSecret> {
    return this.client.data("POST /v1/webhooks/{webhook_id}/rotate", { params: { webhook_id: webhookId }, body }, options);
  }

  /**
   * Send test event. Delivers an event `webhook.test` to this webhook, whatever events it asks for.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/webhooks/{webhook_id}/test`
   */
  test(webhookId: string, options?: RequestOptions): Promise<Delivery> {
    return this.client.data("POST /v1/webhooks/{webhook_id}/test", { params: { webhook_id: webhookId } }, options);
  }

  /**
   * Redeliver all failed since a time. New deliveries for those that failed since then, and whose event has not been delivered or queued again meanwhile; the oldest 1,000 of them. `more` says whether some are left: ask again.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/webhooks/{webhook_id}/redeliver`
   */
  redeliverFailed(webhookId: string, body: RedeliverFailed, options?: RequestOptions): Promise<Operations["POST /v1/webhooks/{webhook_id}/redeliver"]["response"]["data"]> {
    return this.client.data("POST /v1/webhooks/{webhook_id}/redeliver", { params: { webhook_id: webhookId }, body }, options);
  }
}

/** The operations of `deliveries`. */
export class DeliveriesMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * List deliveries. Newest first, kept for 30 days. `total` is counted up to 10,000; beyond that `total_relation` is `gte`.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/webhooks/{webhook_id}/deliveries`
   */
  list(webhookId: string, query?: NonNullable<Operations["GET /v1/webhooks/{webhook_id}/deliveries"]["request"]["query"]>, options?: RequestOptions): PageList<Delivery, CappedPagination> {
    return this.client.list("GET /v1/webhooks/{webhook_id}/deliveries", { params: { webhook_id: webhookId }, query }, options);
  }

  /**
   * Get delivery. With each attempt: when, how long, what was answered, and why it failed.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}`
   */
  get(webhookId: string, deliveryId: string, options?: RequestOptions): Promise<DeliveryWithAttempts> {
    return this.client.data("GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}", { params: { webhook_id: webhookId, delivery_id: deliveryId } }, options);
  }

  /**
   * Redeliver one. A new delivery of the same event, with attempts of its own. The event keeps its id.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver`
   */
  redeliver(webhookId: string, deliveryId: string, options?: RequestOptions): Promise<Delivery> {
    return this.client.data("POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", { params: { webhook_id: webhookId, delivery_id: deliveryId } }, options);
  }
}

/** The operations of `events`. */
export class EventsMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * List events. Newest first, kept for 30 days. `total` is counted up to 10,000; beyond that `total_relation` is `gte`.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/events`
   */
  list(query?: NonNullable<Operations["GET /v1/events"]["request"]["query"]>, options?: RequestOptions): PageList<Event, CappedPagination> {
    return this.client.list("GET /v1/events", { query }, options);
  }

  /**
   * Get event. Needs the permission `read`.
   *
   * `GET /v1/events/{event_id}`
   */
  get(eventId: string, options?: RequestOptions): Promise<Event> {
    return this.client.data("GET /v1/events/{event_id}", { params: { event_id: eventId } }, options);
  }
}

/** The operations of `keys`. */
export class KeysMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Create API key. The answer holds the key itself, once: it is not kept and cannot be shown again. A key never gives more than its maker holds: not in permissions, not in agents, not in time.
   *
   * Needs the permission `manage`.
   *
   * `POST /v1/keys`
   */
  create(body: CreateKey, options?: RequestOptions): Promise<CreatedApiKey> {
    return this.client.data("POST /v1/keys", { body }, options);
  }

  /**
   * List API keys. Needs the permission `manage`.
   *
   * `GET /v1/keys`
   */
  list(query?: NonNullable<Operations["GET /v1/keys"]["request"]["query"]>, options?: RequestOptions): PageList<ApiKey, Pagination> {
    return this.client.list("GET /v1/keys", { query }, options);
  }

  /**
   * Revoke API key. The key stops working at once. Revoking twice is the same as once.
   *
   * Needs the permission `manage`.
   *
   * `DELETE /v1/keys/{key_id}`
   */
  revoke(keyId: string, options?: RequestOptions): Promise<Operations["DELETE /v1/keys/{key_id}"]["response"]["data"]> {
    return this.client.data("DELETE /v1/keys/{key_id}", { params: { key_id: keyId } }, options);
  }

  /**
   * Update API key. Changes its name, what it may do or when it ends, from its next request on. Never to more than the caller holds.
   *
   * Needs the permission `manage`.
   *
   * `PATCH /v1/keys/{key_id}`
   */
  update(keyId: string, body?: UpdateKey, options?: RequestOptions): Promise<ApiKey> {
    return this.client.data("PATCH /v1/keys/{key_id}", { params: { key_id: keyId }, body }, options);
  }

  /**
   * Rotate API key. Makes a new key with the same rights and shows it once. The old one ends when the overlap is over, at once if it is 0.
   *
   * Needs the permission `manage`.
   *
   * `POST /v1/keys/{key_id}/rotate`
   */
  rotate(keyId: string, body?: RotateKey, options?: RequestOptions): Promise<CreatedApiKey> {
    return this.client.data("POST /v1/keys/{key_id}/rotate", { params: { key_id: keyId }, body }, options);
  }

  /**
   * Revoke a leaked API key. Whoever finds a key may end it by presenting it: no other key is needed. Limited by address.
   *
   * Needs no API key.
   *
   * `POST /v1/keys/revoke-leaked`
   */
  revokeLeaked(body: RevokeLeakedKey, options?: RequestOptions): Promise<Operations["POST /v1/keys/revoke-leaked"]["response"]["data"]> {
    return this.client.data("POST /v1/keys/revoke-leaked", { body }, options);
  }
}

/** The operations of `account`. */
export class AccountMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Who am I. What the presented key is and may do.
   *
   * Any valid key will do.
   *
   * `GET /v1/me`
   */
  me(options?: RequestOptions): Promise<Me> {
    return this.client.data("GET /v1/me", {}, options);
  }
}

/** The operations of `models`. */
export class ModelsMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * List models. What an agent of this organisation can run on: built-in models, the server's providers and your own.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/models`
   */
  list(query?: NonNullable<Operations["GET /v1/models"]["request"]["query"]>, options?: RequestOptions): PageList<ModelEntry, Pagination> {
    return this.client.list("GET /v1/models", { query }, options);
  }
}

/** The operations of `providers`. */
export class ProvidersMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Add model provider. Goes before a provider of the same name that the server has.
   *
   * Needs the permission `manage`.
   *
   * `POST /v1/providers`
   */
  create(body: CreateProvider, options?: RequestOptions): Promise<Provider> {
    return this.client.data("POST /v1/providers", { body }, options);
  }

  /**
   * List model providers. Those of your organisation. What the server brings is in `GET /v1/models`.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/providers`
   */
  list(query?: NonNullable<Operations["GET /v1/providers"]["request"]["query"]>, options?: RequestOptions): PageList<Provider, Pagination> {
    return this.client.list("GET /v1/providers", { query }, options);
  }

  /**
   * Get model provider. Needs the permission `read`.
   *
   * `GET /v1/providers/{provider_name}`
   */
  get(providerName: string, options?: RequestOptions): Promise<Provider> {
    return this.client.data("GET /v1/providers/{provider_name}", { params: { provider_name: providerName } }, options);
  }

  /**
   * Update model provider. Counts from the next model call on. A new address needs the API key anew, so that nobody can send it elsewhere.
   *
   * Needs the permission `manage`.
   *
   * `PATCH /v1/providers/{provider_name}`
   */
  update(providerName: string, body?: UpdateProvider, options?: RequestOptions): Promise<Provider> {
    return this.client.data("PATCH /v1/providers/{provider_name}", { params: { provider_name: providerName }, body }, options);
  }

  /**
   * Remove model provider. Runs that need it fail from their next model call on, unless the server has a provider of that name.
   *
   * Needs the permission `manage`.
   *
   * `DELETE /v1/providers/{provider_name}`
   */
  delete(providerName: string, options?: RequestOptions): Promise<Operations["DELETE /v1/providers/{provider_name}"]["response"]["data"]> {
    return this.client.data("DELETE /v1/providers/{provider_name}", { params: { provider_name: providerName } }, options);
  }
}

/** The operations of `auditLog`. */
export class AuditLogMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Get audit log. Newest first, for 400 days. A key that belongs to one agent sees what was done to that agent. `total` is counted up to 10,000; beyond that `total_relation` is `gte`.
   *
   * Needs the permission `manage`.
   *
   * `GET /v1/audit-log`
   */
  list(query?: NonNullable<Operations["GET /v1/audit-log"]["request"]["query"]>, options?: RequestOptions): PageList<AuditEntry, AuditPagination> {
    return this.client.list("GET /v1/audit-log", { query }, options);
  }
}

/** The operations of `mfa`. */
export class MfaMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Enrol a second factor. For the key that asks. Give `otpauth_url` to an authenticator, keep the recovery codes, then confirm with a code. Nothing counts before that.
   *
   * Any valid key will do.
   *
   * `POST /v1/mfa`
   */
  enrol(options?: RequestOptions): Promise<MfaEnrolment> {
    return this.client.data("POST /v1/mfa", {}, options);
  }

  /**
   * Confirm the second factor. Any valid key will do.
   *
   * `POST /v1/mfa/confirm`
   */
  confirm(body: ConfirmMfa, options?: RequestOptions): Promise<Operations["POST /v1/mfa/confirm"]["response"]["data"]> {
    return this.client.data("POST /v1/mfa/confirm", { body }, options);
  }

  /**
   * Get a step-up token. For scripts: a token for `X-MFA-Code` that counts for this key as a code does, for ten minutes.
   *
   * Any valid key will do.
   *
   * `POST /v1/mfa/step-up`
   */
  stepUp(body: StepUp, options?: RequestOptions): Promise<StepUpToken> {
    return this.client.data("POST /v1/mfa/step-up", { body }, options);
  }

  /**
   * Remove the second factor. Any valid key will do.
   *
   * `POST /v1/mfa/remove`
   */
  remove(body: RemoveMfa, options?: RequestOptions): Promise<Operations["POST /v1/mfa/remove"]["response"]["data"]> {
    return this.client.data("POST /v1/mfa/remove", { body }, options);
  }
}
