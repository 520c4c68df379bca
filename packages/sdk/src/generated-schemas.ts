// Made from openapi.json by `pnpm generate`. Do not edit.

export interface AddLogs {
  entries: NewLogEntry[];
}

export interface AddMemory {
  content: string;
  /** Whose it is. Without it, runs for every user may recall it. */
  user_id?: string | undefined;
  session_id?: string | undefined;
  /** @defaultValue `{}` */
  metadata?: Record<string, unknown> | undefined;
}

export interface Agent {
  id: AgentId;
  name: AgentName;
  status: AgentStatus;
  created_at: Timestamp;
  model: ModelRef;
  /** null leaves it to the model. */
  temperature: number | null;
  instructions: string;
  tools: Array<McpTool | HttpTool>;
  memory: MemorySettings;
  limits: Limits;
  logs: LogSettings;
  /** Tried in order when the model fails. */
  fallback_models: ModelRef[];
  runtime: Runtime;
  security: SecuritySettings;
  auth: ShownAgentAuth | null;
  updated_at: Timestamp;
}

/** Needs a token of the user in the header `X-User-Token`, beside the API key. */
export type AgentAuth = {
  type: "oauth2";
  /** The issuer: its `/.well-known/openid-configuration` says the rest. */
  provider: string;
  clientId: string;
  /** Which scopes count here. An operation needs the scope of its permission, `write:agents` for write. */
  scopes: Array<"read:agents" | "write:agents" | "delete:agents" | "manage:agents">;
  /** What `aud` of a token must name; `clientId` unless set. */
  audience?: string | undefined;
  /** For asking about opaque tokens (RFC 7662). */
  clientSecret?: string | undefined;
} | {
  type: "jwt";
  /** HS256, at least 32 bytes. */
  secret: string;
  /** Still accepted, while you change to `secret`. */
  previousSecret?: string | undefined;
};

export type AgentId = string;

export type AgentName = string;

export type AgentStatus = "running" | "paused";

export interface AgentSummary {
  id: AgentId;
  name: AgentName;
  status: AgentStatus;
  created_at: Timestamp;
}

export interface ApiKey {
  id: KeyId;
  name: string;
  /** The one agent this key reaches; null means all agents of the organisation. */
  agent_id: AgentId | null;
  /** The role it was made with, if any. */
  role: Role | null;
  permissions: Permission[];
  /** The first characters of the key, to recognise it by. */
  prefix: string;
  status: KeyStatus;
  /** The key that made this one; null for an organisation's first. */
  created_by: KeyId | null;
  /** The key this one replaces, if it came from a rotation. */
  rotated_from: KeyId | null;
  created_at: Timestamp;
  expires_at: Timestamp | null;
  /** Written in batches: may be some seconds late. */
  last_used_at: Timestamp | null;
  revoked_at: Timestamp | null;
}

export interface ArmFigures {
  runs: number;
  error_rate: number;
  p95_ms: number | null;
  mean_tokens: number | null;
}

export interface AuditDetails {
  /** Which fields the request named; never their values. */
  fields?: string[] | undefined;
  /** Why it was refused. */
  reason?: string | undefined;
}

export interface AuditEntry {
  id: AuditId;
  created_at: Timestamp;
  /** Who vouched for it: `key` an API key; `oauth`, `jwt` a key and a user's token; `operator` a command on the server; `public` nobody. */
  actor: "key" | "oauth" | "jwt" | "operator" | "public";
  key_id: KeyId | null;
  /** The user of the token, where there was one. */
  user_id: string | null;
  /** The operation's id in this document, such as `updateAgent`, or an operator's command. */
  operation: string;
  resource_type: string;
  /** The id of what was changed, or its name where it has no id. */
  resource: string | null;
  /** The agent it belongs to. */
  agent_id: AgentId | null;
  /** Where the request came from. */
  address: string | null;
  /** `X-Request-Id` of the answer. */
  request_id: string | null;
  outcome: "changed" | "refused";
  details: AuditDetails;
}

export type AuditId = string;

