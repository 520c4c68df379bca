// Made from openapi.json by `pnpm generate`. Do not edit.

import type {
  AddLogs,
  AddMemory,
  Agent,
  AgentId,
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
  DeliveryStatus,
  DeliveryWithAttempts,
  Deployment,
  DeploymentStatus,
  Environment,
  Event,
  EventType,
  Granularity,
  Invocation,
  InvocationResult,
  InvocationStatus,
  InvocationSummary,
  InvokeAgent,
  KeyId,
  KeyStatus,
  LogEntry,
  LogLevel,
  LogPagination,
  Me,
  Memory,
  MemoryClear,
  MemoryHit,
  MemoryId,
  MemoryStatus,
  MetricSeries,
  MfaEnrolment,
  ModelEntry,
  Pagination,
  Provider,
  ProviderName,
  RedeliverFailed,
  RemoveMfa,
  RequestId,
  RevokeLeakedKey,
  RotateKey,
  RotateWebhookSecret,
  RunEvent,
  SearchMemory,
  SearchReport,
  StepUp,
  StepUpToken,
  Timestamp,
  UpdateAgent,
  UpdateDeployment,
  UpdateKey,
  UpdateProvider,
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
   * Create agent. `name` never changes afterwards. `model` is required, except for a remote agent (`runtime.type` is `http`). Left out, the rest is `{"temperature":null,"instructions":"","tools":[],"memory":{"recall":false,"recall_limit":5,"remember":false,"embedder":{"model":"perch/minilm","dimensions":384}},"limits":{"max_steps":20,"max_tokens":100000,"timeout_seconds":120,"history_messages":40,"max_concurrent_runs":100},"logs":{"messages":false},"fallback_models":[],"runtime":{"type":"model"},"security":{}}`. Setting `security` or `auth` also needs the permission `manage`.
   *
   * Needs the permission `write`.
   */
  "POST /v1/agents": {
    request: {
      query?: {
        /**
         * Lets you set `security` that refuses this very request: an address list without you in it, say.
         *
         * @defaultValue `"false"`
         */
        force?: "true" | "false" | undefined;
      } | undefined;
      body: CreateAgent;
    };
    response: {
      success: true;
      data: Agent;
    };
  };
  /** List agents. Needs the permission `read`. */
  "GET /v1/agents": {
    request: {
      query?: {
        /**
         * Items on a page.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /**
         * Field to sort by; a leading `-` means descending.
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
   * Update agent. Changes the draft. `memory`, `limits` and `security` merge field by field, everything else is replaced; null restores the default. Changing `security` or `auth` also needs the permission `manage`, and is refused with `conflict` where it would refuse this very request, unless forced.
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
         * Lets you set `security` that refuses this very request: an address list without you in it, say.
         *
         * @defaultValue `"false"`
         */
        force?: "true" | "false" | undefined;
      } | undefined;
      body?: UpdateAgent | undefined;
    };
    response: {
      success: true;
      data: Agent;
    };
  };
  /**
   * Delete agent. The agent is gone at once and its name is free again. Keys that belong to it are revoked.
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
   * Pause agent. A paused agent refuses new invocations with `conflict`. Pausing twice is the same as once.
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
   * Invoke agent. Runs the agent durably and waits for its answer. `Prefer: respond-async` answers 202 at once, `Prefer: wait=N` after N seconds; the run goes on either way, and `Location` says where to read it. With an `Idempotency-Key` a retry joins the first run instead of starting another. `Accept: text/event-stream` streams the events `token`, `tool`, `done` and `error`; a client that leaves does not stop the run, and can come back with `Last-Event-ID`.
   *
   * Needs the permission `write`.
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
        status: "running";
      };
    };
    event: RunEvent;
  };
  /**
   * List invocations. Newest first. `total` is counted up to 10,000; beyond that `total_relation` is `gte`.
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
         * Items on a page.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        status?: InvocationStatus | undefined;
        session_id?: string | undefined;
        environment?: string | undefined;
        /** From this time on. */
        start_time?: string | undefined;
        /** Before this time. */
        end_time?: string | undefined;
      } | undefined;
    };
    response: {
      data: InvocationSummary[];
      pagination: CappedPagination;
    };
  };
  /**
   * Get invocation. `Accept: text/event-stream` follows the run instead, from its beginning or after `Last-Event-ID`, with the same events as invoke.
   *
   * Needs the permission `read`.
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
   * Cancel invocation. The run stops before its next step and is recorded as `cancelled`. A run that has ended stays as it is.
   *
   * Needs the permission `write`.
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
   * Create deployment. Answers at once with `pending`. Checks of the model, the tools and the limits follow; then it is `active` and live from the next request on, or `failed` with an `error`, and what was live stays so.
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
   * List deployments. All there ever were: nothing is removed.
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
         * Items on a page.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /**
         * Field to sort by; a leading `-` means descending.
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
   * Adjust canary. Changes the share of a canary. Sessions that are on it stay on it when the share grows.
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
   * Promote canary. The canary becomes the live deployment, from the next request on.
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
   * Abort canary. The canary gets no request any more; the live deployment gets all.
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
   * Roll back deployment. The environment runs the version of this deployment again; if it is the live one, the version before it. Counts from the next request on, on every node. The answer is a new deployment; no record is removed. A canary is aborted.
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
         * Items on a page.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /**
         * Field to sort by; a leading `-` means descending.
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
   * Get version. The whole definition, as it was when the label was first used. It never changes.
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
   * Compare versions. What changes from this version to another one, or to the agent's draft.
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
         * A version's label, or `draft`.
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
   * Get logs. Newest first. `total` is counted up to 10,000; beyond that `total_relation` is `gte`. `Accept: text/event-stream` follows new entries instead, with the same filters.
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
        /** From this time on; the last 24 hours unless set. */
        start_time?: string | undefined;
        /** Before this time. */
        end_time?: string | undefined;
        /**
         * Entries on a page.
         *
         * @defaultValue `100`
         */
        limit?: number | undefined;
        /**
         * Entries to skip. `cursor` costs less.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /** `pagination.next_cursor` of the page before. */
        cursor?: string | undefined;
        request_id?: RequestId | undefined;
        environment?: string | undefined;
        version?: string | undefined;
        /** In the message, in whatever case. */
        contains?: string | undefined;
      } | undefined;
    };
    response: {
      data: LogEntry[];
      pagination: LogPagination;
    };
    event: LogEntry;
  };
  /**
   * Add log entries. For remote agents and tools: what they did, beside what Perch saw.
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
        added: number;
      };
    };
  };
  /**
   * Get metrics. Every interval of the range has a value, also one without runs. `response_time` is in milliseconds, `throughput` in requests per minute, `error_rate` a share from 0 to 1, `tokens` and `cost` are sums; `cost` is in US dollars, as far as the operator set prices. Percentiles are true to within 6 %.
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
        /** From the interval of this time on; 24 hours before the end unless set. */
        start_time?: string | undefined;
        /** Before this time; now unless set. */
        end_time?: string | undefined;
        /** The finest with at most 300 values unless set; at most 1,500 values. */
        granularity?: Granularity | undefined;
        /** Of response_time: avg unless set. */
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
   * Search memory. By meaning and by words at once: what only one of the two finds is found. Where no embedder answers, it goes by words alone and says so.
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
   * Add memory. The same content of the same user is kept once: adding it again makes it the newest.
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
   * List memories. The one last said comes first.
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
         * Items on a page.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Items to skip.
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
      pagination: {
        limit: number;
        offset: number;
        /** How many items there are on all pages. */
        total: number;
        has_more: boolean;
        /** `gte`: there are more than `total`, which is counted to 10,000. */
        total_relation: "eq" | "gte";
      };
    };
  };
  /**
   * Clear memory. Memories and what was said in sessions. It is out of sight when this returns; a large clear goes on removing in the background, and answers 202. Records of runs and logs are not memory: they expire by themselves.
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
        /** Only what belongs to this user. */
        user_id?: string | undefined;
        /** Only what belongs to this session. */
        session_id?: string | undefined;
        /** Only what was last said before this time. */
        before?: string | undefined;
      } | undefined;
    };
    response: {
      success: true;
      data: MemoryClear;
    };
  };
  /**
   * Get memory status. How much there is, and how far embedding has come after the embedder was changed.
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
   * Get clear. How far a clear has come.
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
   * Create webhook. The answer holds the secret that signs deliveries, this once. `X-Service-Signature` is the HMAC-SHA-256 of the raw body in hex, keyed with the secret as it is shown; the headers of Standard Webhooks come besides.
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
         * Items on a page.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /**
         * Field to sort by; a leading `-` means descending.
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
   * Update webhook. Counts from the next attempt on, also for deliveries that are pending.
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
   * Delete webhook. Its pending deliveries are cancelled, and its delivery log is gone with it.
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
   * Rotate webhook secret. Makes a new secret and shows it once. During the overlap both sign: `webhook-signature` holds one signature of each, `X-Service-Signature` is the new secret's and `X-Service-Signature-Previous` the old one's.
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
   * Send test event. Delivers an event `webhook.test` to this webhook, whatever events it asks for.
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
   * List deliveries. Newest first, kept for 30 days. `total` is counted up to 10,000; beyond that `total_relation` is `gte`.
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
         * Items on a page.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Items to skip.
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
   * Get delivery. With each attempt: when, how long, what was answered, and why it failed.
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
   * Redeliver one. A new delivery of the same event, with attempts of its own. The event keeps its id.
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
   * Redeliver all failed since a time. New deliveries for those that failed since then, and whose event has not been delivered or queued again meanwhile; the oldest 1,000 of them. `more` says whether some are left: ask again.
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
        queued: number;
        more: boolean;
      };
    };
  };
  /**
   * List events. Newest first, kept for 30 days. `total` is counted up to 10,000; beyond that `total_relation` is `gte`.
   *
   * Needs the permission `read`.
   */
  "GET /v1/events": {
    request: {
      query?: {
        /**
         * Items on a page.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        type?: EventType | undefined;
        /** Only events of this agent (id or name). */
        agent_id?: string | undefined;
        /** From this time on. */
        start_time?: string | undefined;
        /** Before this time. */
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
   * Create API key. The answer holds the key itself, once: it is not kept and cannot be shown again. A key never gives more than its maker holds: not in permissions, not in agents, not in time.
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
         * Items on a page.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /**
         * Field to sort by; a leading `-` means descending.
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
   * Revoke API key. The key stops working at once. Revoking twice is the same as once.
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
   * Update API key. Changes its name, what it may do or when it ends, from its next request on. Never to more than the caller holds.
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
   * Rotate API key. Makes a new key with the same rights and shows it once. The old one ends when the overlap is over, at once if it is 0.
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
   * Revoke a leaked API key. Whoever finds a key may end it by presenting it: no other key is needed. Limited by address.
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
   * Who am I. What the presented key is and may do.
   *
   * Any valid key will do.
   */
  "GET /v1/me": {
    request: Record<never, never>;
    response: {
      success: true;
      data: Me;
    };
  };
  /**
   * List models. What an agent of this organisation can run on: built-in models, the server's providers and your own.
   *
   * Needs the permission `read`.
   */
  "GET /v1/models": {
    request: {
      query?: {
        /**
         * Items on a page.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Items to skip.
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
   * Add model provider. Goes before a provider of the same name that the server has.
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
   * List model providers. Those of your organisation. What the server brings is in `GET /v1/models`.
   *
   * Needs the permission `read`.
   */
  "GET /v1/providers": {
    request: {
      query?: {
        /**
         * Items on a page.
         *
         * @defaultValue `10`
         */
        limit?: number | undefined;
        /**
         * Items to skip.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /**
         * Field to sort by; a leading `-` means descending.
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
   * Update model provider. Counts from the next model call on. A new address needs the API key anew, so that nobody can send it elsewhere.
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
   * Remove model provider. Runs that need it fail from their next model call on, unless the server has a provider of that name.
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
   * Get audit log. Newest first, for 400 days. A key that belongs to one agent sees what was done to that agent. `total` is counted up to 10,000; beyond that `total_relation` is `gte`.
   *
   * Needs the permission `manage`.
   */
  "GET /v1/audit-log": {
    request: {
      query?: {
        key_id?: KeyId | undefined;
        operation?: string | undefined;
        /** An id such as agent_…, dep_…, key_…, or a provider's name. */
        resource?: string | undefined;
        outcome?: "changed" | "refused" | undefined;
        /** From this time on. */
        start_time?: string | undefined;
        /** Before this time. */
        end_time?: string | undefined;
        /**
         * Entries on a page.
         *
         * @defaultValue `100`
         */
        limit?: number | undefined;
        /**
         * Entries to skip. `cursor` costs less.
         *
         * @defaultValue `0`
         */
        offset?: number | undefined;
        /** `pagination.next_cursor` of the page before. */
        cursor?: string | undefined;
      } | undefined;
    };
    response: {
      data: AuditEntry[];
      pagination: AuditPagination;
    };
  };
  /**
   * Enrol a second factor. For the key that asks. Give `otpauth_url` to an authenticator, keep the recovery codes, then confirm with a code. Nothing counts before that.
   *
   * Any valid key will do.
   */
  "POST /v1/mfa": {
    request: Record<never, never>;
    response: {
      success: true;
      data: MfaEnrolment;
    };
  };
  /** Confirm the second factor. Any valid key will do. */
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
   * Get a step-up token. For scripts: a token for `X-MFA-Code` that counts for this key as a code does, for ten minutes.
   *
   * Any valid key will do.
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
  /** Remove the second factor. Any valid key will do. */
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
}
