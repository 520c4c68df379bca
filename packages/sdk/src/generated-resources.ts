// Made from openapi.json by `pnpm generate`. Do not edit.

import type { Client } from "./client.ts";
import type { Operations } from "./generated-operations.ts";
import type { QueryOf } from "./operation-parts.ts";
import type { RequestOptions } from "./options.ts";
import type { PageList } from "./page-list.ts";
import type {
  AddLogs,
  AddMemory,
  Agent,
  AgentCheck,
  AgentMetrics,
  AgentSummary,
  AnswerApproval,
  ApiKey,
  Approval,
  ApprovalSummary,
  ApproveApproval,
  AuditEntry,
  CappedPagination,
  ConfirmConnection,
  ConfirmMfa,
  Connection,
  ConnectionWithLink,
  ConsoleLink,
  ConsoleSession,
  CreateAgent,
  CreateConnection,
  CreateDeployment,
  CreateKey,
  CreateProvider,
  CreateSecret,
  CreateWebhook,
  CreatedApiKey,
  CreatedConsoleSession,
  CursorPagination,
  Delivery,
  DeliveryWithAttempts,
  Deployment,
  DeploymentOfAnyAgent,
  Erasure,
  Event,
  Installation,
  Invocation,
  InvocationOfAnyAgent,
  InvocationSummary,
  LogEntry,
  Me,
  Memory,
  MemoryClear,
  MemoryStatus,
  MetricSeries,
  MfaEnrolment,
  MfaEnrolmentToken,
  ModelEntry,
  Organisation,
  Pagination,
  Provider,
  RedeliverFailed,
  RejectApproval,
  RemoveMfa,
  RevokeLeakedKey,
  RotateKey,
  RotateWebhookSecret,
  RunStep,
  SearchMemory,
  Secret,
  SignIn,
  SignInMethods,
  StepUp,
  StepUpToken,
  UncountedPagination,
  UpdateAgent,
  UpdateDeployment,
  UpdateKey,
  UpdateOrganisation,
  UpdateProvider,
  UpdateSecret,
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
   * Create agent. `name` cannot be changed later. `model` is required, except for a remote agent (`runtime.type` is `http`). The other fields default to `{"temperature":null,"instructions":"","tools":[],"memory":{"recall":false,"recall_limit":5,"remember":false,"embedder":{"model":"perch/minilm","dimensions":384}},"limits":{"max_steps":20,"max_tokens":100000,"timeout_seconds":120,"max_history_messages":40,"max_concurrent_runs":100},"logs":"shapes","fallback_models":[],"runtime":{"type":"model"},"security":{}}`. Setting `security` or `auth` also needs the permission `manage`.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents`
   */
  create(body: CreateAgent, query?: QueryOf<"POST /v1/agents">, options?: RequestOptions): Promise<Agent> {
    return this.client.data("POST /v1/agents", { body, query }, options);
  }

  /**
   * List agents. Id, name and status of every agent, whatever its settings.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents`
   */
  list(query?: QueryOf<"GET /v1/agents">, options?: RequestOptions): PageList<AgentSummary, Pagination> {
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
   * Update agent. Changes the draft. Fields that are left out stay as they are. `memory`, `limits` and `security` are merged field by field; an object inside them, such as `memory.embedder` or `security.hsts`, is replaced as a whole. Every other field is replaced. null restores a field's default, and removes a field of `security`; `model` has no default and cannot be null. Changing `security` or `auth` also needs the permission `manage`. Security settings that would refuse this request are rejected with `conflict`, unless `force` is true. For one hour after a change of `auth`, the key that made it can read and update the agent without a user's token, to take it back; `warnings` says so.
   *
   * Needs the permission `write`.
   *
   * `PATCH /v1/agents/{agent_id}`
   */
  update(agentId: string, body?: UpdateAgent, query?: QueryOf<"PATCH /v1/agents/{agent_id}">, options?: RequestOptions): Promise<Agent> {
    return this.client.data("PATCH /v1/agents/{agent_id}", { params: { agent_id: agentId }, body, query }, options);
  }

  /**
   * Delete agent. Deletes the agent immediately; its name can be used again. Keys that are limited to this agent are revoked.
   *
   * Needs the permission `delete`.
   *
   * `DELETE /v1/agents/{agent_id}`
   */
  delete(agentId: string, options?: RequestOptions): Promise<Operations["DELETE /v1/agents/{agent_id}"]["response"]["data"]> {
    return this.client.data("DELETE /v1/agents/{agent_id}", { params: { agent_id: agentId } }, options);
  }

  /**
   * Pause agent. A paused agent rejects new runs with `conflict`. Pausing a paused agent changes nothing.
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

  /**
   * Check agent. Checks the agent's draft as a deployment would: its limits, its secrets, whether its models exist, and whether its tools or its remote agent answer within 5 seconds. Changes nothing, and calls no model. The answer lists every problem; the list is empty if a deployment of the draft would become active.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/check`
   */
  check(agentId: string, options?: RequestOptions): Promise<AgentCheck> {
    return this.client.data("POST /v1/agents/{agent_id}/check", { params: { agent_id: agentId } }, options);
  }
}

/** The operations of `runs`. */
export class RunsMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * List runs. Newest first. `total` is exact up to 10,000; above that, `total_relation` is `gte`.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/invocations`
   */
  list(agentId: string, query?: QueryOf<"GET /v1/agents/{agent_id}/invocations">, options?: RequestOptions): PageList<InvocationSummary, CappedPagination> {
    return this.client.list("GET /v1/agents/{agent_id}/invocations", { params: { agent_id: agentId }, query }, options);
  }

  /**
   * List runs of all agents. Newest first, without runs of deleted agents. Nothing is counted, and a request reads a bounded number of runs, so it takes the same time however many are stored. Where a filter matches few of them, a page can be short or empty: `next_cursor` continues. A run can appear after newer ones, because some are stored when they end: to keep a list up to date, ask for its first page again.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/invocations`
   */
  listAll(query?: QueryOf<"GET /v1/invocations">, options?: RequestOptions): PageList<InvocationOfAnyAgent, UncountedPagination> {
    return this.client.list("GET /v1/invocations", { query }, options);
  }

  /**
   * Get run. With `Accept: text/event-stream` the response is the run's event stream, from its start or after `Last-Event-ID`, with the same events as Invoke agent.
   *
   * Needs the permission `read`, or `invoke` for a run that the key itself started.
   *
   * `GET /v1/agents/{agent_id}/invocations/{request_id}`
   */
  get(agentId: string, runId: string, options?: RequestOptions): Promise<Invocation> {
    return this.client.data("GET /v1/agents/{agent_id}/invocations/{request_id}", { params: { agent_id: agentId, request_id: runId } }, options);
  }

  /**
   * Cancel run. The run stops before its next step and gets the status `cancelled`. Cancelling a run that has ended changes nothing.
   *
   * Needs the permission `write`, or `invoke` for a run that the key itself started.
   *
   * `POST /v1/agents/{agent_id}/invocations/{request_id}/cancel`
   */
  cancel(agentId: string, runId: string, options?: RequestOptions): Promise<Invocation> {
    return this.client.data("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", { params: { agent_id: agentId, request_id: runId } }, options);
  }

  /**
   * List the steps of a run. Every attempt of every model call, tool call, listing of tools and recall of memories, in order: when, how long, with how many tokens, why it failed, its input and its output. Empty until the run ends or begins to wait; meanwhile its event stream has the same. Steps are kept as long as the log, at most 300 of a run or of each part between two waits, and their contents as the agent's `logs` says.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/invocations/{request_id}/steps`
   */
  steps(agentId: string, runId: string, query?: QueryOf<"GET /v1/agents/{agent_id}/invocations/{request_id}/steps">, options?: RequestOptions): PageList<RunStep, Pagination> {
    return this.client.list("GET /v1/agents/{agent_id}/invocations/{request_id}/steps", { params: { agent_id: agentId, request_id: runId }, query }, options);
  }
}