export interface AuditPagination {
  limit: number;
  offset: number;
  /** How many items there are on all pages. */
  total: number;
  has_more: boolean;
  total_relation: "eq" | "gte";
  next_cursor: string | null;
}

export interface CappedPagination {
  limit: number;
  offset: number;
  /** How many items there are on all pages. */
  total: number;
  has_more: boolean;
  total_relation: "eq" | "gte";
}

export type ClearId = string;

export interface ConfirmMfa {
  code: MfaCode;
}

export interface CreateAgent {
  model?: ModelRef | undefined;
  /** null leaves it to the model. */
  temperature?: number | null | undefined;
  instructions?: string | null | undefined;
  tools?: Array<McpTool | HttpTool> | null | undefined;
  memory?: MemorySettingsPatch | null | undefined;
  limits?: LimitsPatch | null | undefined;
  logs?: LogSettingsPatch | null | undefined;
  fallback_models?: ModelRef[] | null | undefined;
  runtime?: Runtime | null | undefined;
  security?: SecuritySettingsPatch | null | undefined;
  auth?: AgentAuth | null | undefined;
  name: AgentName;
}

export interface CreateDeployment {
  environment: Environment;
  /** Its first use makes a version of the agent's draft; later use deploys that version again. */
  version: VersionLabel;
  /**
   * Less than 100 makes a canary beside the live deployment.
   *
   * @defaultValue `100`
   */
  traffic_percent?: number | undefined;
  /** For a canary: when it is taken out of service by itself. */
  guards?: NewGuards | undefined;
  /**
   * Deploys a version that exists as it is, though the agent's draft has changed since.
   *
   * @defaultValue `false`
   */
  redeploy?: boolean | undefined;
}

export interface CreateKey {
  name: string;
  /** Id or name of the one agent the key may reach; left out, it reaches all. */
  agent_id?: string | undefined;
  /** Either this or `role`. */
  permissions?: Permission[] | undefined;
  /** Either this or `permissions`. */
  role?: Role | undefined;
  expires_at?: string | undefined;
}

export interface CreateProvider {
  name: ProviderName;
  type: ProviderType;
  /**
   * Where it answers; null is the provider's own address.
   *
   * @defaultValue `null`
   */
  base_url?: string | null | undefined;
  /**
   * The models that may be used; empty means any that the provider has.
   *
   * @defaultValue `[]`
   */
  models?: string[] | undefined;
  /** @defaultValue `null` */
  api_key?: string | null | undefined;
}

export interface CreateWebhook {
  /** Id or name of the one agent whose events it receives; left out, those of all agents. */
  agent_id?: string | undefined;
  /** HTTPS address that receives events. It must not be a private address. */
  url: string;
  /** The names of the events it receives. */
  events: Array<"agent.completed" | "agent.failed" | "deployment.activated" | "deployment.failed" | "deployment.rolled_back">;
}

export interface CreatedApiKey {
  id: KeyId;
  name: string;
  /** The one agent this key reaches; null means all agents of the organisation. */
  agent_id: AgentId | null;
  /** The role it was made with, if any. */
  role: Role | null;
  permissions: Permission[];
  /** The first characters of the key, to recognise it by. */
  prefix: string;
  status: KeyStatus;
  /** The key that made this one; null for an organisation's first. */
  created_by: KeyId | null;
  /** The key this one replaces, if it came from a rotation. */
  rotated_from: KeyId | null;
  created_at: Timestamp;
  expires_at: Timestamp | null;
  /** Written in batches: may be some seconds late. */
  last_used_at: Timestamp | null;
  revoked_at: Timestamp | null;
  key: string;
}

export interface Delivery {
  id: DeliveryId;
  webhook_id: WebhookId;
  event_id: EventId;
  event_type: EventType;
  status: DeliveryStatus;
  /** How many were made. */
  attempts: number;
  /** When the next is due; null when there will be none. */
  next_attempt_at: Timestamp | null;
  /** What the last attempt was answered with; null if with nothing. */
  status_code: number | null;
  /** Why the last attempt failed, in words; null if it did not. */
  error: string | null;
  /** The delivery that this one repeats, if any. */
  redelivery_of: DeliveryId | null;
  created_at: Timestamp;
  finished_at: Timestamp | null;
}

