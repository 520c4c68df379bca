// Made from openapi.json by `pnpm generate`. Do not edit.

import type {
  AddLogs,
  AddMemory,
  Agent,
  AgentCheck,
  AgentId,
  AgentMetrics,
  AgentSummary,
  AnswerApproval,
  ApiKey,
  Approval,
  ApprovalId,
  ApprovalKind,
  ApprovalStatus,
  ApprovalSummary,
  ApproveApproval,
  AuditEntry,
  CappedPagination,
  ConfirmConnection,
  ConfirmMfa,
  Connection,
  ConnectionStatus,
  ConnectionWithLink,
  ConsoleLink,
  ConsoleSession,
  ConsoleSessionId,
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
  DeliveryStatus,
  DeliveryWithAttempts,
  Deployment,
  DeploymentId,
  DeploymentOfAnyAgent,
  DeploymentStatus,
  Environment,
  Erasure,
  Event,
  EventType,
  Granularity,
  Installation,
  Invocation,
  InvocationOfAnyAgent,
  InvocationResult,
  InvocationStatus,
  InvocationSummary,
  InvokeAgent,
  KeyId,
  KeyStatus,
  LogEntry,
  LogLevel,
  Me,
  Memory,
  MemoryClear,
  MemoryHit,
  MemoryId,
  MemoryStatus,
  MetricSeries,
  MfaEnrolment,
  MfaEnrolmentToken,
  ModelEntry,
  Organisation,
  Pagination,
  Provider,
  ProviderName,
  RedeliverFailed,
  RejectApproval,
  RemoveMfa,
  RequestId,
  RevokeLeakedKey,
  RotateKey,
  RotateWebhookSecret,
  RunEvent,
  RunStep,
  SearchMemory,
  SearchReport,
  Secret,
  SecretName,
  SignIn,
  SignInMethods,
  StepUp,
  StepUpToken,
  Timestamp,
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
  WebhookId,
  WebhookStatus,
  WebhookWithSecret,
} from "./generated-schemas.ts";