/** The operations of `approvals`. */
export class ApprovalsMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * List approvals. Newest first. A request reads a bounded number of rows: where a filter matches few, a page can be short or empty, and `next_cursor` continues. Decided ones are kept for 30 days, and at least until their run has ended.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/approvals`
   */
  list(query?: QueryOf<"GET /v1/approvals">, options?: RequestOptions): PageList<ApprovalSummary, UncountedPagination> {
    return this.client.list("GET /v1/approvals", { query }, options);
  }

  /**
   * Get approval. What the model wants to do, why a person is asked, and what the run did so far.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/approvals/{approval_id}`
   */
  get(approvalId: string, options?: RequestOptions): Promise<Approval> {
    return this.client.data("GET /v1/approvals/{approval_id}", { params: { approval_id: approvalId } }, options);
  }

  /**
   * Approve a call. The call is made, and the run goes on once all calls of its reply are decided. With `arguments` the call is made with these instead; they are checked against the tool's schema. Deciding again in the same way gives the first answer; in another way it is refused with 409. The key or person that started the run is refused, unless the agent's policy allows it.
   *
   * Needs the permission `approve`.
   *
   * `POST /v1/approvals/{approval_id}/approve`
   */
  approve(approvalId: string, body?: ApproveApproval, options?: RequestOptions): Promise<Approval> {
    return this.client.data("POST /v1/approvals/{approval_id}/approve", { params: { approval_id: approvalId }, body }, options);
  }

  /**
   * Reject a call. The call is not made, and the model is told so, with the reason. A question can be rejected too. Deciding again in the same way gives the first answer; in another way it is refused with 409. The key or person that started the run is refused, unless the agent's policy allows it.
   *
   * Needs the permission `approve`.
   *
   * `POST /v1/approvals/{approval_id}/reject`
   */
  reject(approvalId: string, body?: RejectApproval, options?: RequestOptions): Promise<Approval> {
    return this.client.data("POST /v1/approvals/{approval_id}/reject", { params: { approval_id: approvalId }, body }, options);
  }

  /**
   * Answer a question. The answer, which is checked against the schema in the agent's definition, is the result of the model's call. Deciding again in the same way gives the first answer; in another way it is refused with 409. The key or person that started the run is refused, unless the agent's policy allows it.
   *
   * Needs the permission `approve`.
   *
   * `POST /v1/approvals/{approval_id}/answer`
   */
  answer(approvalId: string, body: AnswerApproval, options?: RequestOptions): Promise<Approval> {
    return this.client.data("POST /v1/approvals/{approval_id}/answer", { params: { approval_id: approvalId }, body }, options);
  }
}