export interface DeliveryAttempt {
  number: number;
  at: Timestamp;
  duration_ms: number;
  status_code: number | null;
  /** Why it failed, in words; null if it did not. */
  error: string | null;
  /** The beginning of what was answered: 1 KiB at most. */
  response: string | null;
}

export type DeliveryId = string;

export type DeliveryStatus = "pending" | "delivered" | "failed" | "cancelled";

export interface DeliveryWithAttempts {
  id: DeliveryId;
  webhook_id: WebhookId;
  event_id: EventId;
  event_type: EventType;
  status: DeliveryStatus;
  /** How many were made. */
  attempts: number;
  /** When the next is due; null when there will be none. */
  next_attempt_at: Timestamp | null;
  /** What the last attempt was answered with; null if with nothing. */
  status_code: number | null;
  /** Why the last attempt failed, in words; null if it did not. */
  error: string | null;
  /** The delivery that this one repeats, if any. */
  redelivery_of: DeliveryId | null;
  created_at: Timestamp;
  finished_at: Timestamp | null;
  attempt_log: DeliveryAttempt[];
}

export interface Deployment {
  id: DeploymentId;
  agent_id: AgentId;
  environment: Environment;
  version: VersionLabel;
  status: DeploymentStatus;
  /** 100 for the live one; less for a canary beside it. */
  traffic_percent: number;
  guards: Guards | null;
  /** The last look at a guarded canary. */
  guard_report: GuardReport | null;
  /** The deployment that this one took out of service by a rollback. */
  rollback_of: DeploymentId | null;
  created_by: KeyId | null;
  created_at: Timestamp;
  activated_at: Timestamp | null;
  ended_at: Timestamp | null;
  /** Why it failed or was rolled back, and what to do. */
  error: string | null;
}

export type DeploymentId = string;

export type DeploymentStatus = "pending" | "active" | "failed" | "superseded" | "rolled_back";

/** Memory belongs to the agent and not to a version: the draft's embedder counts for all. A new one embeds all memories anew, in the background; searches work meanwhile. */
export interface EmbedderSettings {
  /** `provider/model`. `perch/minilm` runs within the server and needs no key. */
  model: ModelRef;
  /** Of its vectors. */
  dimensions: 384 | 768 | 1024 | 1536;
}

export type Environment = string;

export interface ErrorBody {
  success: false;
  error: {
    code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "rate_limited" | "server_error" | "conflict" | "payload_too_large" | "unavailable";
    /** For a person: what happened and what to do next. */
    message: string;
    /** Seconds to wait before trying again. */
    retry_after?: number | undefined;
    details?: ErrorDetail[] | undefined;
  };
}

export interface ErrorDetail {
  /** Where the problem is, as a dotted path, for example `limits.max_steps`. */
  field: string;
  /** What is wrong with it. */
  error: string;
}

/** Also the body of a delivery. */
export interface Event {
  id: EventId;
  type: EventType;
  created_at: Timestamp;
  /** The agent it is about; null where it is about none. */
  agent_id: AgentId | null;
  /** Of `agent.…`: request_id, agent_id, environment, version, status, tokens_used, duration_ms, user_id, session_id, and response or error; a response of more than 65,536 characters is cut, and `response_truncated` says so. Of `deployment.…`: the deployment. Of `webhook.test`: webhook_id. */
  data: Record<string, unknown>;
}

export type EventId = string;

export type EventType = "agent.completed" | "agent.failed" | "deployment.activated" | "deployment.failed" | "deployment.rolled_back" | "webhook.test";

export type Granularity = "1m" | "5m" | "1h" | "1d";

export interface GuardReport {
  checked_at: Timestamp;
  /** `waiting`: not enough runs yet. */
  verdict: "waiting" | "healthy" | "rolled_back";
  /** Which guard was broken, with the figures. */
  reason: string | null;
  canary: ArmFigures;
  live: ArmFigures;
}