/** Every operation, by its route. */
export interface Operations {
  /**
   * Create agent. `name` cannot be changed later. `model` is required, except for a remote agent (`runtime.type` is `http`). The other fields default to `{"temperature":null,"instructions":"","tools":[],"memory":{"recall":false,"recall_limit":5,"remember":false,"embedder":{"model":"perch/minilm","dimensions":384}},"limits":{"max_steps":20,"max_tokens":100000,"timeout_seconds":120,"max_history_messages":40,"max_concurrent_runs":100},"logs":"shapes","fallback_models":[],"runtime":{"type":"model"},"security":{}}`. Setting `security` or `auth` also needs the permission `manage`.
   *
   * Needs the permission `write`.
   */
  "POST /v1/agents": {
    request: {
      query?: {
        /**
         * Apply `security` settings even if they would refuse this request, such as an IP allow-list without your address.
         *
         * @defaultValue `false`
         */
        force?: boolean | undefined;
      } | undefined;
      body: CreateAgent;
    };
    response: {
      success: true;
      data: Agent;
    };
  };
  /**
   * List agents. Id, name and status of every agent, whatever its settings.
   *
   * Needs the permission `read`.
   */
  "GET /v1/agents": {
    request: {
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /**
         * Field to sort by. A leading `-` sorts in descending order.
         *
         * @defaultValue `"-created_at"`
         */
        sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name" | undefined;
      } | undefined;
    };
    response: {
      data: AgentSummary[];
      pagination: Pagination;
    };
  };
  /** Get agent. Needs the permission `read`. */
  "GET /v1/agents/{agent_id}": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
    };
    response: {
      success: true;
      data: Agent;
    };
  };
  /**
   * Update agent. Changes the draft. Fields that are left out stay as they are. `memory`, `limits` and `security` are merged field by field; an object inside them, such as `memory.embedder` or `security.hsts`, is replaced as a whole. Every other field is replaced. null restores a field's default, and removes a field of `security`; `model` has no default and cannot be null. Changing `security` or `auth` also needs the permission `manage`. Security settings that would refuse this request are rejected with `conflict`, unless `force` is true. For one hour after a change of `auth`, the key that made it can read and update the agent without a user's token, to take it back; `warnings` says so.
   *
   * Needs the permission `write`.
   */
  "PATCH /v1/agents/{agent_id}": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      query?: {
        /**
         * Apply `security` settings even if they would refuse this request, such as an IP allow-list without your address.
         *
         * @defaultValue `false`
         */
        force?: boolean | undefined;
      } | undefined;
      body?: UpdateAgent | undefined;
    };
    response: {
      success: true;
      data: Agent;
    };
  };
  /**
   * Delete agent. Deletes the agent immediately; its name can be used again. Keys that are limited to this agent are revoked.
   *
   * Needs the permission `delete`.
   */
  "DELETE /v1/agents/{agent_id}": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
    };
    response: {
      success: true;
      data: {
        id: AgentId;
        deleted: true;
      };
    };
  };
  /**
   * Pause agent. A paused agent rejects new runs with `conflict`. Pausing a paused agent changes nothing.
   *
   * Needs the permission `write`.
   */
  "POST /v1/agents/{agent_id}/pause": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
    };
    response: {
      success: true;
      data: Agent;
    };
  };
  /**
   * Resume agent. Resuming a running agent changes nothing.
   *
   * Needs the permission `write`.
   */
  "POST /v1/agents/{agent_id}/resume": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
    };
    response: {
      success: true;
      data: Agent;
    };
  };
  /**
   * Invoke agent. Runs the agent and waits for its response. A run that was accepted survives restarts of the server. A run that fails is answered with 422 `run_failed`, and `retryable` says whether a new run can help. If the run outlasts the wait, which is a few seconds longer than its time limit, the answer is 504 `still_running`: the run continues, and `Location` is its URL. While the organisation waits for as many runs as it may, the answer is 429 and the run is not started. With `Prefer: respond-async` the response is 202 immediately, with `Prefer: wait=N` after at most N seconds; the run continues in the background, and `Location` is its URL. A run that waits for a person is answered with 409 `action_required`, whose `details` name the run and the approvals, or with 202 where `Prefer` was sent; with the same `Idempotency-Key`, a retry after the decision gets the result. With an `Idempotency-Key`, a retry joins the first run instead of starting another. With `Accept: text/event-stream` the response is a stream of the events `step`, `token`, `tool`, `dropped`, `action_required`, `done` and `error`. A client that disconnects does not stop the run, and can resume the stream with `Last-Event-ID`.
   *
   * Needs the permission `invoke`.
   */
  "POST /v1/agents/{agent_id}/invoke": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      body: InvokeAgent;
    };
    response: {
      success: true;
      data: InvocationResult;
    } | {
      success: true;
      data: {
        request_id: RequestId;
        status: "running" | "waiting";
        /** With `waiting`: what the run waits for. */
        approvals?: ApprovalId[] | undefined;
      };
    };
    event: RunEvent;
  };
  /**
   * List runs. Newest first. `total` is exact up to 10,000; above that, `total_relation` is `gte`.
   *
   * Needs the permission `read`.
   */
  "GET /v1/agents/{agent_id}/invocations": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        status?: InvocationStatus | undefined;
        session_id?: string | undefined;
        environment?: string | undefined;
        /** Only runs created at this time or later. */
        start_time?: string | undefined;
        /** Only runs created before this time. */
        end_time?: string | undefined;
      } | undefined;
    };
    response: {
      data: InvocationSummary[];
      pagination: CappedPagination;
    };
  };
  /**
   * List runs of all agents. Newest first, without runs of deleted agents. Nothing is counted, and a request reads a bounded number of runs, so it takes the same time however many are stored. Where a filter matches few of them, a page can be short or empty: `next_cursor` continues. A run can appear after newer ones, because some are stored when they end: to keep a list up to date, ask for its first page again.
   *
   * Needs the permission `read`.
   */
  "GET /v1/invocations": {
    request: {
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /** `pagination.next_cursor` of the previous page. */
        cursor?: string | undefined;
        /** Only this run: finds its agent where only the run's id is known. */
        request_id?: RequestId | undefined;
        /** Only runs of this agent (id or name). */
        agent_id?: string | undefined;
        status?: InvocationStatus | undefined;
        user_id?: string | undefined;
        /** Only runs of this conversation. Fast together with `agent_id`. */
        session_id?: string | undefined;
        environment?: string | undefined;
        /** Only runs of this version; `draft` for runs of a draft. */
        version?: string | undefined;
        /** Only runs that this deployment served. */
        deployment_id?: DeploymentId | undefined;
        /** Only runs that have ended and took at least this long. */
        min_duration_ms?: number | undefined;
        /** Only runs created at this time or later. */
        start_time?: string | undefined;
        /** Only runs created before this time. */
        end_time?: string | undefined;
      } | undefined;
    };
    response: {
      data: InvocationOfAnyAgent[];
      pagination: UncountedPagination;
    };
  };
  /**
   * Get run. With `Accept: text/event-stream` the response is the run's event stream, from its start or after `Last-Event-ID`, with the same events as Invoke agent.
   *
   * Needs the permission `read`, or `invoke` for a run that the key itself started.
   */
  "GET /v1/agents/{agent_id}/invocations/{request_id}": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        request_id: string;
      };
    };
    response: {
      success: true;
      data: Invocation;
    };
    event: RunEvent;
  };
  /**
   * Cancel run. The run stops before its next step and gets the status `cancelled`. Cancelling a run that has ended changes nothing.
   *
   * Needs the permission `write`, or `invoke` for a run that the key itself started.
   */
  "POST /v1/agents/{agent_id}/invocations/{request_id}/cancel": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        request_id: string;
      };
    };
    response: {
      success: true;
      data: Invocation;
    };
  };
  /**
   * List the steps of a run. Every attempt of every model call, tool call, listing of tools and recall of memories, in order: when, how long, with how many tokens, why it failed, its input and its output. Empty until the run ends or begins to wait; meanwhile its event stream has the same. Steps are kept as long as the log, at most 300 of a run or of each part between two waits, and their contents as the agent's `logs` says.
   *
   * Needs the permission `read`.
   */
  "GET /v1/agents/{agent_id}/invocations/{request_id}/steps": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        request_id: string;
      };
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
      } | undefined;
    };
    response: {
      data: RunStep[];
      pagination: Pagination;
    };
  };
  /**
   * List approvals. Newest first. A request reads a bounded number of rows: where a filter matches few, a page can be short or empty, and `next_cursor` continues. Decided ones are kept for 30 days, and at least until their run has ended.
   *
   * Needs the permission `read`.
   */
  "GET /v1/approvals": {
    request: {
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /** `pagination.next_cursor` of the previous page. */
        cursor?: string | undefined;
        status?: ApprovalStatus | undefined;
        kind?: ApprovalKind | undefined;
        /** Only approvals of this agent (id or name). */
        agent_id?: string | undefined;
        /** Only approvals of this run. */
        request_id?: RequestId | undefined;
        tool?: string | undefined;
        user_id?: string | undefined;
        session_id?: string | undefined;
        /** Only open ones that expire within this time. */
        expires_within_seconds?: number | undefined;
      } | undefined;
    };
    response: {
      data: ApprovalSummary[];
      pagination: UncountedPagination;
      /** How many approvals are open that the caller can see, of one agent if `agent_id` is given; no other filter counts. Up to 1,000 are counted. `relation` is `gte` where there may be more. */
      open: {
        count: number;
        relation: "eq" | "gte";
      };
    };
  };
  /**
   * Get approval. What the model wants to do, why a person is asked, and what the run did so far.
   *
   * Needs the permission `read`.
   */
  "GET /v1/approvals/{approval_id}": {
    request: {
      params: {
        approval_id: string;
      };
    };
    response: {
      success: true;
      data: Approval;
    };
  };
  /**
   * Approve a call. The call is made, and the run goes on once all calls of its reply are decided. With `arguments` the call is made with these instead; they are checked against the tool's schema. Deciding again in the same way gives the first answer; in another way it is refused with 409. The key or person that started the run is refused, unless the agent's policy allows it.
   *
   * Needs the permission `approve`.
   */
  "POST /v1/approvals/{approval_id}/approve": {
    request: {
      params: {
        approval_id: string;
      };
      body?: ApproveApproval | undefined;
    };
    response: {
      success: true;
      data: Approval;
    };
  };
  /**
   * Reject a call. The call is not made, and the model is told so, with the reason. A question can be rejected too. Deciding again in the same way gives the first answer; in another way it is refused with 409. The key or person that started the run is refused, unless the agent's policy allows it.
   *
   * Needs the permission `approve`.
   */
  "POST /v1/approvals/{approval_id}/reject": {
    request: {
      params: {
        approval_id: string;
      };
      body?: RejectApproval | undefined;
    };
    response: {
      success: true;
      data: Approval;
    };
  };
  /**
   * Answer a question. The answer, which is checked against the schema in the agent's definition, is the result of the model's call. Deciding again in the same way gives the first answer; in another way it is refused with 409. The key or person that started the run is refused, unless the agent's policy allows it.
   *
   * Needs the permission `approve`.
   */
  "POST /v1/approvals/{approval_id}/answer": {
    request: {
      params: {
        approval_id: string;
      };
      body: AnswerApproval;
    };
    response: {
      success: true;
      data: Approval;
    };
  };
  /**
   * Create connection. Gives a link with which one user consents that the agent uses an account of theirs with one tool. There is one connection for each user, tool and address that the tool leads to: if it exists, this gives a new link for it, and it works as before until the new consent is confirmed. The provider sends the browser back to Perch, and Perch sends it to `return_url` with `connection_id` and `code`, or with `error`. Runs use the account only after `POST …/confirm`.
   *
   * Needs the permission `write`.
   */
  "POST /v1/agents/{agent_id}/connections": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      body: CreateConnection;
    };
    response: {
      success: true;
      data: ConnectionWithLink;
    };
  };
  /**
   * List connections. Newest first. A request reads a bounded number of rows: where a filter matches few, a page can be short or empty, and `next_cursor` continues.
   *
   * Needs the permission `read`.
   */
  "GET /v1/agents/{agent_id}/connections": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /** `pagination.next_cursor` of the previous page. */
        cursor?: string | undefined;
        user_id?: string | undefined;
        tool?: string | undefined;
        status?: ConnectionStatus | undefined;
        /** Only those that runs in this environment use, or would after a consent: for the tools, addresses and authorization servers of the live version, or of the draft where nothing is deployed, as for an invoke. */
        environment?: string | undefined;
      } | undefined;
    };
    response: {
      data: Connection[];
      pagination: UncountedPagination;
    };
  };
  /** Get connection. Needs the permission `read`. */
  "GET /v1/agents/{agent_id}/connections/{connection_id}": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        connection_id: string;
      };
    };
    response: {
      success: true;
      data: Connection;
    };
  };
  /**
   * Confirm connection. Says that the user who returned is the user the link was created for: runs of that user use the account from now on. With another `user_id` it is refused, and the code is no longer valid. A code works once, within two minutes. While the provider does not answer, this is refused with 503, and the same code can be sent again.
   *
   * Needs the permission `write`.
   */
  "POST /v1/agents/{agent_id}/connections/{connection_id}/confirm": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        connection_id: string;
      };
      body: ConfirmConnection;
    };
    response: {
      success: true;
      data: Connection;
    };
  };
  /**
   * Revoke connection. No run uses the account any more. The provider is asked to revoke the tokens, where it offers that, for three seconds at most; if it does not answer, it is asked again for a day. Revoking a revoked connection changes nothing. Kept for 30 days.
   *
   * Needs the permission `write`.
   */
  "POST /v1/agents/{agent_id}/connections/{connection_id}/revoke": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        connection_id: string;
      };
    };
    response: {
      success: true;
      data: Connection;
    };
  };
  /**
   * Check agent. Checks the agent's draft as a deployment would: its limits, its secrets, whether its models exist, and whether its tools or its remote agent answer within 5 seconds. Changes nothing, and calls no model. The answer lists every problem; the list is empty if a deployment of the draft would become active.
   *
   * Needs the permission `write`.
   */
  "POST /v1/agents/{agent_id}/check": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
    };
    response: {
      success: true;
      data: AgentCheck;
    };
  };
  /**
   * Create deployment. Returns immediately with the status `pending`. The model, the tools and the limits are checked; then the deployment is `active` and serves the next request, or it is `failed` with an `error` and the live deployment stays live.
   *
   * Needs the permission `write`.
   */
  "POST /v1/agents/{agent_id}/deployments": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      body: CreateDeployment;
    };
    response: {
      success: true;
      data: Deployment;
    };
  };
  /**
   * List deployments. Includes past deployments, as many as the tier keeps: beyond that, those that ended first are deleted.
   *
   * Needs the permission `read`.
   */
  "GET /v1/agents/{agent_id}/deployments": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /**
         * Field to sort by. A leading `-` sorts in descending order.
         *
         * @defaultValue `"-created_at"`
         */
        sort?: "created_at" | "-created_at" | undefined;
        environment?: Environment | undefined;
        status?: DeploymentStatus | undefined;
      } | undefined;
    };
    response: {
      data: Deployment[];
      pagination: Pagination;
    };
  };
  /**
   * List deployments of all agents. Newest first, without deployments of deleted agents. Nothing is counted, and a request reads a bounded number of deployments. Where a filter matches few of them, a page can be short or empty: `next_cursor` continues.
   *
   * Needs the permission `read`.
   */
  "GET /v1/deployments": {
    request: {
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /** `pagination.next_cursor` of the previous page. */
        cursor?: string | undefined;
        /** Only deployments of this agent (id or name). */
        agent_id?: string | undefined;
        environment?: Environment | undefined;
        status?: DeploymentStatus | undefined;
        /** Only deployments created at this time or later. */
        start_time?: string | undefined;
        /** Only deployments created before this time. */
        end_time?: string | undefined;
      } | undefined;
    };
    response: {
      data: DeploymentOfAnyAgent[];
      pagination: UncountedPagination;
    };
  };
  /** Get deployment. Needs the permission `read`. */
  "GET /v1/agents/{agent_id}/deployments/{deployment_id}": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        deployment_id: string;
      };
    };
    response: {
      success: true;
      data: Deployment;
    };
  };
  /**
   * Adjust canary. Changes a canary's share of requests. When the share grows, sessions on the canary stay on it.
   *
   * Needs the permission `write`.
   */
  "PATCH /v1/agents/{agent_id}/deployments/{deployment_id}": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        deployment_id: string;
      };
      body: UpdateDeployment;
    };
    response: {
      success: true;
      data: Deployment;
    };
  };
  /**
   * Promote canary. The canary becomes the live deployment and serves the next request.
   *
   * Needs the permission `write`.
   */
  "POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        deployment_id: string;
      };
    };
    response: {
      success: true;
      data: Deployment;
    };
  };
  /**
   * Abort canary. The canary gets no more requests; the live deployment gets all of them.
   *
   * Needs the permission `write`.
   */
  "POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        deployment_id: string;
      };
    };
    response: {
      success: true;
      data: Deployment;
    };
  };
  /**
   * Roll back deployment. Creates a new deployment of this deployment's version in its environment. For the live deployment, the previous version is deployed instead; a canary is aborted. Takes effect with the next request, on every node.
   *
   * Needs the permission `write`.
   */
  "POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        deployment_id: string;
      };
    };
    response: {
      success: true;
      data: Deployment;
    };
  };
  /** List versions. Needs the permission `read`. */
  "GET /v1/agents/{agent_id}/versions": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /**
         * Field to sort by. A leading `-` sorts in descending order.
         *
         * @defaultValue `"-created_at"`
         */
        sort?: "created_at" | "-created_at" | undefined;
      } | undefined;
    };
    response: {
      data: VersionSummary[];
      pagination: Pagination;
    };
  };
  /**
   * Get version. The agent's definition at the time the version was created. It never changes.
   *
   * Needs the permission `read`.
   */
  "GET /v1/agents/{agent_id}/versions/{version}": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        version: string;
      };
    };
    response: {
      success: true;
      data: Version;
    };
  };
  /**
   * Compare versions. Changes from this version to another version, or to the agent's draft. The two may have 262,144 characters together; larger ones are refused with 409.
   *
   * Needs the permission `read`.
   */
  "GET /v1/agents/{agent_id}/versions/{version}/diff": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        version: string;
      };
      query?: {
        /**
         * Label of a version, or `draft`.
         *
         * @defaultValue `"draft"`
         */
        to?: string | undefined;
      } | undefined;
    };
    response: {
      success: true;
      data: VersionDiff;
    };
  };
  /**
   * Get logs. Newest first. `total` is exact up to 10,000; above that, `total_relation` is `gte`. A page ends early after 4 MiB, and a request with `environment`, `version` or `contains` reads at most 20,000 entries, with up to 4 MiB of messages: then there may be more although few or none are shown, and `next_cursor` continues. With `Accept: text/event-stream` the response is a stream of new entries that match the same filters; with `start_time` it begins with those since then, and with all entries of runs that have ended since then.
   *
   * Needs the permission `read`.
   */
  "GET /v1/agents/{agent_id}/logs": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      query?: {
        level?: LogLevel | undefined;
        /** Only entries at this time or later. The default is 24 hours ago. */
        start_time?: string | undefined;
        /** Only entries before this time. */
        end_time?: string | undefined;
        /**
         * Maximum number of entries to return.
         *
         * @defaultValue `100`
         */
        limit?: number | undefined;
        /**
         * Number of entries to skip. `cursor` is faster.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /** `pagination.next_cursor` of the previous page. */
        cursor?: string | undefined;
        request_id?: RequestId | undefined;
        environment?: string | undefined;
        version?: string | undefined;
        /** Only entries whose message contains this text. Case is ignored. A long text is searched in fewer entries at a time. */
        contains?: string | undefined;
      } | undefined;
    };
    response: {
      data: LogEntry[];
      pagination: CursorPagination;
    };
    event: LogEntry;
  };
  /**
   * Add log entries. Lets remote agents and tools add their own entries to the agent's log.
   *
   * Needs the permission `write`.
   */
  "POST /v1/agents/{agent_id}/logs": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      body: AddLogs;
    };
    response: {
      success: true;
      data: {
        /** Number of entries added. */
        added: number;
      };
    };
  };
  /**
   * Get metrics of several agents. Returns a series for each agent and metric, with one value for every interval of the range, in the units of Get metrics. `response_time` is the average; Get metrics has percentiles.
   *
   * Needs the permission `read`.
   */
  "GET /v1/metrics": {
    request: {
      query?: {
        /**
         * Some of response_time, throughput, error_rate, tokens, cost, separated by commas.
         *
         * @defaultValue `"throughput,error_rate"`
         */
        metrics?: string | undefined;
        /** Up to 100 agents (ids or names), separated by commas. The default is the newest 100 that the key can read. */
        agent_ids?: string | undefined;
        /** Start of the range, rounded down to an interval. The default is 24 hours before the end. */
        start_time?: string | undefined;
        /** End of the range, exclusive. The default is now. */
        end_time?: string | undefined;
        /** Length of an interval. A range may have at most 120. The default is the shortest that gives no more. */
        granularity?: Granularity | undefined;
        environment?: string | undefined;
      } | undefined;
    };
    response: {
      success: true;
      data: AgentMetrics;
    };
  };
  /**
   * Get metrics. Returns one value for every interval of the range, including intervals without runs. `response_time` is in milliseconds, `throughput` in requests per minute, `error_rate` is a fraction from 0 to 1. `tokens` and `cost` are sums; `cost` is in US dollars and covers models whose price the operator has set. Percentiles are accurate to within 6 %.
   *
   * Needs the permission `read`.
   */
  "GET /v1/agents/{agent_id}/metrics": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      query: {
        metric: "response_time" | "throughput" | "error_rate" | "tokens" | "cost";
        /** Start of the range, rounded down to an interval. The default is 24 hours before the end. */
        start_time?: string | undefined;
        /** End of the range, exclusive. The default is now. */
        end_time?: string | undefined;
        /** Length of an interval. A range may have at most 1,500. The default is the shortest that gives at most 300. */
        granularity?: Granularity | undefined;
        /** Statistic of response_time. The default is avg. */
        statistic?: "avg" | "p50" | "p95" | "p99" | undefined;
        environment?: string | undefined;
        version?: string | undefined;
      };
    };
    response: {
      success: true;
      data: MetricSeries;
    };
  };
  /**
   * Search memory. Merges the 100 memories that are nearest by meaning and the 100 that match best by words, best first: these are the results, at most 200, and `total` is their number. If the embedder is not available, only the words are searched, and `search.notice` says so. An `Idempotency-Key` is ignored: a search changes nothing.
   *
   * Needs the permission `read`.
   */
  "POST /v1/agents/{agent_id}/memory/search": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      body: SearchMemory;
    };
    response: {
      data: MemoryHit[];
      pagination: Pagination;
      search: SearchReport;
    };
  };
  /**
   * Add memory. The same content of the same user is stored once. Adding it again makes it the newest.
   *
   * Needs the permission `write`.
   */
  "POST /v1/agents/{agent_id}/memory": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      body: AddMemory;
    };
    response: {
      success: true;
      data: Memory;
    };
  };
  /**
   * List memories. Most recently stored first. `total` is exact up to 10,000; above that, `total_relation` is `gte`.
   *
   * Needs the permission `read`.
   */
  "GET /v1/agents/{agent_id}/memory": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        user_id?: string | undefined;
        session_id?: string | undefined;
      } | undefined;
    };
    response: {
      data: Memory[];
      pagination: CappedPagination;
    };
  };
  /**
   * Clear memory. Deletes memories and session messages. They are hidden as soon as this returns; a large clear answers 202 and goes on deleting in the background. Records of runs and logs are not deleted: they expire.
   *
   * Needs the permission `delete`.
   */
  "DELETE /v1/agents/{agent_id}/memory": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      query?: {
        /** Only memories and messages of this user. */
        user_id?: string | undefined;
        /** Only memories and messages of this session. */
        session_id?: string | undefined;
        /** Only memories and messages last stored before this time. */
        before?: string | undefined;
      } | undefined;
    };
    response: {
      success: true;
      data: MemoryClear;
    };
  };
  /**
   * Get memory status. Number of memories, and the progress of embedding them.
   *
   * Needs the permission `read`.
   */
  "GET /v1/agents/{agent_id}/memory/status": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
    };
    response: {
      success: true;
      data: MemoryStatus;
    };
  };
  /** Get memory. Needs the permission `read`. */
  "GET /v1/agents/{agent_id}/memory/{memory_id}": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        memory_id: string;
      };
    };
    response: {
      success: true;
      data: Memory;
    };
  };
  /** Delete memory. Needs the permission `delete`. */
  "DELETE /v1/agents/{agent_id}/memory/{memory_id}": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        memory_id: string;
      };
    };
    response: {
      success: true;
      data: {
        id: MemoryId;
        deleted: true;
      };
    };
  };
  /**
   * Get memory clear. Progress of a clear that runs in the background.
   *
   * Needs the permission `read`.
   */
  "GET /v1/agents/{agent_id}/memory/clears/{clear_id}": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        clear_id: string;
      };
    };
    response: {
      success: true;
      data: MemoryClear;
    };
  };
  /**
   * Create webhook. The response contains the signing secret, which is shown only once. The header `X-Service-Signature` of a delivery is the hex-encoded HMAC-SHA-256 of the raw body, keyed with the whole secret as shown. Deliveries also carry the headers of Standard Webhooks.
   *
   * Needs the permission `write`.
   */
  "POST /v1/webhooks": {
    request: {
      body: CreateWebhook;
    };
    response: {
      success: true;
      data: WebhookWithSecret;
    };
  };
  /** List webhooks. Needs the permission `read`. */
  "GET /v1/webhooks": {
    request: {
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /**
         * Field to sort by. A leading `-` sorts in descending order.
         *
         * @defaultValue `"-created_at"`
         */
        sort?: "created_at" | "-created_at" | undefined;
        /** Only webhooks of this agent (id or name). */
        agent_id?: string | undefined;
        status?: WebhookStatus | undefined;
      } | undefined;
    };
    response: {
      data: Webhook[];
      pagination: Pagination;
    };
  };
  /** Get webhook. Needs the permission `read`. */
  "GET /v1/webhooks/{webhook_id}": {
    request: {
      params: {
        webhook_id: string;
      };
    };
    response: {
      success: true;
      data: Webhook;
    };
  };
  /**
   * Update webhook. Takes effect with the next attempt, also for pending deliveries. A webhook with `approval_links` is changed, and gets a new secret, only with `manage`, and with `approve` too if the organisation has `manage_grants_approve: false`; `approval_links: false` needs only `manage`.
   *
   * Needs the permission `write`.
   */
  "PATCH /v1/webhooks/{webhook_id}": {
    request: {
      params: {
        webhook_id: string;
      };
      body?: UpdateWebhook | undefined;
    };
    response: {
      success: true;
      data: Webhook;
    };
  };
  /**
   * Delete webhook. Cancels pending deliveries and deletes the webhook's delivery log.
   *
   * Needs the permission `delete`.
   */
  "DELETE /v1/webhooks/{webhook_id}": {
    request: {
      params: {
        webhook_id: string;
      };
    };
    response: {
      success: true;
      data: {
        id: WebhookId;
        deleted: true;
      };
    };
  };
  /**
   * Rotate webhook secret. Creates a new secret and shows it once. During the overlap, deliveries are signed with both secrets: `webhook-signature` contains both signatures, `X-Service-Signature` is made with the new secret and `X-Service-Signature-Previous` with the old one.
   *
   * Needs the permission `write`.
   */
  "POST /v1/webhooks/{webhook_id}/rotate": {
    request: {
      params: {
        webhook_id: string;
      };
      body?: RotateWebhookSecret | undefined;
    };
    response: {
      success: true;
      data: WebhookWithSecret;
    };
  };
  /**
   * Send test event. Delivers a `webhook.test` event to this webhook, whether or not it is subscribed to it.
   *
   * Needs the permission `write`.
   */
  "POST /v1/webhooks/{webhook_id}/test": {
    request: {
      params: {
        webhook_id: string;
      };
    };
    response: {
      success: true;
      data: Delivery;
    };
  };
  /**
   * List deliveries. Newest first. Deliveries are kept for 30 days. `total` is exact up to 10,000; above that, `total_relation` is `gte`.
   *
   * Needs the permission `read`.
   */
  "GET /v1/webhooks/{webhook_id}/deliveries": {
    request: {
      params: {
        webhook_id: string;
      };
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        status?: DeliveryStatus | undefined;
        event_type?: EventType | undefined;
      } | undefined;
    };
    response: {
      data: Delivery[];
      pagination: CappedPagination;
    };
  };
  /**
   * Get delivery. Includes all attempts: when they were made, how long they took, the response, and why they failed.
   *
   * Needs the permission `read`.
   */
  "GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}": {
    request: {
      params: {
        webhook_id: string;
        delivery_id: string;
      };
    };
    response: {
      success: true;
      data: DeliveryWithAttempts;
    };
  };
  /**
   * Redeliver. Creates a new delivery of the same event. The event keeps its id.
   *
   * Needs the permission `write`.
   */
  "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": {
    request: {
      params: {
        webhook_id: string;
        delivery_id: string;
      };
    };
    response: {
      success: true;
      data: Delivery;
    };
  };
  /**
   * Redeliver failed deliveries. Creates new deliveries for those that failed since a given time and whose event has not been delivered or queued again. Handles the oldest 1,000; if `has_more` is true, call it again.
   *
   * Needs the permission `write`.
   */
  "POST /v1/webhooks/{webhook_id}/redeliver": {
    request: {
      params: {
        webhook_id: string;
      };
      body: RedeliverFailed;
    };
    response: {
      success: true;
      data: {
        /** How many deliveries were created. */
        queued: number;
        has_more: boolean;
      };
    };
  };
  /**
   * List events. Newest first. Events are kept for 30 days. `total` is exact up to 10,000; above that, `total_relation` is `gte`.
   *
   * Needs the permission `read`.
   */
  "GET /v1/events": {
    request: {
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        type?: EventType | undefined;
        /** Only events of this agent (id or name). */
        agent_id?: string | undefined;
        /** Only events created at this time or later. */
        start_time?: string | undefined;
        /** Only events created before this time. */
        end_time?: string | undefined;
      } | undefined;
    };
    response: {
      data: Event[];
      pagination: CappedPagination;
    };
  };
  /** Get event. Needs the permission `read`. */
  "GET /v1/events/{event_id}": {
    request: {
      params: {
        event_id: string;
      };
    };
    response: {
      success: true;
      data: Event;
    };
  };
  /**
   * Create API key. The response contains the key. No other operation shows it. A key cannot have more permissions, access more agents or last longer than the key that creates it. `approve` is the exception: a key with `manage` may give it without having it, unless the organisation forbids it (`manage_grants_approve`).
   *
   * Needs the permission `manage`.
   */
  "POST /v1/keys": {
    request: {
      body: CreateKey;
    };
    response: {
      success: true;
      data: CreatedApiKey;
    };
  };
  /** List API keys. Needs the permission `manage`. */
  "GET /v1/keys": {
    request: {
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /**
         * Field to sort by. A leading `-` sorts in descending order.
         *
         * @defaultValue `"-created_at"`
         */
        sort?: "created_at" | "-created_at" | "name" | "-name" | undefined;
        /** Only keys of this agent (id or name). */
        agent_id?: string | undefined;
        status?: KeyStatus | undefined;
      } | undefined;
    };
    response: {
      data: ApiKey[];
      pagination: Pagination;
    };
  };
  /**
   * Get API key. What the list shows of one key. The key itself is never shown again.
   *
   * Needs the permission `manage`.
   */
  "GET /v1/keys/{key_id}": {
    request: {
      params: {
        key_id: string;
      };
    };
    response: {
      success: true;
      data: ApiKey;
    };
  };
  /**
   * Revoke API key. The key stops working immediately. Revoking a revoked key changes nothing.
   *
   * Needs the permission `manage`.
   */
  "DELETE /v1/keys/{key_id}": {
    request: {
      params: {
        key_id: string;
      };
    };
    response: {
      success: true;
      data: {
        id: KeyId;
        revoked_at: Timestamp;
      };
    };
  };
  /**
   * Update API key. Changes the key's name, permissions or expiry. Takes effect with the key's next request. The key cannot get more than the calling key has, but for `approve`, which a key with `manage` may give without having it, unless the organisation forbids it.
   *
   * Needs the permission `manage`.
   */
  "PATCH /v1/keys/{key_id}": {
    request: {
      params: {
        key_id: string;
      };
      body?: UpdateKey | undefined;
    };
    response: {
      success: true;
      data: ApiKey;
    };
  };
  /**
   * Rotate API key. Creates a new key with the same permissions and shows it once. The old key stops working after the overlap, or immediately if the overlap is 0. The caller must be allowed to give the key's permissions, as if it created the key.
   *
   * Needs the permission `manage`.
   */
  "POST /v1/keys/{key_id}/rotate": {
    request: {
      params: {
        key_id: string;
      };
      body?: RotateKey | undefined;
    };
    response: {
      success: true;
      data: CreatedApiKey;
    };
  };
  /**
   * Begin the enrolment of a second factor. Returns a token with which the holder of this key can enrol a second factor: `POST /v1/mfa` with the token in `X-MFA-Code`. Where the security settings demand a second factor, no key can enrol one without a token, and the calling key must have a second factor itself. The token is not kept: a retry with the same `Idempotency-Key` is 409.
   *
   * Needs the permission `manage`.
   */
  "POST /v1/keys/{key_id}/begin-mfa": {
    request: {
      params: {
        key_id: string;
      };
    };
    response: {
      success: true;
      data: MfaEnrolmentToken;
    };
  };
  /**
   * Revoke a leaked API key. Revokes the key in the request body. Needs no other key, so that anyone who finds a leaked key can revoke it. Rate-limited by address.
   *
   * Needs no API key.
   */
  "POST /v1/keys/revoke-leaked": {
    request: {
      body: RevokeLeakedKey;
    };
    response: {
      success: true;
      data: {
        id: KeyId;
        revoked_at: Timestamp;
      };
    };
  };
  /**
   * Get current key. The API key or the session of this request, its organisation, and what the organisation has and may have.
   *
   * Needs any valid API key.
   */
  "GET /v1/me": {
    request: Record<never, never>;
    response: {
      success: true;
      data: Me;
    };
  };
  /** Get organisation. Needs the permission `read`. */
  "GET /v1/organisation": {
    request: Record<never, never>;
    response: {
      success: true;
      data: Organisation;
    };
  };
  /**
   * Update organisation. With `manage_grants_approve: false`, a key with `approve` is created, changed or rotated only by a caller that has `approve` too, and so are webhooks with `approval_links`. It applies at once to all callers, and takes nothing from keys and webhooks that exist: revoke those that should not decide. Setting it does not need `approve`, so an organisation in which no key has it can lock itself out. The operator then makes a key with `perch-server create-key --approve`, and sets it to true again with `perch-server set-organisation --manage-grants-approve on`; this operation answers 403 to that. A key of one agent cannot use this operation.
   *
   * Needs the permission `manage`.
   */
  "PATCH /v1/organisation": {
    request: {
      body?: UpdateOrganisation | undefined;
    };
    response: {
      success: true;
      data: Organisation;
    };
  };
  /**
   * List models. Models that agents of this organisation can use: built-in models, and models of the server's and your own providers.
   *
   * Needs the permission `read`.
   */
  "GET /v1/models": {
    request: {
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
      } | undefined;
    };
    response: {
      data: ModelEntry[];
      pagination: Pagination;
    };
  };
  /**
   * Create model provider. Takes precedence over a provider of the same name in the server's configuration.
   *
   * Needs the permission `manage`.
   */
  "POST /v1/providers": {
    request: {
      body: CreateProvider;
    };
    response: {
      success: true;
      data: Provider;
    };
  };
  /**
   * List model providers. Providers of your organisation. For models of the server's providers see `GET /v1/models`.
   *
   * Needs the permission `read`.
   */
  "GET /v1/providers": {
    request: {
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /**
         * Field to sort by. A leading `-` sorts in descending order.
         *
         * @defaultValue `"-created_at"`
         */
        sort?: "created_at" | "-created_at" | "name" | "-name" | undefined;
      } | undefined;
    };
    response: {
      data: Provider[];
      pagination: Pagination;
    };
  };
  /** Get model provider. Needs the permission `read`. */
  "GET /v1/providers/{provider_name}": {
    request: {
      params: {
        provider_name: string;
      };
    };
    response: {
      success: true;
      data: Provider;
    };
  };
  /**
   * Update model provider. Takes effect with the next model call. Changing `base_url` requires `api_key` too, so that a stored key cannot be sent to another address.
   *
   * Needs the permission `manage`.
   */
  "PATCH /v1/providers/{provider_name}": {
    request: {
      params: {
        provider_name: string;
      };
      body?: UpdateProvider | undefined;
    };
    response: {
      success: true;
      data: Provider;
    };
  };
  /**
   * Delete model provider. Runs that use the provider fail at their next model call, unless the server has a provider of the same name.
   *
   * Needs the permission `manage`.
   */
  "DELETE /v1/providers/{provider_name}": {
    request: {
      params: {
        provider_name: string;
      };
    };
    response: {
      success: true;
      data: {
        name: ProviderName;
        deleted: true;
      };
    };
  };
  /**
   * Create secret. For all agents of the organisation. An agent's own secret of the same name takes precedence.
   *
   * Needs the permission `manage`.
   */
  "POST /v1/secrets": {
    request: {
      body: CreateSecret;
    };
    response: {
      success: true;
      data: Secret;
    };
  };
  /**
   * List secrets. Secrets for all agents of the organisation, without their values.
   *
   * Needs the permission `read`.
   */
  "GET /v1/secrets": {
    request: {
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /**
         * Field to sort by. A leading `-` sorts in descending order.
         *
         * @defaultValue `"-created_at"`
         */
        sort?: "created_at" | "-created_at" | "name" | "-name" | undefined;
      } | undefined;
    };
    response: {
      data: Secret[];
      pagination: Pagination;
    };
  };
  /** Get secret. Needs the permission `read`. */
  "GET /v1/secrets/{secret_name}": {
    request: {
      params: {
        secret_name: string;
      };
    };
    response: {
      success: true;
      data: Secret;
    };
  };
  /**
   * Update secret. Takes effect with the next call on every worker. A new host needs `value` again, so that a stored secret cannot be sent to another host without it.
   *
   * Needs the permission `manage`.
   */
  "PATCH /v1/secrets/{secret_name}": {
    request: {
      params: {
        secret_name: string;
      };
      body?: UpdateSecret | undefined;
    };
    response: {
      success: true;
      data: Secret;
    };
  };
  /**
   * Delete secret. Calls that refer to the secret are refused from then on.
   *
   * Needs the permission `manage`.
   */
  "DELETE /v1/secrets/{secret_name}": {
    request: {
      params: {
        secret_name: string;
      };
    };
    response: {
      success: true;
      data: {
        name: SecretName;
        deleted: true;
      };
    };
  };
  /**
   * Create secret of an agent. For this agent alone. It takes precedence over the organisation's secret of the same name.
   *
   * Needs the permission `manage`.
   */
  "POST /v1/agents/{agent_id}/secrets": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      body: CreateSecret;
    };
    response: {
      success: true;
      data: Secret;
    };
  };
  /**
   * List secrets of an agent. The agent's own secrets, without their values. It can use the organisation's too.
   *
   * Needs the permission `read`.
   */
  "GET /v1/agents/{agent_id}/secrets": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
      };
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /**
         * Field to sort by. A leading `-` sorts in descending order.
         *
         * @defaultValue `"-created_at"`
         */
        sort?: "created_at" | "-created_at" | "name" | "-name" | undefined;
      } | undefined;
    };
    response: {
      data: Secret[];
      pagination: Pagination;
    };
  };
  /** Get secret of an agent. Needs the permission `read`. */
  "GET /v1/agents/{agent_id}/secrets/{secret_name}": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        secret_name: string;
      };
    };
    response: {
      success: true;
      data: Secret;
    };
  };
  /**
   * Update secret of an agent. Takes effect with the next call on every worker. A new host needs `value` again, so that a stored secret cannot be sent to another host without it.
   *
   * Needs the permission `manage`.
   */
  "PATCH /v1/agents/{agent_id}/secrets/{secret_name}": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        secret_name: string;
      };
      body?: UpdateSecret | undefined;
    };
    response: {
      success: true;
      data: Secret;
    };
  };
  /**
   * Delete secret of an agent. Calls that refer to the secret are refused from then on.
   *
   * Needs the permission `manage`.
   */
  "DELETE /v1/agents/{agent_id}/secrets/{secret_name}": {
    request: {
      params: {
        /** The agent's id or its name. */
        agent_id: string;
        secret_name: string;
      };
    };
    response: {
      success: true;
      data: {
        name: SecretName;
        deleted: true;
      };
    };
  };
  /**
   * Get audit log. Newest first. Entries are kept for 400 days. A key that is limited to one agent sees only that agent's entries. `total` is exact up to 10,000; above that, `total_relation` is `gte`.
   *
   * Needs the permission `manage`.
   */
  "GET /v1/audit-log": {
    request: {
      query?: {
        key_id?: KeyId | undefined;
        operation?: string | undefined;
        /** Id of the resource, such as `agent_…`, `dep_…` or `key_…`, or the name of a provider. */
        resource?: string | undefined;
        outcome?: "changed" | "refused" | undefined;
        /** Only entries at this time or later. */
        start_time?: string | undefined;
        /** Only entries before this time. */
        end_time?: string | undefined;
        /**
         * Maximum number of entries to return.
         *
         * @defaultValue `100`
         */
        limit?: number | undefined;
        /**
         * Number of entries to skip. `cursor` is faster.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /** `pagination.next_cursor` of the previous page. */
        cursor?: string | undefined;
      } | undefined;
    };
    response: {
      data: AuditEntry[];
      pagination: CursorPagination;
    };
  };
  /**
   * Erase a user's data. Removes what is stored about one user of your organisation, in all its agents and those that were deleted: memories, sessions, texts of runs, logs, steps, streams and kept answers. Runs of the user that are under way are cancelled. It goes on in the background; `GET /v1/erasures/{erasure_id}` says when it has completed, with a receipt. While an erasure of the same user is running, the answer is that one. What is accepted after the request is not erased. A key that is limited to one agent is refused.
   *
   * Needs the permission `manage`.
   */
  "DELETE /v1/users/{user_id}/data": {
    request: {
      params: {
        /** The id under which your application names the user, percent-encoded where needed. */
        user_id: string;
      };
    };
    response: {
      success: true;
      data: Erasure;
    };
  };
  /**
   * List erasures. Newest first. Erasures are kept for 400 days after their completion. `total` is exact up to 10,000; above that, `total_relation` is `gte`.
   *
   * Needs the permission `manage`.
   */
  "GET /v1/erasures": {
    request: {
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
      } | undefined;
    };
    response: {
      data: Erasure[];
      pagination: CappedPagination;
    };
  };
  /** Get erasure. Needs the permission `manage`. */
  "GET /v1/erasures/{erasure_id}": {
    request: {
      params: {
        erasure_id: string;
      };
    };
    response: {
      success: true;
      data: Erasure;
    };
  };
  /**
   * Enrol a second factor. Enrols a second factor for the calling key. Add `otpauth_url` to an authenticator app, store the recovery codes, then confirm with a code. The second factor is active once it is confirmed. Where the security settings demand a second factor, this needs a token from `POST /v1/keys/{key_id}/begin-mfa` in `X-MFA-Code`. The answer is not kept: a retry with the same `Idempotency-Key` is 409.
   *
   * Needs any valid API key.
   */
  "POST /v1/mfa": {
    request: Record<never, never>;
    response: {
      success: true;
      data: MfaEnrolment;
    };
  };
  /** Confirm the second factor. Needs any valid API key. */
  "POST /v1/mfa/confirm": {
    request: {
      body: ConfirmMfa;
    };
    response: {
      success: true;
      data: {
        confirmed_at: Timestamp;
      };
    };
  };
  /**
   * Get a step-up token. Exchanges a code for a token that scripts can send as `X-MFA-Code`. It is valid for the calling key for ten minutes. The token is not kept: a retry with the same `Idempotency-Key` is 409.
   *
   * Needs any valid API key.
   */
  "POST /v1/mfa/step-up": {
    request: {
      body: StepUp;
    };
    response: {
      success: true;
      data: StepUpToken;
    };
  };
  /** Remove the second factor. Needs any valid API key. */
  "POST /v1/mfa/remove": {
    request: {
      body: RemoveMfa;
    };
    response: {
      success: true;
      data: {
        removed: true;
      };
    };
  };
  /**
   * List sign-in methods. How a browser can sign in to the console. A person is signed in by the OpenID Connect issuer of the installation, if it has one: the browser goes to `/console/oidc/start`, with `return_to`, a path of the console, and `organisation`, if the person is in several. Needs no key.
   *
   * Needs no API key.
   */
  "GET /v1/console/sign-in-methods": {
    request: Record<never, never>;
    response: {
      success: true;
      data: SignInMethods;
    };
  };
  /**
   * Sign in to the console. For browsers: exchanges an API key or a one-time link for a session, whose token is set as a cookie that scripts cannot read. The session may do what the key may do, for 12 hours at most, and ends with the key. A change with the cookie needs the header `X-CSRF-Token`. Requests from other sites are refused, and so is plain HTTP unless it is on this machine. Signing in ends the session that the browser had. Rate-limited by address, and with the other requests of the organisation.
   *
   * Needs no API key.
   */
  "POST /v1/console/sessions": {
    request: {
      body?: SignIn | undefined;
    };
    response: {
      success: true;
      data: CreatedConsoleSession;
    };
  };
  /**
   * List console sessions. Sessions that have not ended, newest first: those of the calling key or person, and with the permission `manage` all of the organisation, or of the agent that the key belongs to.
   *
   * Needs any valid API key.
   */
  "GET /v1/console/sessions": {
    request: {
      query?: {
        /**
         * Maximum number of items to return.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Number of items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
      } | undefined;
    };
    response: {
      data: ConsoleSession[];
      pagination: Pagination;
    };
  };
  /**
   * Create a sign-in link. Answers an address at which a browser signs in as the calling key, once, within 5 minutes. The secret is in the fragment, which browsers do not send to servers. Needs an API key: a session cannot make another one.
   *
   * Needs any valid API key.
   */
  "POST /v1/console/links": {
    request: Record<never, never>;
    response: {
      success: true;
      data: ConsoleLink;
    };
  };
  /**
   * End a console session. Ends a session at once: your own, and with the permission `manage` any of the organisation. The id `current` is the session of the request, so this is how to sign out.
   *
   * Needs any valid API key.
   */
  "DELETE /v1/console/sessions/{session_id}": {
    request: {
      params: {
        /** Id of a session, or `current`. */
        session_id: string;
      };
    };
    response: {
      success: true;
      data: {
        id: ConsoleSessionId;
        ended_at: Timestamp;
      };
    };
  };
  /**
   * Get installation. The health of the installation as the node that answers sees it: its parts, what they hold, and the releases with the runs that can end only there. It says nothing about any organisation. Needs the permission `operate`, which is in no role: the operator gives it with `perch-server create-key --operate`. Answers within 3 seconds, also if parts are silent.
   *
   * Needs the permission `operate`.
   */
  "GET /v1/installation": {
    request: Record<never, never>;
    response: {
      success: true;
      data: Installation;
    };
  };
}