/** The operations of `connections`. */
export class ConnectionsMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Create connection. Gives a link with which one user consents that the agent uses an account of theirs with one tool. There is one connection for each user, tool and address that the tool leads to: if it exists, this gives a new link for it, and it works as before until the new consent is confirmed. The provider sends the browser back to Perch, and Perch sends it to `return_url` with `connection_id` and `code`, or with `error`. Runs use the account only after `POST …/confirm`.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/connections`
   */
  create(agentId: string, body: CreateConnection, options?: RequestOptions): Promise<ConnectionWithLink> {
    return this.client.data("POST /v1/agents/{agent_id}/connections", { params: { agent_id: agentId }, body }, options);
  }

  /**
   * List connections. Newest first. A request reads a bounded number of rows: where a filter matches few, a page can be short or empty, and `next_cursor` continues.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/connections`
   */
  list(agentId: string, query?: QueryOf<"GET /v1/agents/{agent_id}/connections">, options?: RequestOptions): PageList<Connection, UncountedPagination> {
    return this.client.list("GET /v1/agents/{agent_id}/connections", { params: { agent_id: agentId }, query }, options);
  }

  /**
   * Get connection. Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/connections/{connection_id}`
   */
  get(agentId: string, connectionId: string, options?: RequestOptions): Promise<Connection> {
    return this.client.data("GET /v1/agents/{agent_id}/connections/{connection_id}", { params: { agent_id: agentId, connection_id: connectionId } }, options);
  }

  /**
   * Confirm connection. Says that the user who returned is the user the link was created for: runs of that user use the account from now on. With another `user_id` it is refused, and the code is no longer valid. A code works once, within two minutes. While the provider does not answer, this is refused with 503, and the same code can be sent again.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/connections/{connection_id}/confirm`
   */
  confirm(agentId: string, connectionId: string, body: ConfirmConnection, options?: RequestOptions): Promise<Connection> {
    return this.client.data("POST /v1/agents/{agent_id}/connections/{connection_id}/confirm", { params: { agent_id: agentId, connection_id: connectionId }, body }, options);
  }

  /**
   * Revoke connection. No run uses the account any more. The provider is asked to revoke the tokens, where it offers that, for three seconds at most; if it does not answer, it is asked again for a day. Revoking a revoked connection changes nothing. Kept for 30 days.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/connections/{connection_id}/revoke`
   */
  revoke(agentId: string, connectionId: string, options?: RequestOptions): Promise<Connection> {
    return this.client.data("POST /v1/agents/{agent_id}/connections/{connection_id}/revoke", { params: { agent_id: agentId, connection_id: connectionId } }, options);
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
   * Create deployment. Returns immediately with the status `pending`. The model, the tools and the limits are checked; then the deployment is `active` and serves the next request, or it is `failed` with an `error` and the live deployment stays live.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/deployments`
   */
  create(agentId: string, body: CreateDeployment, options?: RequestOptions): Promise<Deployment> {
    return this.client.data("POST /v1/agents/{agent_id}/deployments", { params: { agent_id: agentId }, body }, options);
  }

  /**
   * List deployments. Includes past deployments, as many as the tier keeps: beyond that, those that ended first are deleted.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/deployments`
   */
  list(agentId: string, query?: QueryOf<"GET /v1/agents/{agent_id}/deployments">, options?: RequestOptions): PageList<Deployment, Pagination> {
    return this.client.list("GET /v1/agents/{agent_id}/deployments", { params: { agent_id: agentId }, query }, options);
  }

  /**
   * List deployments of all agents. Newest first, without deployments of deleted agents. Nothing is counted, and a request reads a bounded number of deployments. Where a filter matches few of them, a page can be short or empty: `next_cursor` continues.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/deployments`
   */
  listAll(query?: QueryOf<"GET /v1/deployments">, options?: RequestOptions): PageList<DeploymentOfAnyAgent, UncountedPagination> {
    return this.client.list("GET /v1/deployments", { query }, options);
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
   * Adjust canary. Changes a canary's share of requests. When the share grows, sessions on the canary stay on it.
   *
   * Needs the permission `write`.
   *
   * `PATCH /v1/agents/{agent_id}/deployments/{deployment_id}`
   */
  update(agentId: string, deploymentId: string, body: UpdateDeployment, options?: RequestOptions): Promise<Deployment> {
    return this.client.data("PATCH /v1/agents/{agent_id}/deployments/{deployment_id}", { params: { agent_id: agentId, deployment_id: deploymentId }, body }, options);
  }

  /**
   * Promote canary. The canary becomes the live deployment and serves the next request.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote`
   */
  promote(agentId: string, deploymentId: string, options?: RequestOptions): Promise<Deployment> {
    return this.client.data("POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote", { params: { agent_id: agentId, deployment_id: deploymentId } }, options);
  }

  /**
   * Abort canary. The canary gets no more requests; the live deployment gets all of them.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort`
   */
  abort(agentId: string, deploymentId: string, options?: RequestOptions): Promise<Deployment> {
    return this.client.data("POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort", { params: { agent_id: agentId, deployment_id: deploymentId } }, options);
  }

  /**
   * Roll back deployment. Creates a new deployment of this deployment's version in its environment. For the live deployment, the previous version is deployed instead; a canary is aborted. Takes effect with the next request, on every node.
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
  list(agentId: string, query?: QueryOf<"GET /v1/agents/{agent_id}/versions">, options?: RequestOptions): PageList<VersionSummary, Pagination> {
    return this.client.list("GET /v1/agents/{agent_id}/versions", { params: { agent_id: agentId }, query }, options);
  }

  /**
   * Get version. The agent's definition at the time the version was created. It never changes.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/versions/{version}`
   */
  get(agentId: string, version: string, options?: RequestOptions): Promise<Version> {
    return this.client.data("GET /v1/agents/{agent_id}/versions/{version}", { params: { agent_id: agentId, version: version } }, options);
  }

  /**
   * Compare versions. Changes from this version to another version, or to the agent's draft. The two may have 262,144 characters together; larger ones are refused with 409.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/versions/{version}/diff`
   */
  diff(agentId: string, version: string, query?: QueryOf<"GET /v1/agents/{agent_id}/versions/{version}/diff">, options?: RequestOptions): Promise<VersionDiff> {
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
   * Get logs. Newest first. `total` is exact up to 10,000; above that, `total_relation` is `gte`. A page ends early after 4 MiB, and a request with `environment`, `version` or `contains` reads at most 20,000 entries, with up to 4 MiB of messages: then there may be more although few or none are shown, and `next_cursor` continues. With `Accept: text/event-stream` the response is a stream of new entries that match the same filters; with `start_time` it begins with those since then, and with all entries of runs that have ended since then.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/logs`
   */
  list(agentId: string, query?: QueryOf<"GET /v1/agents/{agent_id}/logs">, options?: RequestOptions): PageList<LogEntry, CursorPagination> {
    return this.client.list("GET /v1/agents/{agent_id}/logs", { params: { agent_id: agentId }, query }, options);
  }

  /**
   * Add log entries. Lets remote agents and tools add their own entries to the agent's log.
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
   * Get metrics of several agents. Returns a series for each agent and metric, with one value for every interval of the range, in the units of Get metrics. `response_time` is the average; Get metrics has percentiles.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/metrics`
   */
  getAll(query?: QueryOf<"GET /v1/metrics">, options?: RequestOptions): Promise<AgentMetrics> {
    return this.client.data("GET /v1/metrics", { query }, options);
  }

  /**
   * Get metrics. Returns one value for every interval of the range, including intervals without runs. `response_time` is in milliseconds, `throughput` in requests per minute, `error_rate` is a fraction from 0 to 1. `tokens` and `cost` are sums; `cost` is in US dollars and covers models whose price the operator has set. Percentiles are accurate to within 6 %.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/metrics`
   */
  get(agentId: string, query: QueryOf<"GET /v1/agents/{agent_id}/metrics">, options?: RequestOptions): Promise<MetricSeries> {
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
   * Search memory. Merges the 100 memories that are nearest by meaning and the 100 that match best by words, best first: these are the results, at most 200, and `total` is their number. If the embedder is not available, only the words are searched, and `search.notice` says so. An `Idempotency-Key` is ignored: a search changes nothing.
   *
   * Needs the permission `read`.
   *
   * `POST /v1/agents/{agent_id}/memory/search`
   */
  search(agentId: string, body: SearchMemory, options?: RequestOptions): Promise<Operations["POST /v1/agents/{agent_id}/memory/search"]["response"]> {
    return this.client.request("POST /v1/agents/{agent_id}/memory/search", { params: { agent_id: agentId }, body }, options);
  }

  /**
   * Add memory. The same content of the same user is stored once. Adding it again makes it the newest.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/memory`
   */
  add(agentId: string, body: AddMemory, options?: RequestOptions): Promise<Memory> {
    return this.client.data("POST /v1/agents/{agent_id}/memory", { params: { agent_id: agentId }, body }, options);
  }

  /**
   * List memories. Most recently stored first. `total` is exact up to 10,000; above that, `total_relation` is `gte`.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/memory`
   */
  list(agentId: string, query?: QueryOf<"GET /v1/agents/{agent_id}/memory">, options?: RequestOptions): PageList<Memory, CappedPagination> {
    return this.client.list("GET /v1/agents/{agent_id}/memory", { params: { agent_id: agentId }, query }, options);
  }

  /**
   * Clear memory. Deletes memories and session messages. They are hidden as soon as this returns; a large clear answers 202 and goes on deleting in the background. Records of runs and logs are not deleted: they expire.
   *
   * Needs the permission `delete`.
   *
   * `DELETE /v1/agents/{agent_id}/memory`
   */
  clear(agentId: string, query?: QueryOf<"DELETE /v1/agents/{agent_id}/memory">, options?: RequestOptions): Promise<MemoryClear> {
    return this.client.data("DELETE /v1/agents/{agent_id}/memory", { params: { agent_id: agentId }, query }, options);
  }

  /**
   * Get memory status. Number of memories, and the progress of embedding them.
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
   * Get memory clear. Progress of a clear that runs in the background.
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
   * Create webhook. The response contains the signing secret, which is shown only once. The header `X-Service-Signature` of a delivery is the hex-encoded HMAC-SHA-256 of the raw body, keyed with the whole secret as shown. Deliveries also carry the headers of Standard Webhooks.
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
  list(query?: QueryOf<"GET /v1/webhooks">, options?: RequestOptions): PageList<Webhook, Pagination> {
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
   * Update webhook. Takes effect with the next attempt, also for pending deliveries. A webhook with `approval_links` is changed, and gets a new secret, only with `manage`, and with `approve` too if the organisation has `manage_grants_approve: false`; `approval_links: false` needs only `manage`.
   *
   * Needs the permission `write`.
   *
   * `PATCH /v1/webhooks/{webhook_id}`
   */
  update(webhookId: string, body?: UpdateWebhook, options?: RequestOptions): Promise<Webhook> {
    return this.client.data("PATCH /v1/webhooks/{webhook_id}", { params: { webhook_id: webhookId }, body }, options);
  }

  /**
   * Delete webhook. Cancels pending deliveries and deletes the webhook's delivery log.
   *
   * Needs the permission `delete`.
   *
   * `DELETE /v1/webhooks/{webhook_id}`
   */
  delete(webhookId: string, options?: RequestOptions): Promise<Operations["DELETE /v1/webhooks/{webhook_id}"]["response"]["data"]> {
    return this.client.data("DELETE /v1/webhooks/{webhook_id}", { params: { webhook_id: webhookId } }, options);
  }

  /**
   * Rotate webhook secret. Creates a new secret and shows it once. During the overlap, deliveries are signed with both secrets: `webhook-signature` contains both signatures, `X-Service-Signature` is made with the new secret and `X-Service-Signature-Previous` with the old one.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/webhooks/{webhook_id}/rotate`
   */
  rotateSecret(webhookId: string, body?: RotateWebhookSecret, options?: RequestOptions): Promise<WebhookWithSecret> {
    return this.client.data("POST /v1/webhooks/{webhook_id}/rotate", { params: { webhook_id: webhookId }, body }, options);
  }

  /**
   * Send test event. Delivers a `webhook.test` event to this webhook, whether or not it is subscribed to it.
   *
   * Needs the permission `write`.
   *
   * `POST /v1/webhooks/{webhook_id}/test`
   */
  test(webhookId: string, options?: RequestOptions): Promise<Delivery> {
    return this.client.data("POST /v1/webhooks/{webhook_id}/test", { params: { webhook_id: webhookId } }, options);
  }

  /**
   * Redeliver failed deliveries. Creates new deliveries for those that failed since a given time and whose event has not been delivered or queued again. Handles the oldest 1,000; if `has_more` is true, call it again.
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
   * List deliveries. Newest first. Deliveries are kept for 30 days. `total` is exact up to 10,000; above that, `total_relation` is `gte`.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/webhooks/{webhook_id}/deliveries`
   */
  list(webhookId: string, query?: QueryOf<"GET /v1/webhooks/{webhook_id}/deliveries">, options?: RequestOptions): PageList<Delivery, CappedPagination> {
    return this.client.list("GET /v1/webhooks/{webhook_id}/deliveries", { params: { webhook_id: webhookId }, query }, options);
  }

  /**
   * Get delivery. Includes all attempts: when they were made, how long they took, the response, and why they failed.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}`
   */
  get(webhookId: string, deliveryId: string, options?: RequestOptions): Promise<DeliveryWithAttempts> {
    return this.client.data("GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}", { params: { webhook_id: webhookId, delivery_id: deliveryId } }, options);
  }

  /**
   * Redeliver. Creates a new delivery of the same event. The event keeps its id.
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
   * List events. Newest first. Events are kept for 30 days. `total` is exact up to 10,000; above that, `total_relation` is `gte`.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/events`
   */
  list(query?: QueryOf<"GET /v1/events">, options?: RequestOptions): PageList<Event, CappedPagination> {
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
   * Create API key. The response contains the key. No other operation shows it. A key cannot have more permissions, access more agents or last longer than the key that creates it. `approve` is the exception: a key with `manage` may give it without having it, unless the organisation forbids it (`manage_grants_approve`).
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
  list(query?: QueryOf<"GET /v1/keys">, options?: RequestOptions): PageList<ApiKey, Pagination> {
    return this.client.list("GET /v1/keys", { query }, options);
  }

  /**
   * Get API key. What the list shows of one key. The key itself is never shown again.
   *
   * Needs the permission `manage`.
   *
   * `GET /v1/keys/{key_id}`
   */
  get(keyId: string, options?: RequestOptions): Promise<ApiKey> {
    return this.client.data("GET /v1/keys/{key_id}", { params: { key_id: keyId } }, options);
  }

  /**
   * Revoke API key. The key stops working immediately. Revoking a revoked key changes nothing.
   *
   * Needs the permission `manage`.
   *
   * `DELETE /v1/keys/{key_id}`
   */
  revoke(keyId: string, options?: RequestOptions): Promise<Operations["DELETE /v1/keys/{key_id}"]["response"]["data"]> {
    return this.client.data("DELETE /v1/keys/{key_id}", { params: { key_id: keyId } }, options);
  }

  /**
   * Update API key. Changes the key's name, permissions or expiry. Takes effect with the key's next request. The key cannot get more than the calling key has, but for `approve`, which a key with `manage` may give without having it, unless the organisation forbids it.
   *
   * Needs the permission `manage`.
   *
   * `PATCH /v1/keys/{key_id}`
   */
  update(keyId: string, body?: UpdateKey, options?: RequestOptions): Promise<ApiKey> {
    return this.client.data("PATCH /v1/keys/{key_id}", { params: { key_id: keyId }, body }, options);
  }

  /**
   * Rotate API key. Creates a new key with the same permissions and shows it once. The old key stops working after the overlap, or immediately if the overlap is 0. The caller must be allowed to give the key's permissions, as if it created the key.
   *
   * Needs the permission `manage`.
   *
   * `POST /v1/keys/{key_id}/rotate`
   */
  rotate(keyId: string, body?: RotateKey, options?: RequestOptions): Promise<CreatedApiKey> {
    return this.client.data("POST /v1/keys/{key_id}/rotate", { params: { key_id: keyId }, body }, options);
  }

  /**
   * Begin the enrolment of a second factor. Returns a token with which the holder of this key can enrol a second factor: `POST /v1/mfa` with the token in `X-MFA-Code`. Where the security settings demand a second factor, no key can enrol one without a token, and the calling key must have a second factor itself. The token is not kept: a retry with the same `Idempotency-Key` is 409.
   *
   * Needs the permission `manage`.
   *
   * `POST /v1/keys/{key_id}/begin-mfa`
   */
  beginMfa(keyId: string, options?: RequestOptions): Promise<MfaEnrolmentToken> {
    return this.client.data("POST /v1/keys/{key_id}/begin-mfa", { params: { key_id: keyId } }, options);
  }

  /**
   * Revoke a leaked API key. Revokes the key in the request body. Needs no other key, so that anyone who finds a leaked key can revoke it. Rate-limited by address.
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
   * Get current key. The API key or the session of this request, its organisation, and what the organisation has and may have.
   *
   * Needs any valid API key.
   *
   * `GET /v1/me`
   */
  me(options?: RequestOptions): Promise<Me> {
    return this.client.data("GET /v1/me", {}, options);
  }
}

/** The operations of `organisation`. */
export class OrganisationMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Get organisation. Needs the permission `read`.
   *
   * `GET /v1/organisation`
   */
  get(options?: RequestOptions): Promise<Organisation> {
    return this.client.data("GET /v1/organisation", {}, options);
  }

  /**
   * Update organisation. With `manage_grants_approve: false`, a key with `approve` is created, changed or rotated only by a caller that has `approve` too, and so are webhooks with `approval_links`. It applies at once to all callers, and takes nothing from keys and webhooks that exist: revoke those that should not decide. Setting it does not need `approve`, so an organisation in which no key has it can lock itself out. The operator then makes a key with `perch-server create-key --approve`, and sets it to true again with `perch-server set-organisation --manage-grants-approve on`; this operation answers 403 to that. A key of one agent cannot use this operation.
   *
   * Needs the permission `manage`.
   *
   * `PATCH /v1/organisation`
   */
  update(body?: UpdateOrganisation, options?: RequestOptions): Promise<Organisation> {
    return this.client.data("PATCH /v1/organisation", { body }, options);
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
   * List models. Models that agents of this organisation can use: built-in models, and models of the server's and your own providers.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/models`
   */
  list(query?: QueryOf<"GET /v1/models">, options?: RequestOptions): PageList<ModelEntry, Pagination> {
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
   * Create model provider. Takes precedence over a provider of the same name in the server's configuration.
   *
   * Needs the permission `manage`.
   *
   * `POST /v1/providers`
   */
  create(body: CreateProvider, options?: RequestOptions): Promise<Provider> {
    return this.client.data("POST /v1/providers", { body }, options);
  }

  /**
   * List model providers. Providers of your organisation. For models of the server's providers see `GET /v1/models`.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/providers`
   */
  list(query?: QueryOf<"GET /v1/providers">, options?: RequestOptions): PageList<Provider, Pagination> {
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
   * Update model provider. Takes effect with the next model call. Changing `base_url` requires `api_key` too, so that a stored key cannot be sent to another address.
   *
   * Needs the permission `manage`.
   *
   * `PATCH /v1/providers/{provider_name}`
   */
  update(providerName: string, body?: UpdateProvider, options?: RequestOptions): Promise<Provider> {
    return this.client.data("PATCH /v1/providers/{provider_name}", { params: { provider_name: providerName }, body }, options);
  }

  /**
   * Delete model provider. Runs that use the provider fail at their next model call, unless the server has a provider of the same name.
   *
   * Needs the permission `manage`.
   *
   * `DELETE /v1/providers/{provider_name}`
   */
  delete(providerName: string, options?: RequestOptions): Promise<Operations["DELETE /v1/providers/{provider_name}"]["response"]["data"]> {
    return this.client.data("DELETE /v1/providers/{provider_name}", { params: { provider_name: providerName } }, options);
  }
}

/** The operations of `secrets`. */
export class SecretsMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Create secret. For all agents of the organisation. An agent's own secret of the same name takes precedence.
   *
   * Needs the permission `manage`.
   *
   * `POST /v1/secrets`
   */
  create(body: CreateSecret, options?: RequestOptions): Promise<Secret> {
    return this.client.data("POST /v1/secrets", { body }, options);
  }

  /**
   * List secrets. Secrets for all agents of the organisation, without their values.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/secrets`
   */
  list(query?: QueryOf<"GET /v1/secrets">, options?: RequestOptions): PageList<Secret, Pagination> {
    return this.client.list("GET /v1/secrets", { query }, options);
  }

  /**
   * Get secret. Needs the permission `read`.
   *
   * `GET /v1/secrets/{secret_name}`
   */
  get(secretName: string, options?: RequestOptions): Promise<Secret> {
    return this.client.data("GET /v1/secrets/{secret_name}", { params: { secret_name: secretName } }, options);
  }

  /**
   * Update secret. Takes effect with the next call on every worker. A new host needs `value` again, so that a stored secret cannot be sent to another host without it.
   *
   * Needs the permission `manage`.
   *
   * `PATCH /v1/secrets/{secret_name}`
   */
  update(secretName: string, body?: UpdateSecret, options?: RequestOptions): Promise<Secret> {
    return this.client.data("PATCH /v1/secrets/{secret_name}", { params: { secret_name: secretName }, body }, options);
  }

  /**
   * Delete secret. Calls that refer to the secret are refused from then on.
   *
   * Needs the permission `manage`.
   *
   * `DELETE /v1/secrets/{secret_name}`
   */
  delete(secretName: string, options?: RequestOptions): Promise<Operations["DELETE /v1/secrets/{secret_name}"]["response"]["data"]> {
    return this.client.data("DELETE /v1/secrets/{secret_name}", { params: { secret_name: secretName } }, options);
  }
}

/** The operations of `agentSecrets`. */
export class AgentSecretsMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Create secret of an agent. For this agent alone. It takes precedence over the organisation's secret of the same name.
   *
   * Needs the permission `manage`.
   *
   * `POST /v1/agents/{agent_id}/secrets`
   */
  create(agentId: string, body: CreateSecret, options?: RequestOptions): Promise<Secret> {
    return this.client.data("POST /v1/agents/{agent_id}/secrets", { params: { agent_id: agentId }, body }, options);
  }

  /**
   * List secrets of an agent. The agent's own secrets, without their values. It can use the organisation's too.
   *
   * Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/secrets`
   */
  list(agentId: string, query?: QueryOf<"GET /v1/agents/{agent_id}/secrets">, options?: RequestOptions): PageList<Secret, Pagination> {
    return this.client.list("GET /v1/agents/{agent_id}/secrets", { params: { agent_id: agentId }, query }, options);
  }

  /**
   * Get secret of an agent. Needs the permission `read`.
   *
   * `GET /v1/agents/{agent_id}/secrets/{secret_name}`
   */
  get(agentId: string, secretName: string, options?: RequestOptions): Promise<Secret> {
    return this.client.data("GET /v1/agents/{agent_id}/secrets/{secret_name}", { params: { agent_id: agentId, secret_name: secretName } }, options);
  }

  /**
   * Update secret of an agent. Takes effect with the next call on every worker. A new host needs `value` again, so that a stored secret cannot be sent to another host without it.
   *
   * Needs the permission `manage`.
   *
   * `PATCH /v1/agents/{agent_id}/secrets/{secret_name}`
   */
  update(agentId: string, secretName: string, body?: UpdateSecret, options?: RequestOptions): Promise<Secret> {
    return this.client.data("PATCH /v1/agents/{agent_id}/secrets/{secret_name}", { params: { agent_id: agentId, secret_name: secretName }, body }, options);
  }

  /**
   * Delete secret of an agent. Calls that refer to the secret are refused from then on.
   *
   * Needs the permission `manage`.
   *
   * `DELETE /v1/agents/{agent_id}/secrets/{secret_name}`
   */
  delete(agentId: string, secretName: string, options?: RequestOptions): Promise<Operations["DELETE /v1/agents/{agent_id}/secrets/{secret_name}"]["response"]["data"]> {
    return this.client.data("DELETE /v1/agents/{agent_id}/secrets/{secret_name}", { params: { agent_id: agentId, secret_name: secretName } }, options);
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
   * Get audit log. Newest first. Entries are kept for 400 days. A key that is limited to one agent sees only that agent's entries. `total` is exact up to 10,000; above that, `total_relation` is `gte`.
   *
   * Needs the permission `manage`.
   *
   * `GET /v1/audit-log`
   */
  list(query?: QueryOf<"GET /v1/audit-log">, options?: RequestOptions): PageList<AuditEntry, CursorPagination> {
    return this.client.list("GET /v1/audit-log", { query }, options);
  }
}

/** The operations of `users`. */
export class UsersMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Erase a user's data. Removes what is stored about one user of your organisation, in all its agents and those that were deleted: memories, sessions, texts of runs, logs, steps, streams and kept answers. Runs of the user that are under way are cancelled. It goes on in the background; `GET /v1/erasures/{erasure_id}` says when it has completed, with a receipt. While an erasure of the same user is running, the answer is that one. What is accepted after the request is not erased. A key that is limited to one agent is refused.
   *
   * Needs the permission `manage`.
   *
   * `DELETE /v1/users/{user_id}/data`
   */
  erase(userId: string, options?: RequestOptions): Promise<Erasure> {
    return this.client.data("DELETE /v1/users/{user_id}/data", { params: { user_id: userId } }, options);
  }
}

/** The operations of `erasures`. */
export class ErasuresMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * List erasures. Newest first. Erasures are kept for 400 days after their completion. `total` is exact up to 10,000; above that, `total_relation` is `gte`.
   *
   * Needs the permission `manage`.
   *
   * `GET /v1/erasures`
   */
  list(query?: QueryOf<"GET /v1/erasures">, options?: RequestOptions): PageList<Erasure, CappedPagination> {
    return this.client.list("GET /v1/erasures", { query }, options);
  }

  /**
   * Get erasure. Needs the permission `manage`.
   *
   * `GET /v1/erasures/{erasure_id}`
   */
  get(erasureId: string, options?: RequestOptions): Promise<Erasure> {
    return this.client.data("GET /v1/erasures/{erasure_id}", { params: { erasure_id: erasureId } }, options);
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
   * Enrol a second factor. Enrols a second factor for the calling key. Add `otpauth_url` to an authenticator app, store the recovery codes, then confirm with a code. The second factor is active once it is confirmed. Where the security settings demand a second factor, this needs a token from `POST /v1/keys/{key_id}/begin-mfa` in `X-MFA-Code`. The answer is not kept: a retry with the same `Idempotency-Key` is 409.
   *
   * Needs any valid API key.
   *
   * `POST /v1/mfa`
   */
  enrol(options?: RequestOptions): Promise<MfaEnrolment> {
    return this.client.data("POST /v1/mfa", {}, options);
  }

  /**
   * Confirm the second factor. Needs any valid API key.
   *
   * `POST /v1/mfa/confirm`
   */
  confirm(body: ConfirmMfa, options?: RequestOptions): Promise<Operations["POST /v1/mfa/confirm"]["response"]["data"]> {
    return this.client.data("POST /v1/mfa/confirm", { body }, options);
  }

  /**
   * Get a step-up token. Exchanges a code for a token that scripts can send as `X-MFA-Code`. It is valid for the calling key for ten minutes. The token is not kept: a retry with the same `Idempotency-Key` is 409.
   *
   * Needs any valid API key.
   *
   * `POST /v1/mfa/step-up`
   */
  stepUp(body: StepUp, options?: RequestOptions): Promise<StepUpToken> {
    return this.client.data("POST /v1/mfa/step-up", { body }, options);
  }

  /**
   * Remove the second factor. Needs any valid API key.
   *
   * `POST /v1/mfa/remove`
   */
  remove(body: RemoveMfa, options?: RequestOptions): Promise<Operations["POST /v1/mfa/remove"]["response"]["data"]> {
    return this.client.data("POST /v1/mfa/remove", { body }, options);
  }
}

/** The operations of `consoleSessions`. */
export class ConsoleSessionsMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * List sign-in methods. How a browser can sign in to the console. A person is signed in by the OpenID Connect issuer of the installation, if it has one: the browser goes to `/console/oidc/start`, with `return_to`, a path of the console, and `organisation`, if the person is in several. Needs no key.
   *
   * Needs no API key.
   *
   * `GET /v1/console/sign-in-methods`
   */
  signInMethods(options?: RequestOptions): Promise<SignInMethods> {
    return this.client.data("GET /v1/console/sign-in-methods", {}, options);
  }

  /**
   * Sign in to the console. For browsers: exchanges an API key or a one-time link for a session, whose token is set as a cookie that scripts cannot read. The session may do what the key may do, for 12 hours at most, and ends with the key. A change with the cookie needs the header `X-CSRF-Token`. Requests from other sites are refused, and so is plain HTTP unless it is on this machine. Signing in ends the session that the browser had. Rate-limited by address, and with the other requests of the organisation.
   *
   * Needs no API key.
   *
   * `POST /v1/console/sessions`
   */
  create(body?: SignIn, options?: RequestOptions): Promise<CreatedConsoleSession> {
    return this.client.data("POST /v1/console/sessions", { body }, options);
  }

  /**
   * List console sessions. Sessions that have not ended, newest first: those of the calling key or person, and with the permission `manage` all of the organisation, or of the agent that the key belongs to.
   *
   * Needs any valid API key.
   *
   * `GET /v1/console/sessions`
   */
  list(query?: QueryOf<"GET /v1/console/sessions">, options?: RequestOptions): PageList<ConsoleSession, Pagination> {
    return this.client.list("GET /v1/console/sessions", { query }, options);
  }

  /**
   * Create a sign-in link. Answers an address at which a browser signs in as the calling key, once, within 5 minutes. The secret is in the fragment, which browsers do not send to servers. Needs an API key: a session cannot make another one.
   *
   * Needs any valid API key.
   *
   * `POST /v1/console/links`
   */
  createLink(options?: RequestOptions): Promise<ConsoleLink> {
    return this.client.data("POST /v1/console/links", {}, options);
  }

  /**
   * End a console session. Ends a session at once: your own, and with the permission `manage` any of the organisation. The id `current` is the session of the request, so this is how to sign out.
   *
   * Needs any valid API key.
   *
   * `DELETE /v1/console/sessions/{session_id}`
   */
  end(sessionId: string, options?: RequestOptions): Promise<Operations["DELETE /v1/console/sessions/{session_id}"]["response"]["data"]> {
    return this.client.data("DELETE /v1/console/sessions/{session_id}", { params: { session_id: sessionId } }, options);
  }
}

/** The operations of `installation`. */
export class InstallationMethods {
  /** @internal */
  protected readonly client: Client;
  /** @internal */
  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Get installation. The health of the installation as the node that answers sees it: its parts, what they hold, and the releases with the runs that can end only there. It says nothing about any organisation. Needs the permission `operate`, which is in no role: the operator gives it with `perch-server create-key --operate`. Answers within 3 seconds, also if parts are silent.
   *
   * Needs the permission `operate`.
   *
   * `GET /v1/installation`
   */
  get(options?: RequestOptions): Promise<Installation> {
    return this.client.data("GET /v1/installation", {}, options);
  }
}

/** The namespaces that a client has. */
export class Namespaces {
  /** What runs wait for: decisions and answers of a person. */
  readonly approvals: ApprovalsMethods;
  /** Accounts that users let an agent use with a tool. */
  readonly connections: ConnectionsMethods;
  /** Immutable snapshots of an agent. */
  readonly versions: VersionsMethods;
  /** Metrics of an agent. */
  readonly metrics: MetricsMethods;
  /** Memories of an agent. */
  readonly memory: MemoryMethods;
  /** Deliveries of events to a webhook. */
  readonly deliveries: DeliveriesMethods;
  /** API keys. */
  readonly keys: KeysMethods;
  /** The organisation of the key, and what it allows. */
  readonly organisation: OrganisationMethods;
  /** Changes made by users and operators. */
  readonly auditLog: AuditLogMethods;
  /** Users of the organisation's agents, and erasing what is stored about them. */
  readonly users: UsersMethods;
  /** Erasures of users, with their receipts. */
  readonly erasures: ErasuresMethods;
  /** The second factor of an API key. */
  readonly mfa: MfaMethods;
  /** Sessions of browsers in the console, and links that begin one. */
  readonly consoleSessions: ConsoleSessionsMethods;
  /** Model providers of the organisation. */
  readonly providers: ProvidersMethods;
  /** Models that agents may use. */
  readonly models: ModelsMethods;
  /** Credentials that all agents of the organisation can use. */
  readonly secrets: SecretsMethods;
  /** Credentials that one agent alone can use. */
  readonly agentSecrets: AgentSecretsMethods;
  /** The health of the installation, for operators. */
  readonly installation: InstallationMethods;
  /** @internal */
  constructor(client: Client) {
    this.approvals = new ApprovalsMethods(client);
    this.connections = new ConnectionsMethods(client);
    this.versions = new VersionsMethods(client);
    this.metrics = new MetricsMethods(client);
    this.memory = new MemoryMethods(client);
    this.deliveries = new DeliveriesMethods(client);
    this.keys = new KeysMethods(client);
    this.organisation = new OrganisationMethods(client);
    this.auditLog = new AuditLogMethods(client);
    this.users = new UsersMethods(client);
    this.erasures = new ErasuresMethods(client);
    this.mfa = new MfaMethods(client);
    this.consoleSessions = new ConsoleSessionsMethods(client);
    this.providers = new ProvidersMethods(client);
    this.models = new ModelsMethods(client);
    this.secrets = new SecretsMethods(client);
    this.agentSecrets = new AgentSecretsMethods(client);
    this.installation = new InstallationMethods(client);
  }
}