export interface Guards {
  /** How far its share of failed runs may lie above the live one's: 0.05 is five points. */
  max_error_rate_increase?: number | undefined;
  /** Its 95th percentile of run times over the live one's. */
  max_p95_ratio?: number | undefined;
  /** Its mean tokens of a run over the live one's. */
  max_mean_tokens_ratio?: number | undefined;
  /** Runs of each of the two before anything is judged. */
  min_runs: number;
  /** How long it is watched, from its activation. */
  window_seconds: number;
}

export interface HttpTool {
  type: "http";
  name: string;
  description: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: string;
  /** JSON Schema of the arguments. */
  parameters: {
    type: "object";
    [field: string]: unknown;
  };
}

export interface Invocation {
  request_id: RequestId;
  agent_id: AgentId;
  status: InvocationStatus;
  environment: string;
  /** The version that ran; null for the agent's draft. */
  version: string | null;
  /** The deployment that made it live. */
  deployment_id: DeploymentId | null;
  user_id: string | null;
  session_id: string | null;
  message: string;
  response: string | null;
  /** Why it failed or was cancelled, for a person. */
  error: string | null;
  /** Model calls made. */
  steps: number;
  tokens_used: number;
  duration_ms: number | null;
  created_at: Timestamp;
  finished_at: Timestamp | null;
  /** Its log in order: model calls, tool calls, retries, with their times. Empty until it has ended. */
  timeline: LogEntry[];
}

export interface InvocationContext {
  /** Whom the agent is talking to. */
  user_id?: string | undefined;
  /** The conversation: one turn at a time, in order, with what was said before. */
  session_id?: string | undefined;
  /** Which environment answers; `production` unless set. */
  environment?: string | undefined;
  /** This version answers, whatever is deployed. Needs a key that may also read; for trying a version out. */
  version?: string | undefined;
}

export interface InvocationResult {
  /** The agent's reply. */
  response: string;
  request_id: RequestId;
  tokens_used: number;
  duration_ms: number;
}

export type InvocationStatus = "running" | "completed" | "failed" | "cancelled";

export interface InvocationSummary {
  request_id: RequestId;
  agent_id: AgentId;
  status: InvocationStatus;
  environment: string;
  /** The version that ran; null for the agent's draft. */
  version: string | null;
  /** The deployment that made it live. */
  deployment_id: DeploymentId | null;
  user_id: string | null;
  session_id: string | null;
  /** Why it failed or was cancelled, for a person. */
  error: string | null;
  /** Model calls made. */
  steps: number;
  tokens_used: number;
  duration_ms: number | null;
  created_at: Timestamp;
  finished_at: Timestamp | null;
}

export interface InvokeAgent {
  message: string;
  context?: InvocationContext | undefined;
}

export type KeyId = string;

export type KeyStatus = "active" | "expired" | "revoked";

export interface Limits {
  /** Model calls in one run. */
  max_steps: number;
  /** Tokens in one run, all steps together. */
  max_tokens: number;
  /** Time for one run. */
  timeout_seconds: number;
  /** How much of a session the model sees, in messages. */
  history_messages: number;
  /** Runs of this agent at the same time. */
  max_concurrent_runs: number;
}

export interface LimitsPatch {
  /** Model calls in one run. */
  max_steps?: number | undefined;
  /** Tokens in one run, all steps together. */
  max_tokens?: number | undefined;
  /** Time for one run. */
  timeout_seconds?: number | undefined;
  /** How much of a session the model sees, in messages. */
  history_messages?: number | undefined;
  /** Runs of this agent at the same time. */
  max_concurrent_runs?: number | undefined;
}

export interface LogEntry {
  timestamp: Timestamp;
  level: LogLevel;
  message: string;
  /** `request_id` is the run's, `environment` and `version` say what ran; the rest depends on the entry. */
  metadata: {
    request_id: string | null;
    [field: string]: unknown;
  };
}

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface LogPagination {
  limit: number;
  offset: number;
  /** How many items there are on all pages. */
  total: number;
  has_more: boolean;
  total_relation: "eq" | "gte";
  next_cursor: string | null;
}

export interface LogSettings {
  /** Whether messages and answers stand in log entries. They do not unless you say so. */
  messages: boolean;
}

export interface LogSettingsPatch {
  /** Whether messages and answers stand in log entries. They do not unless you say so. */
  messages?: boolean | undefined;
}

export interface McpTool {
  type: "mcp";
  name: string;
  /** Streamable HTTP address of the MCP server. */
  url: string;
}

export interface Me {
  organisation: {
    id: OrganisationId;
    name: string;
    tier: Tier;
  };
  key: {
    id: KeyId;
    name: string;
    /** The one agent this key reaches; null means all agents of the organisation. */
    agent_id: AgentId | null;
    /** The role it was made with, if any. */
    role: Role | null;
    permissions: Permission[];
    expires_at: Timestamp | null;
  };
}

export interface Memory {
  id: MemoryId;
  content: string;
  /** Whose it is; null where it belongs to nobody. */
  user_id: string | null;
  session_id: string | null;
  /** The run that remembered it; null where somebody added it. */
  source_request_id: RequestId | null;
  metadata: Record<string, unknown>;
  created_at: Timestamp;
  /** When it was last said. The same content of one user is one memory. */
  updated_at: Timestamp;
}

export interface MemoryClear {
  id: ClearId;
  /** While it runs, what it removes is out of sight already. */
  status: "running" | "completed";
  /** So far. */
  memories_deleted: number;
  /** Messages of sessions, so far. */
  messages_deleted: number;
  user_id: string | null;
  session_id: string | null;
  before: Timestamp | null;
  created_at: Timestamp;
  completed_at: Timestamp | null;
}

export interface MemoryHit {
  id: MemoryId;
  content: string;
  /** Whose it is; null where it belongs to nobody. */
  user_id: string | null;
  session_id: string | null;
  /** The run that remembered it; null where somebody added it. */
  source_request_id: RequestId | null;
  metadata: Record<string, unknown>;
  created_at: Timestamp;
  /** When it was last said. The same content of one user is one memory. */
  updated_at: Timestamp;
  /** Sum of the contributions. It orders the hits of one search and means nothing beyond. */
  score: number;
  score_parts: {
    /** null: not among the hits by meaning. */
    vector: VectorPart | null;
    /** null: not among the hits by words. */
    text: TextPart | null;
  };
}

export type MemoryId = string;

export interface MemorySettings {
  /** Give the model what it remembered before. */
  recall: boolean;
  /** How many memories at most. */
  recall_limit: number;
  /** Keep what was asked and answered as a memory. */
  remember: boolean;
  embedder: EmbedderSettings;
}

export interface MemorySettingsPatch {
  /** Give the model what it remembered before. */
  recall?: boolean | undefined;
  /** How many memories at most. */
  recall_limit?: number | undefined;
  /** Keep what was asked and answered as a memory. */
  remember?: boolean | undefined;
  embedder?: EmbedderSettings | undefined;
}

export interface MemoryStatus {
  /** All that is stored, with what a running clear has yet to remove. */
  memories: number;
  /** How many the agent may have. Past it the ones said longest ago go. */
  most_memories: number;
  /** What memories are embedded with. */
  embedder: {
    model: string;
    dimensions: number;
  };
  /** Memories yet to be embedded, counted to 10,000. Words find them already. */
  waiting: number;
  clearing: boolean;
}

export interface MetricSeries {
  metric: "response_time" | "throughput" | "error_rate" | "tokens" | "cost";
  granularity: Granularity;
  /** Of response_time; null for the others. */
  statistic: "avg" | "p50" | "p95" | "p99" | null;
  values: MetricValue[];
}

export interface MetricValue {
  timestamp: Timestamp;
  value: number;
  unit: string;
}

/** Six digits of the device, or a recovery code. Each counts once. */
export type MfaCode = string;

export interface MfaEnrolment {
  /** Base32. Shown only now. */
  secret: string;
  otpauth_url: string;
  /** For the day the device is lost; each once. Shown only now. */
  recovery_codes: string[];
}

export interface ModelEntry {
  /** What an agent's `model` may be. `provider/*` stands for any model that the provider has. */
  id: string;
  provider: string;
  /** Who brings it: Perch, the server's operator, or your organisation. */
  source: "built-in" | "installation" | "organisation";
}

/** `provider/model`. `perch/echo` needs no provider key. */
export type ModelRef = string;

export interface NewGuards {
  /** How far its share of failed runs may lie above the live one's: 0.05 is five points. */
  max_error_rate_increase?: number | undefined;
  /** Its 95th percentile of run times over the live one's. */
  max_p95_ratio?: number | undefined;
  /** Its mean tokens of a run over the live one's. */
  max_mean_tokens_ratio?: number | undefined;
  /**
   * Runs of each of the two before anything is judged.
   *
   * @defaultValue `50`
   */
  min_runs?: number | undefined;
  /**
   * How long it is watched, from its activation.
   *
   * @defaultValue `3600`
   */
  window_seconds?: number | undefined;
}

export interface NewLogEntry {
  /** When it happened, in the last 24 hours; now unless given. */
  timestamp?: string | undefined;
  /** @defaultValue `"info"` */
  level?: LogLevel | undefined;
  message: string;
  /** The run it belongs to. */
  request_id?: RequestId | undefined;
  /** @defaultValue `{}` */
  metadata?: Record<string, unknown> | undefined;
}

export type OrganisationId = string;

export interface Pagination {
  limit: number;
  offset: number;
  /** How many items there are on all pages. */
  total: number;
  has_more: boolean;
}

export type Permission = "read" | "write" | "delete" | "manage";

export interface Provider {
  name: ProviderName;
  type: ProviderType;
  /** Where it answers; null is the provider's own address. */
  base_url: string | null;
  /** The models that may be used; empty means any that the provider has. */
  models: string[];
  /** Whether it has an API key. The key itself is never shown. */
  api_key_set: boolean;
  created_at: Timestamp;
  updated_at: Timestamp;
}

/** The first half of `provider/model`. */
export type ProviderName = string;

/** Whose interface it speaks. `openai-compatible` is for vLLM, Ollama, gateways and the like. */
export type ProviderType = "openai" | "anthropic" | "google" | "openai-compatible";

export interface RedeliverFailed {
  /** Deliveries created from this time on. */
  since: string;
}

export type RemoveMfa = ConfirmMfa;

export type RequestId = string;

export interface RevokeLeakedKey {
  key: string;
}

export type Role = "admin" | "developer" | "viewer";

export interface RotateKey {
  /**
   * How long the old key goes on working beside the new one: up to 7 days, one day unless set.
   *
   * @defaultValue `86400`
   */
  overlap_seconds?: number | undefined;
}

export interface RotateWebhookSecret {
  /**
   * How long the old secret signs beside the new one: up to 7 days, one day unless set.
   *
   * @defaultValue `24`
   */
  overlap_hours?: number | undefined;
}

/** Event `error`: the run failed or was cancelled. The last one. */
export interface RunErrorEvent {
  code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "rate_limited" | "server_error" | "conflict" | "payload_too_large" | "unavailable";
  message: string;
  request_id: RequestId;
}

export type RunEvent = TokenEvent | ToolEvent | InvocationResult | RunErrorEvent;

/** Who answers: the model, or your own service that Perch posts the message to. */
export type Runtime = {
  type: "model";
} | {
  type: "http";
  url: string;
};

export interface SearchMemory {
  query: string;
  /** @defaultValue `10` */
  limit?: number | undefined;
  /**
   * By meaning and by words, or by one of them.
   *
   * @defaultValue `"hybrid"`
   */
  mode?: SearchMode | undefined;
  /** Memories of this user alone. */
  user_id?: string | undefined;
  /** Memories of this session alone. */
  session_id?: string | undefined;
  /** Last said at this time or later. */
  start_time?: string | undefined;
  /** Last said before this time. */
  end_time?: string | undefined;
  /** Memories whose metadata contain this. */
  metadata?: Record<string, unknown> | undefined;
}

export type SearchMode = "hybrid" | "vector" | "text";

export interface SearchReport {
  /** What was searched by. `text` where the embedder could not be asked. */
  mode: SearchMode;
  /** Whether every memory in question was compared. Large agents are searched by an index. */
  exact: boolean;
  /** What is worth knowing about this search, such as why it went by words alone. */
  notice: string | null;
}

export interface SecuritySettings {
  ipWhitelist?: {
    enabled: boolean;
    addresses: string[];
  } | undefined;
  mtls?: {
    enabled: boolean;
    clientCert: string;
    clientKey: string;
    caCert: string;
  } | undefined;
  enforceHttps?: boolean | undefined;
  hsts?: {
    enabled: boolean;
    /** Seconds. */
    maxAge: number;
  } | undefined;
  rateLimit?: {
    enabled: boolean;
    requests: number;
    window: string;
  } | undefined;
  mfa?: {
    enabled: boolean;
    operations: Array<"delete" | "update">;
  } | undefined;
}

export interface SecuritySettingsPatch {
  ipWhitelist?: {
    enabled: boolean;
    addresses: string[];
  } | null | undefined;
  mtls?: {
    enabled: boolean;
    clientCert: string;
    clientKey: string;
    caCert: string;
  } | null | undefined;
  enforceHttps?: boolean | null | undefined;
  hsts?: {
    enabled: boolean;
    /** Seconds. */
    maxAge: number;
  } | null | undefined;
  rateLimit?: {
    enabled: boolean;
    requests: number;
    window: string;
  } | null | undefined;
  mfa?: {
    enabled: boolean;
    operations: Array<"delete" | "update">;
  } | null | undefined;
}

/** Secrets are never shown. */
export type ShownAgentAuth = {
  type: "oauth2";
  /** The issuer: its `/.well-known/openid-configuration` says the rest. */
  provider: string;
  clientId: string;
  /** Which scopes count here. An operation needs the scope of its permission, `write:agents` for write. */
  scopes: Array<"read:agents" | "write:agents" | "delete:agents" | "manage:agents">;
  /** What `aud` of a token must name; `clientId` unless set. */
  audience?: string | undefined;
  hasClientSecret: boolean;
} | {
  type: "jwt";
  hasPreviousSecret: boolean;
};

export type StepUp = ConfirmMfa;

export interface StepUpToken {
  token: string;
  expires_at: Timestamp;
}

export interface TextPart {
  /** Its place among the hits by words, from 1. */
  rank: number;
  /** How much of the query's words it has, rare words counting more: 0 to 1. */
  coverage: number;
  /** The words that matched, in the form they are indexed in. */
  words: string[];
  /** What this part adds to the score. */
  contribution: number;
}

export type Tier = "free" | "pro" | "enterprise";

export type Timestamp = string;

/** Event `token`. */
export interface TokenEvent {
  /** Which model call says it. Each has a text of its own; the last one's is the answer. */
  step: number;
  /** Where in the step's text it goes. What stood there before is replaced. */
  offset: number;
  text: string;
}

/** Event `tool`. */
export interface ToolEvent {
  step: number;
  /** Which of the step's calls. */
  call: number;
  name: string;
  status: "started" | "completed" | "failed";
  /** When it starts. */
  arguments?: unknown;
}

export interface UpdateAgent {
  model?: ModelRef | undefined;
  /** null leaves it to the model. */
  temperature?: number | null | undefined;
  instructions?: string | null | undefined;
  tools?: Array<McpTool | HttpTool> | null | undefined;
  memory?: MemorySettingsPatch | null | undefined;
  limits?: LimitsPatch | null | undefined;
  logs?: LogSettingsPatch | null | undefined;
  fallback_models?: ModelRef[] | null | undefined;
  runtime?: Runtime | null | undefined;
  security?: SecuritySettingsPatch | null | undefined;
  auth?: AgentAuth | null | undefined;
}

export interface UpdateDeployment {
  traffic_percent: number;
}

export interface UpdateKey {
  name?: string | undefined;
  /** Either this or `role`. */
  permissions?: Permission[] | undefined;
  /** Either this or `permissions`. */
  role?: Role | undefined;
  /** null: it never expires. */
  expires_at?: string | null | undefined;
}

export interface UpdateProvider {
  /** Where it answers; null is the provider's own address. */
  base_url?: string | null | undefined;
  /** The models that may be used; empty means any that the provider has. */
  models?: string[] | undefined;
  /** null takes it away. A new `base_url` needs it anew. */
  api_key?: string | null | undefined;
}

export interface UpdateWebhook {
  /** HTTPS address that receives events. It must not be a private address. */
  url?: string | undefined;
  /** The names of the events it receives. */
  events?: Array<"agent.completed" | "agent.failed" | "deployment.activated" | "deployment.failed" | "deployment.rolled_back"> | undefined;
  /** false stops deliveries and cancels what is pending when its turn comes. true begins anew. */
  enabled?: boolean | undefined;
}

export interface VectorPart {
  /** Its place among the hits by meaning, from 1. */
  rank: number;
  /** Cosine of query and memory: 1 is the same meaning. */
  similarity: number;
  /** What this part adds to the score. */
  contribution: number;
}

export interface Version {
  version: VersionLabel;
  agent_id: AgentId;
  /** SHA-256 of the definition: two versions with one checksum are the same. */
  checksum: string;
  created_by: KeyId | null;
  created_at: Timestamp;
  definition: {
    model: ModelRef;
    /** null leaves it to the model. */
    temperature: number | null;
    instructions: string;
    tools: Array<McpTool | HttpTool>;
    memory: MemorySettings;
    limits: Limits;
    logs: LogSettings;
    /** Tried in order when the model fails. */
    fallback_models: ModelRef[];
    runtime: Runtime;
  };
}

/** What is absent on one side is left out there. */
export interface VersionChange {
  path: string;
  from?: unknown;
  to?: unknown;
}

export interface VersionDiff {
  from: string;
  to: string;
  same: boolean;
  changes: VersionChange[];
  /** The same for reading: a unified diff, with texts line by line. */
  text: string;
}

export type VersionLabel = string;

export interface VersionSummary {
  version: VersionLabel;
  agent_id: AgentId;
  /** SHA-256 of the definition: two versions with one checksum are the same. */
  checksum: string;
  created_by: KeyId | null;
  created_at: Timestamp;
}

export interface Webhook {
  id: WebhookId;
  /** The one agent whose events it receives; null means all. */
  agent_id: AgentId | null;
  url: string;
  events: string[];
  status: WebhookStatus;
  /** Why Perch disabled it; null if you did, or if it is enabled. */
  disabled_reason: string | null;
  /** Since when no attempt has gone well; null while they do. */
  failing_since: Timestamp | null;
  /** Until when the secret before the last rotation signs too. */
  previous_secret_until: Timestamp | null;
  created_by: KeyId | null;
  created_at: Timestamp;
  updated_at: Timestamp;
}

export type WebhookId = string;

export type WebhookStatus = "enabled" | "disabled";

export interface WebhookWithSecret {
  id: WebhookId;
  /** The one agent whose events it receives; null means all. */
  agent_id: AgentId | null;
  url: string;
  events: string[];
  status: WebhookStatus;
  /** Why Perch disabled it; null if you did, or if it is enabled. */
  disabled_reason: string | null;
  /** Since when no attempt has gone well; null while they do. */
  failing_since: Timestamp | null;
  /** Until when the secret before the last rotation signs too. */
  previous_secret_until: Timestamp | null;
  created_by: KeyId | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  /** Shown this once: it is kept encrypted. */
  secret: string;
}
