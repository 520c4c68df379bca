// Made from openapi.json by `pnpm generate`. Do not edit.

/** Event `action_required`: the run waits for a person, and the stream ends. After the decision, follow the run again at `GET /v1/agents/{agent_id}/invocations/{request_id}` with `Last-Event-ID`. */
export interface ActionRequiredEvent {
  request_id: RequestId;
  message: string;
  /** What the run waits for. Empty where it waits for its turn in the session. */
  approvals: Array<{
    id: ApprovalId;
    kind: "tool" | "question";
    tool: string;
    step: number;
    /** Number of the call within the step. */
    call: number;
  }>;
}

export interface AddLogs {
  entries: NewLogEntry[];
}

export interface AddMemory {
  content: string;
  /** The user that the memory belongs to. Without it, runs for all users can recall the memory. */
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
  /** null uses the model's default. */
  temperature: number | null;
  instructions: string;
  tools: Tool[];
  memory: MemorySettings;
  limits: Limits;
  logs: LogSetting;
  /** Models to try, in this order, when `model` fails. */
  fallback_models: ModelRef[];
  runtime: Runtime;
  approvals?: ApprovalSettings | undefined;
  security: SecuritySettings;
  auth: RedactedAgentAuth | null;
  updated_at: Timestamp;
  /** Only in the answer to a change that sets `auth`: what is refused from now on, and until when the key that made the change can take it back. */
  warnings?: string[] | undefined;
}

/** Requires a user's token in the header `X-User-Token`, in addition to the API key. Callers without `manage` then reach only what belongs to that user. */
export type AgentAuth = {
  type: "oauth2";
  /** URL of the issuer. Its `/.well-known/openid-configuration` is used for discovery. */
  provider: string;
  clientId: string;
  /** Scopes that are accepted. An operation needs the scope of its permission, such as `write:agents` for `write`. */
  scopes: Array<"read:agents" | "write:agents" | "delete:agents" | "manage:agents" | "approve:agents" | "invoke:agents">;
  /** Required audience (`aud`) of tokens. The default is `clientId`. */
  audience?: string | undefined;
  /** For introspection of opaque tokens (RFC 7662). */
  clientSecret?: string | undefined;
} | {
  type: "jwt";
  /** HS256 signing secret, at least 32 bytes. */
  secret: string;
  /** Previous signing secret, still accepted during a rotation. */
  previousSecret?: string | undefined;
};

export interface AgentCheck {
  problems: AgentProblem[];
}

export type AgentId = string;

export interface AgentMetricSeries {
  agent_id: AgentId;
  agent_name: string;
  metric: "response_time" | "throughput" | "error_rate" | "tokens" | "cost";
  unit: string;
  /** One value for each of `timestamps`. */
  values: number[];
}

export interface AgentMetrics {
  granularity: Granularity;
  /** The beginning of each interval. */
  timestamps: Timestamp[];
  series: AgentMetricSeries[];
  /** Whether there are more agents: without `agent_ids`, only the newest 100 are included. */
  has_more: boolean;
}

export type AgentName = string;

export interface AgentProblem {
  /** What is wrong: settings that contradict each other, or something that is missing or does not answer. */
  kind: "limits" | "secret" | "model" | "tool" | "runtime";
  /** Path of the field in the agent's definition, such as `model` or `tools.0`. */
  field: string;
  /** What is wrong, and what to do about it. */
  message: string;
}

export type AgentStatus = "running" | "paused";

export interface AgentSummary {
  id: AgentId;
  name: AgentName;
  status: AgentStatus;
  created_at: Timestamp;
}

export interface AnswerApproval {
  answer: unknown;
}

export interface ApiKey {
  id: KeyId;
  name: string;
  /** The only agent that this key can access. null: all agents of the organisation. */
  agent_id: AgentId | null;
  /** The role that the key was created with, if any. */
  role: Role | null;
  permissions: Permission[];
  /** First characters of the key, to identify it. */
  prefix: string;
  status: KeyStatus;
  /** The key that created this one. null for the organisation's first key. */
  created_by: KeyId | null;
  /** The key that this one replaced in a rotation. */
  rotated_from: KeyId | null;
  created_at: Timestamp;
  expires_at: Timestamp | null;
  /** May be a few seconds out of date. */
  last_used_at: Timestamp | null;
  revoked_at: Timestamp | null;
}

export interface Approval {
  id: ApprovalId;
  kind: ApprovalKind;
  status: ApprovalStatus;
  agent_id: AgentId;
  agent_name: string;
  /** The run that waits. */
  request_id: RequestId;
  environment: string;
  version: string | null;
  user_id: string | null;
  session_id: string | null;
  /** The tool that the model calls. */
  tool: string;
  /** Number of the model call that made the call. */
  step: number;
  /** Number of the call within the step. */
  call: number;
  /** Which rule of the agent's definition asks for a person. */
  why: string;
  /** Of the tool and the arguments as they are now: an edit changes it. */
  digest: string;
  /** How many different keys or persons must approve. */
  approvers: number;
  /** Those who have approved so far. */
  approved_by: Array<{
    by: Decider;
    at: Timestamp;
  }>;
  /** Whether a decision needs a code in `X-MFA-Code`. */
  second_factor: boolean;
  created_at: Timestamp;
  expires_at: Timestamp;
  decided_at: Timestamp | null;
  /** Who decided last. null while it is open, and if it ended without a decision. */
  decided_by: Decider | null;
  /** Whether a person changed the arguments. */
  edited: boolean;
  /** Whether the caller has the permission `approve`, and the agent's policy accepts its decision: the caller did not start the run, or the policy has `invoker_may_decide`. The approval's status, a second factor and earlier approvals are not considered. */
  can_decide: boolean;
  /** What a decision is about: for keys and persons with the permission `approve`. null for others, and where the user was erased. */
  contents: {
    /** The message that started the run. */
    message: string;
    /** The arguments as they would be sent now. */
    arguments: unknown;
    /** As the model wrote them, where a person changed them. */
    original_arguments?: unknown;
    /** JSON Schema of the arguments, or of the answer to a question. */
    parameters: Record<string, unknown>;
    question: string | null;
    answer?: unknown;
    /** Why it was rejected, as the model was told. */
    reason: string | null;
    /** What the run did before, the newest last. Long texts are cut. */
    history: Array<{
      step: number;
      text: string;
      calls: Array<{
        tool: string;
        arguments: unknown;
        result: string | null;
        failed: boolean;
      }>;
    }>;
  } | null;
}

/** A call needs approval where this holds, and also where the argument is missing or of another type than `value`. */
export interface ApprovalCondition {
  /** Name of the argument. Dots lead into objects, as in `order.total`. */
  argument: string;
  /** How the argument is compared with `value`. */
  op: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "not_in";
  /** A list for `in` and `not_in`, a number for `gt`, `gte`, `lt` and `lte`. */
  value: string | number | boolean | Array<string | number | boolean>;
}

export type ApprovalId = string;

/** `tool`: permission for a call. `question`: an answer, which the agent asked for. */
export type ApprovalKind = "tool" | "question";

/** Whether a person must approve a call before it is made. The default is `never`. */
export type ApprovalPolicy = "never" | "always" | {
  /** A call needs approval where any of them holds. Left out: every call does. */
  when?: ApprovalCondition[] | undefined;
  /** How many different keys or persons must approve. The default is 1. One rejection is enough. */
  approvers?: number | undefined;
  /** Whether a decision needs the code of a second factor in `X-MFA-Code`. The default is false. */
  second_factor?: boolean | undefined;
  /** How long a decision may take. Afterwards it counts as rejected. The default is 604800. */
  expires_after_seconds?: number | undefined;
  /** Whether the key or person that started the run may decide too, and keys that it made or that made it. The default is false. */
  invoker_may_decide?: boolean | undefined;
};

export interface ApprovalSettings {
  /** What happens to the next message of a session while a run of it waits for a person: it is refused, or it waits until that run has ended. The default is `refuse`. */
  while_waiting: "refuse" | "queue";
}

/** `answered`: the question was answered. `expired`: no decision came in time, which counts as rejected. `cancelled`: the run was cancelled, its agent deleted, or its user erased. */
export type ApprovalStatus = "open" | "approved" | "rejected" | "answered" | "expired" | "cancelled";

export interface ApprovalSummary {
  id: ApprovalId;
  kind: ApprovalKind;
  status: ApprovalStatus;
  agent_id: AgentId;
  agent_name: string;
  /** The run that waits. */
  request_id: RequestId;
  environment: string;
  version: string | null;
  user_id: string | null;
  session_id: string | null;
  /** The tool that the model calls. */
  tool: string;
  /** Number of the model call that made the call. */
  step: number;
  /** Number of the call within the step. */
  call: number;
  /** Which rule of the agent's definition asks for a person. */
  why: string;
  /** Of the tool and the arguments as they are now: an edit changes it. */
  digest: string;
  /** How many different keys or persons must approve. */
  approvers: number;
  /** Those who have approved so far. */
  approved_by: Array<{
    by: Decider;
    at: Timestamp;
  }>;
  /** Whether a decision needs a code in `X-MFA-Code`. */
  second_factor: boolean;
  created_at: Timestamp;
  expires_at: Timestamp;
  decided_at: Timestamp | null;
  /** Who decided last. null while it is open, and if it ended without a decision. */
  decided_by: Decider | null;
  /** Whether a person changed the arguments. */
  edited: boolean;
}

export interface ApproveApproval {
  /** `digest` of what you looked at: if it has changed since, the answer is 409. Required where more than one must approve. */
  digest?: string | undefined;
  /** Replaces the arguments of the call. */
  arguments?: Record<string, unknown> | undefined;
}

/** Built in: the model asks a question, the run waits, and a person's answer is the result. */
export interface AskPersonTool {
  type: "ask_person";
  /** What the model calls it, for example `ask_person`. */
  name: string;
  /** When the model is to ask, and whom. */
  description: string;
  /** JSON Schema of the answer. */
  answer: Record<string, unknown>;
  /** How long a decision may take. Afterwards it counts as rejected. The default is 604800. */
  expires_after_seconds?: number | undefined;
  /** Whether the key or person that started the run may decide too, and keys that it made or that made it. The default is false. */
  invoker_may_decide?: boolean | undefined;
}

export interface AuditDetails {
  /** Names of the fields in the request, never their values. */
  fields?: string[] | undefined;
  /** Error code of a refused request. */
  reason?: string | undefined;
}

export interface AuditEntry {
  id: AuditId;
  created_at: Timestamp;
  /** How the caller was authenticated. `key`: an API key. `oauth` or `jwt`: an API key and a user's token. `person`: a person who signed in to the console. `operator`: a command on the server. `system`: Perch itself, such as a guard that rolled a canary back. `public`: not at all. */
  actor: "key" | "oauth" | "jwt" | "person" | "operator" | "system" | "public";
  key_id: KeyId | null;
  /** The user that the token names, if the request had one. */
  user_id: string | null;
  /** The person who signed in to the console: the id at the issuer, after the email address if there is one, as in `ada@example.com (248289761001)`. */
  person: string | null;
  /** The session in the console, if the request came from one. */
  session_id: ConsoleSessionId | null;
  /** The operation's id in this document, such as `updateAgent`, the operator's command, `recheckPerson` where the issuer of people changed the role of a session, or `rollBackCanary` where a canary broke its guards. */
  operation: string;
  resource_type: string;
  /** Id of the resource, or its name if it has no id. */
  resource: string | null;
  /** The agent that the resource belongs to. */
  agent_id: AgentId | null;
  /** IP address that the request came from. */
  address: string | null;
  /** `X-Correlation-Id` of the response. */
  correlation_id: string | null;
  /** `changed`: the change was made. `refused`: the request was refused. */
  outcome: "changed" | "refused";
  details: AuditDetails;
}

export type AuditId = string;

export interface CappedPagination {
  limit: number;
  offset: number;
  /** Number of items on all pages. */
  total: number;
  has_more: boolean;
  /** `eq`: `total` is exact. `gte`: there are at least `total` items. */
  total_relation: "eq" | "gte";
}

export type ClearId = string;

export interface ConfirmConnection {
  /** The user who is signed in to your application in the browser that returned. Never take it from the address. */
  user_id: string;
  /** `code` in the address that the browser returned to. */
  code: string;
}

export interface ConfirmMfa {
  code: MfaCode;
}

export interface Connection {
  id: ConnectionId;
  agent_id: AgentId;
  user_id: string;
  /** Name of the tool in the agent's definition. */
  tool: string;
  /** The only address that the tokens are sent to: the URL of an MCP server, the origin of an HTTP tool. */
  sent_to: string;
  status: ConnectionStatus;
  /** Why the user must consent again. null unless `needs_reauth`. */
  reason: string | null;
  /** The authorization server. null before the first consent. */
  issuer: string | null;
  /** What the user has consented to, as the authorization server says. */
  scopes: string[];
  created_at: Timestamp;
  /** When a consent was confirmed last. */
  connected_at: Timestamp | null;
  /** When a run last used it. May be a minute out of date. */
  last_used_at: Timestamp | null;
  last_refreshed_at: Timestamp | null;
  revoked_at: Timestamp | null;
  /** Whether the provider has revoked the tokens. null unless `revoked`, and if the user had not consented. */
  provider_revocation: RevocationResult | null;
}

export type ConnectionId = string;

/** `pending`: no consent has been confirmed yet. `active`: runs of the user use the account. `needs_reauth`: the provider no longer accepts the consent, so the user needs a new link. `revoked`: no run uses it any more. */
export type ConnectionStatus = "pending" | "active" | "needs_reauth" | "revoked";

export interface ConnectionWithLink {
  id: ConnectionId;
  agent_id: AgentId;
  user_id: string;
  /** Name of the tool in the agent's definition. */
  tool: string;
  /** The only address that the tokens are sent to: the URL of an MCP server, the origin of an HTTP tool. */
  sent_to: string;
  status: ConnectionStatus;
  /** Why the user must consent again. null unless `needs_reauth`. */
  reason: string | null;
  /** The authorization server. null before the first consent. */
  issuer: string | null;
  /** What the user has consented to, as the authorization server says. */
  scopes: string[];
  created_at: Timestamp;
  /** When a consent was confirmed last. */
  connected_at: Timestamp | null;
  /** When a run last used it. May be a minute out of date. */
  last_used_at: Timestamp | null;
  last_refreshed_at: Timestamp | null;
  revoked_at: Timestamp | null;
  /** Whether the provider has revoked the tokens. null unless `revoked`, and if the user had not consented. */
  provider_revocation: RevocationResult | null;
  /** Send the user's browser here. It works once, within ten minutes. Earlier links no longer work. */
  link: string;
  link_expires_at: Timestamp;
}

export interface ConsoleLink {
  /** Of the session that the link begins. */
  id: ConsoleSessionId;
  url: string;
  expires_at: Timestamp;
}

export interface ConsoleSession {
  id: ConsoleSessionId;
  /** Whether this is the session of the request. */
  current: boolean;
  /** The API key that signed in; null for a person. */
  key_id: KeyId | null;
  /** The person who signed in; null for an API key. */
  person: SignedInPerson | null;
  /** Role of the person or of the key; null for a key with permissions of its own. */
  role: Role | null;
  /** What the session may do: what the key may do, or what the person's groups allow. */
  permissions: Permission[];
  created_at: Timestamp;
  expires_at: Timestamp;
  last_used_at: Timestamp | null;
  /** IP address that signed in. */
  address: string;
  /** What the browser called itself. */
  user_agent: string | null;
}

export type ConsoleSessionId = string;

export type CreateAgent = {
  model?: ModelRef | undefined;
  /** null uses the model's default. */
  temperature?: number | null | undefined;
  instructions?: string | null | undefined;
  tools?: Tool[] | null | undefined;
  memory?: MemorySettingsPatch | null | undefined;
  limits?: LimitsPatch | null | undefined;
  logs?: LogSetting | null | undefined;
  fallback_models?: ModelRef[] | null | undefined;
  runtime?: Runtime | null | undefined;
  approvals?: ApprovalSettings | null | undefined;
  security?: SecuritySettingsPatch | null | undefined;
  auth?: AgentAuth | null | undefined;
  name: AgentName;
} & ({ runtime: Extract<Runtime, { type: "http" }> } | { model: ModelRef });

export interface CreateConnection {
  /** Your id for the user, as in `context.user_id` of an invoke. */
  user_id: string;
  /** Name of a tool of the agent that has a `connection` for users. */
  tool: string;
  /** One of the tool's `return_urls`. The default is the first. */
  return_url?: string | undefined;
  /** Where the tool's definition is taken from, as for an invoke: its live version, or the draft where nothing is deployed. The default is `production`. */
  environment?: string | undefined;
}

export interface CreateDeployment {
  environment: Environment;
  /** A new label creates a version from the agent's draft. A label that exists deploys that version again. */
  version: VersionLabel;
  /**
   * Share of requests. Less than 100 creates a canary beside the live deployment.
   *
   * @defaultValue `100`
   */
  traffic_percent?: number | undefined;
  /** Conditions under which a canary is rolled back automatically. */
  guards?: NewGuards | undefined;
  /**
   * Deploy an existing version even though the agent's draft has changed since.
   *
   * @defaultValue `false`
   */
  redeploy?: boolean | undefined;
}

export interface CreateKey {
  name: string;
  /** Id or name of the only agent that the key can access. The default is all agents. */
  agent_id?: string | undefined;
  /** Give either `permissions` or `role`. */
  permissions?: Permission[] | undefined;
  /** Give either `role` or `permissions`. */
  role?: Role | undefined;
  expires_at?: string | undefined;
}

export interface CreateProvider {
  name: ProviderName;
  type: ProviderType;
  /**
   * URL of the provider's API. null uses the provider's public API.
   *
   * @defaultValue `null`
   */
  base_url?: string | null | undefined;
  /**
   * Models that agents may use. Empty: all models of the provider.
   *
   * @defaultValue `[]`
   */
  models?: string[] | undefined;
  /** @defaultValue `null` */
  api_key?: string | null | undefined;
}

export interface CreateSecret {
  name: SecretName;
  /** Stored encrypted and never returned. */
  value: string;
  /** The only hosts that the secret is sent to: `api.github.com` stands for HTTPS and port 443, `tools.example:8443` for another port, `http://127.0.0.1:3000` for HTTP. There are no wildcards. */
  hosts: string[];
  /** `required`: only HTTP tools use the secret, and a person approves every call of them, whatever a version of an agent says. null: the agent decides. */
  approval?: "required" | null | undefined;
}

export interface CreateWebhook {
  /** Id or name of the only agent whose events are delivered. The default is all agents. */
  agent_id?: string | undefined;
  /** HTTPS URL that receives events. It must not resolve to a private address. */
  url: string;
  /**
   * Headers to send. A value may refer to secrets: `Bearer {{secret.github_token}}`.
   *
   * @defaultValue `{}`
   */
  headers?: Record<string, string> | undefined;
  /** Names of the events to deliver. */
  events: SubscribableEventType[];
  /**
   * Whether deliveries of `agent.action_required` have a link, `data.link`, with which anyone who opens it can decide once. The default is false. Needs `manage`, and `approve` if the organisation has `manage_grants_approve: false`.
   *
   * @defaultValue `false`
   */
  approval_links?: boolean | undefined;
}

export interface CreatedApiKey {
  id: KeyId;
  name: string;
  /** The only agent that this key can access. null: all agents of the organisation. */
  agent_id: AgentId | null;
  /** The role that the key was created with, if any. */
  role: Role | null;
  permissions: Permission[];
  /** First characters of the key, to identify it. */
  prefix: string;
  status: KeyStatus;
  /** The key that created this one. null for the organisation's first key. */
  created_by: KeyId | null;
  /** The key that this one replaced in a rotation. */
  rotated_from: KeyId | null;
  created_at: Timestamp;
  expires_at: Timestamp | null;
  /** May be a few seconds out of date. */
  last_used_at: Timestamp | null;
  revoked_at: Timestamp | null;
  key: string;
}

export interface CreatedConsoleSession {
  id: ConsoleSessionId;
  /** Whether this is the session of the request. */
  current: boolean;
  /** The API key that signed in; null for a person. */
  key_id: KeyId | null;
  /** The person who signed in; null for an API key. */
  person: SignedInPerson | null;
  /** Role of the person or of the key; null for a key with permissions of its own. */
  role: Role | null;
  /** What the session may do: what the key may do, or what the person's groups allow. */
  permissions: Permission[];
  created_at: Timestamp;
  expires_at: Timestamp;
  last_used_at: Timestamp | null;
  /** IP address that signed in. */
  address: string;
  /** What the browser called itself. */
  user_agent: string | null;
  /** Goes into the header `X-CSRF-Token` of every change that the session makes. */
  csrf_token: string;
}

export interface CurrentSession {
  id: ConsoleSessionId;
  expires_at: Timestamp;
  /** Goes into the header `X-CSRF-Token` of every change that the session makes. */
  csrf_token: string;
  person: SignedInPerson | null;
  /** Organisations that the session's owner can sign in to. */
  organisations: Array<{
    id: OrganisationId;
    name: string;
    role: Role | null;
  }>;
}

export interface CursorPagination {
  limit: number;
  offset: number;
  /** Number of items on all pages. */
  total: number;
  has_more: boolean;
  /** `eq`: `total` is exact. `gte`: there are at least `total` items. */
  total_relation: "eq" | "gte";
  /** `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

export interface Decider {
  /** `link`: a person with the link from a webhook delivery. */
  type: "key" | "person" | "link";
  key_id: KeyId | null;
  /** Of a link: the webhook that it was delivered to. */
  webhook_id: WebhookId | null;
  /** Name of the key, the person's address, or the host that the link was delivered to. */
  name: string;
}

export interface Delivery {
  id: DeliveryId;
  webhook_id: WebhookId;
  event_id: EventId;
  event_type: EventType;
  status: DeliveryStatus;
  /** Number of attempts made. */
  attempts: number;
  /** When the next attempt is due. null if there will be none. */
  next_attempt_at: Timestamp | null;
  /** HTTP status of the last attempt. null if there was no response. */
  status_code: number | null;
  /** Why the last attempt failed. null if it succeeded. */
  error: string | null;
  /** The delivery that this one repeats. */
  redelivery_of: DeliveryId | null;
  created_at: Timestamp;
  finished_at: Timestamp | null;
}

export interface DeliveryAttempt {
  number: number;
  attempted_at: Timestamp;
  duration_ms: number;
  status_code: number | null;
  /** Why the attempt failed. null if it succeeded. */
  error: string | null;
  /** Start of the response body, at most 1 KiB. */
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
  /** Number of attempts made. */
  attempts: number;
  /** When the next attempt is due. null if there will be none. */
  next_attempt_at: Timestamp | null;
  /** HTTP status of the last attempt. null if there was no response. */
  status_code: number | null;
  /** Why the last attempt failed. null if it succeeded. */
  error: string | null;
  /** The delivery that this one repeats. */
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
  /** Share of requests. 100 for the live deployment, less for a canary. */
  traffic_percent: number;
  guards: Guards | null;
  /** Result of the canary's last check. */
  guard_report: GuardReport | null;
  /** The deployment that this one replaced in a rollback. */
  rollback_of: DeploymentId | null;
  created_by: KeyId | null;
  created_at: Timestamp;
  activated_at: Timestamp | null;
  ended_at: Timestamp | null;
  /** Why the deployment failed or was rolled back, and what to do about it. */
  error: string | null;
}

export type DeploymentId = string;

export interface DeploymentOfAnyAgent {
  id: DeploymentId;
  agent_id: AgentId;
  environment: Environment;
  version: VersionLabel;
  status: DeploymentStatus;
  /** Share of requests. 100 for the live deployment, less for a canary. */
  traffic_percent: number;
  guards: Guards | null;
  /** Result of the canary's last check. */
  guard_report: GuardReport | null;
  /** The deployment that this one replaced in a rollback. */
  rollback_of: DeploymentId | null;
  created_by: KeyId | null;
  created_at: Timestamp;
  activated_at: Timestamp | null;
  ended_at: Timestamp | null;
  /** Why the deployment failed or was rolled back, and what to do about it. */
  error: string | null;
  agent_name: string;
}

export interface DeploymentStats {
  runs: number;
  error_rate: number;
  p95_ms: number | null;
  mean_tokens: number | null;
}

export type DeploymentStatus = "pending" | "active" | "failed" | "superseded" | "rolled_back";

/** Event `dropped`: events of the run are missing, because the streams of the organisation hold as much as they may. The run goes on, and `done` has the whole response. */
export interface DroppedEvent {
  message: string;
}

/** The model that embeds memories. Memory belongs to the agent, not to a version, so the draft's embedder is used for all versions. After a change, all memories are embedded again in the background; searches keep working meanwhile. */
export interface EmbedderSettings {
  /** `provider/model`. The built-in `perch/minilm` runs in the server and needs no provider. */
  model: ModelRef;
  /** Size of the model's vectors. */
  dimensions: 384 | 768 | 1024 | 1536;
}

export type Environment = string;

export interface ErasedPart {
  /** `database`: PostgreSQL. `engine`: what the engine keeps of runs. `streams`: events of runs that can be followed. */
  store: "database" | "engine" | "streams";
  /** The kind of data, such as `memories` or `log entries`. */
  data: string;
  /** `redacted`: rows that are still counted and listed stay, without the user's id and texts. */
  action: "deleted" | "redacted";
  /** Number of rows or entries. */
  count: number;
}

export interface Erasure {
  id: ErasureId;
  status: "running" | "completed";
  /** The user, in the answer to the request for the erasure alone. Afterwards null: Perch forgets it too. */
  user_id: string | null;
  /** Runs and entries that were accepted later are not erased. */
  created_at: Timestamp;
  completed_at: Timestamp | null;
  /** What was removed, from the completion on. */
  receipt: ErasureReceipt | null;
}

export type ErasureId = string;

export interface ErasureReceipt {
  removed: ErasedPart[];
  /** Copies that no erasure reaches and that expire. */
  expires: ExpiringPart[];
  /** What left Perch earlier, and what Perch cannot tell to be the user's. */
  not_covered: string[];
}

export interface ErrorBody {
  success: false;
  error: {
    code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "rate_limited" | "server_error" | "conflict" | "payload_too_large" | "unavailable" | "run_failed" | "still_running" | "precondition_failed" | "action_required";
    /** Human-readable: what happened, and what to do next. */
    message: string;
    /** Seconds to wait before retrying. */
    retry_after?: number | undefined;
    /** Where a run failed: whether a new run of the same message, so with a new `Idempotency-Key`, can succeed without a change to the agent. */
    retryable?: boolean | undefined;
    details?: ErrorDetail[] | undefined;
  };
}

export interface ErrorDetail {
  /** Path of the invalid field, for example `limits.max_steps`. */
  field: string;
  /** What is wrong with the field. */
  error: string;
}

/** An event. Also the body of a webhook delivery. */
export interface Event {
  id: EventId;
  type: EventType;
  created_at: Timestamp;
  /** The agent that the event is about, if any. */
  agent_id: AgentId | null;
  /** For `agent.*`: request_id, agent_id, environment, version, status, tokens_used, duration_ms, user_id, session_id, and response or error. A response longer than 65,536 characters is cut, and `response_truncated` is true. For `agent.action_required`: the approval, as in the list of approvals. For `deployment.*`: the deployment. For `connection.needs_reauth`: the connection. For `webhook.test`: webhook_id. */
  data: Record<string, unknown>;
}

export type EventId = string;

export type EventType = "agent.completed" | "agent.failed" | "deployment.activated" | "deployment.failed" | "deployment.rolled_back" | "agent.action_required" | "connection.needs_reauth" | "webhook.test";

export interface ExpiringPart {
  /** `database` or `engine`. */
  store: string;
  data: string;
  /** When it goes by itself, in words. */
  expires: string;
}

export type Granularity = "1m" | "5m" | "1h" | "1d";

export interface GuardReport {
  checked_at: Timestamp;
  /** `waiting`: not enough runs yet. `healthy`: no guard was violated. `rolled_back`: a guard was violated. */
  verdict: "waiting" | "healthy" | "rolled_back";
  /** The guard that was violated, with its values. */
  reason: string | null;
  canary: DeploymentStats;
  live: DeploymentStats;
}

export interface Guards {
  /** Maximum difference between the canary's error rate and the live deployment's. 0.05 is five percentage points. */
  max_error_rate_increase?: number | undefined;
  /** Maximum ratio of the canary's 95th percentile run time to the live deployment's. */
  max_p95_ratio?: number | undefined;
  /** Maximum ratio of the canary's mean tokens per run to the live deployment's. */
  max_mean_tokens_ratio?: number | undefined;
  /** Number of runs that both deployments need before they are compared. */
  min_runs: number;
  /** How long the canary is watched after its activation. */
  window_seconds: number;
}

export interface HttpTool {
  type: "http";
  name: string;
  description: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: string;
  /** Headers to send. A value may refer to secrets: `Bearer {{secret.github_token}}`. */
  headers?: Record<string, string> | undefined;
  /** Query parameters to send. A value may refer to secrets: `{{secret.maps_key}}`. */
  query?: Record<string, string> | undefined;
  connection?: ToolConnection | undefined;
  /** JSON Schema of the arguments. */
  parameters: {
    type: "object";
    [field: string]: unknown;
  };
  approval?: ApprovalPolicy | undefined;
}

export interface Installation {
  /** Of the node that answered. */
  version: string;
  /** The node that answered. Another one may see the parts differently. */
  node: {
    /** Its host name. */
    name: string;
    started_at: Timestamp;
  };
  /** When the parts were asked. A node asks them at most every 2 seconds. */
  checked_at: Timestamp;
  parts: InstallationPart[];
  /** null if it is silent. */
  database: {
    pending_migrations: string[];
    size_bytes: number | null;
    /** Of the server's role; null if there is none beside the one that asks. */
    oldest_transaction_seconds: number | null;
    /** Of the node that answered, like the other numbers of connections. */
    connections_open: number;
    connections_in_use: number;
    connections_max: number;
    /** Queries and transactions that wait for a connection. */
    requests_waiting: number;
  } | null;
  engine: {
    /** Runs and other invocations that have not ended; null if no admin address of the engine answers, or if the engine has not counted them yet. Where counting takes long, it is done seldom, and the numbers may be minutes old. */
    invocations: {
      running: number;
      /** Could run now, and have not begun. */
      queued: number;
      /** Failed, and wait for their next attempt. */
      retrying: number;
      /** Wait for something, or for a later time. */
      suspended: number;
    } | null;
    /** Tasks that were committed more than 5 seconds ago and that the engine does not have yet, 1,000 at most; null if the database is silent. */
    tasks_waiting: number | null;
  };
  /** Rate limits, slots of runs, and streams. */
  valkey: {
    memory_bytes: number | null;
    /** `per_node`: each node counts for itself, because there is no Valkey or it is silent. */
    limits: "shared" | "per_node";
  };
  /** Newest first; null if no admin address of the engine answers, or if the engine has not counted their runs yet. Where counting takes long, it is done seldom, and `runs` may be minutes old. */
  releases: InstalledRelease[] | null;
}

export interface InstallationPart {
  /** `engine` is one node of the engine as API nodes call it, and `engine_admin` one as workers register there. `workers` are those that new runs go to, as the engine reaches them. */
  name: "database" | "engine" | "engine_admin" | "workers" | "valkey";
  /** Host and port, without a user or a password. */
  address: string | null;
  /** `degraded`: it answers, and something is to be done. `silent`: it did not answer this node within 2 seconds. `unknown`: only the engine can say it of the workers, and did not. */
  status: "ok" | "degraded" | "silent" | "unknown" | "not_configured";
  /** How long the answer took; null if there was none. */
  latency_ms: number | null;
  /** What is wrong or different; null if nothing is. */
  message: string | null;
}

export interface InstalledRelease {
  /** null: a version before 0.2.0, which did not say its name. */
  release: string | null;
  /** Counts the releases that took new runs; the highest one does now. */
  turn: number | null;
  /** When it began to take new runs. */
  since: Timestamp;
  /** Runs, and other invocations, that can end only there. */
  runs: number;
  /** `ends_its_runs`: its workers must stay until `runs` is 0. `superseded`: another release took over just now. `can_be_retired`: nothing needs it any more. */
  state: "takes_new_runs" | "ends_its_runs" | "superseded" | "can_be_retired" | "has_no_worker_yet";
  /** The engine's id of its address, for `perch-server retire`. */
  deployment_id: string | null;
  /** Where the engine calls its workers. */
  address: string | null;
}

export interface Invocation {
  request_id: RequestId;
  agent_id: AgentId;
  status: InvocationStatus;
  environment: string;
  /** The version that ran. null for the agent's draft. */
  version: string | null;
  /** The deployment that served the run, if any. */
  deployment_id: DeploymentId | null;
  user_id: string | null;
  session_id: string | null;
  message: string;
  response: string | null;
  /** Why the run failed or was cancelled. */
  error: string | null;
  /** `run_failed`: by the doing of the agent, of its limits, or of what it calls. `server_error`: Perch itself failed. null unless the run failed. */
  error_code: "run_failed" | "server_error" | null;
  /** Whether a new run of the same message can succeed without a change to the agent. null unless the run failed. */
  retryable: boolean | null;
  /** Number of model calls. */
  steps: number;
  tokens_used: number;
  duration_ms: number | null;
  created_at: Timestamp;
  finished_at: Timestamp | null;
  /** The run's log entries, oldest first: model calls, tool calls and retries. Empty until the run ends or begins to wait, and for keys that see the run only because they started it. */
  timeline: LogEntry[];
}

export interface InvocationContext {
  /** Your id for the user that the agent talks to. */
  user_id?: string | undefined;
  /** Your id for the conversation. Its runs are processed one at a time, in order, and the model sees its earlier messages. */
  session_id?: string | undefined;
  /** The environment that handles the message. The default is `production`. */
  environment?: string | undefined;
  /** Run this version instead of the deployed one, to try it out; `draft` runs the agent's draft. The key also needs the permission `read`. */
  version?: string | undefined;
}

export interface InvocationOfAnyAgent {
  request_id: RequestId;
  agent_id: AgentId;
  status: InvocationStatus;
  environment: string;
  /** The version that ran. null for the agent's draft. */
  version: string | null;
  /** The deployment that served the run, if any. */
  deployment_id: DeploymentId | null;
  user_id: string | null;
  session_id: string | null;
  /** Why the run failed or was cancelled. */
  error: string | null;
  /** `run_failed`: by the doing of the agent, of its limits, or of what it calls. `server_error`: Perch itself failed. null unless the run failed. */
  error_code: "run_failed" | "server_error" | null;
  /** Whether a new run of the same message can succeed without a change to the agent. null unless the run failed. */
  retryable: boolean | null;
  /** Number of model calls. */
  steps: number;
  tokens_used: number;
  duration_ms: number | null;
  created_at: Timestamp;
  finished_at: Timestamp | null;
  agent_name: string;
}

export interface InvocationResult {
  /** The agent's response. */
  response: string;
  request_id: RequestId;
  tokens_used: number;
  duration_ms: number;
}

/** `waiting`: for a person's decision or answer, or for an earlier run of its session that waits for one. The run goes on after it. */
export type InvocationStatus = "running" | "waiting" | "completed" | "failed" | "cancelled";

export interface InvocationSummary {
  request_id: RequestId;
  agent_id: AgentId;
  status: InvocationStatus;
  environment: string;
  /** The version that ran. null for the agent's draft. */
  version: string | null;
  /** The deployment that served the run, if any. */
  deployment_id: DeploymentId | null;
  user_id: string | null;
  session_id: string | null;
  /** Why the run failed or was cancelled. */
  error: string | null;
  /** `run_failed`: by the doing of the agent, of its limits, or of what it calls. `server_error`: Perch itself failed. null unless the run failed. */
  error_code: "run_failed" | "server_error" | null;
  /** Whether a new run of the same message can succeed without a change to the agent. null unless the run failed. */
  retryable: boolean | null;
  /** Number of model calls. */
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
  /** Maximum number of model calls in one run. */
  max_steps: number;
  /** Maximum number of tokens in one run, over all steps. */
  max_tokens: number;
  /** Maximum duration of one run. */
  timeout_seconds: number;
  /** Maximum number of earlier messages of the session that the model sees. */
  max_history_messages: number;
  /** Maximum number of runs of this agent at the same time. */
  max_concurrent_runs: number;
}

export interface LimitsPatch {
  /** Maximum number of model calls in one run. */
  max_steps?: number | undefined;
  /** Maximum number of tokens in one run, over all steps. */
  max_tokens?: number | undefined;
  /** Maximum duration of one run. */
  timeout_seconds?: number | undefined;
  /** Maximum number of earlier messages of the session that the model sees. */
  max_history_messages?: number | undefined;
  /** Maximum number of runs of this agent at the same time. */
  max_concurrent_runs?: number | undefined;
}

export interface LogEntry {
  /** The same in the list and in the stream. As `cursor`, it leads to the entries before it. */
  id: string;
  timestamp: Timestamp;
  level: LogLevel;
  message: string;
  /** `request_id`, `environment` and `version` identify the run. Other fields depend on the entry. */
  metadata: {
    request_id: string | null;
    [field: string]: unknown;
  };
}

export type LogLevel = "debug" | "info" | "warn" | "error";

/** How much of what models and tools were asked and said is kept with a run, apart from its message and response: nothing (`off`), sizes and names of fields without any value (`shapes`, the default), or all of it (`full`), sealed, for as long as logs are kept. See `GET /v1/agents/{agent_id}/invocations/{request_id}/steps`. */
export type LogSetting = "off" | "shapes" | "full";

/** Whether a person must approve calls of this server's tools. `destructive`: of all but those that the server itself declares to be read-only or not destructive; a tool without such a hint counts as destructive. The default is `never`: without a word here, what a server says of its tools changes nothing. */
export type McpApprovalPolicy = "never" | "always" | "destructive" | {
  when?: "destructive" | ApprovalCondition[] | undefined;
  /** How many different keys or persons must approve. The default is 1. One rejection is enough. */
  approvers?: number | undefined;
  /** Whether a decision needs the code of a second factor in `X-MFA-Code`. The default is false. */
  second_factor?: boolean | undefined;
  /** How long a decision may take. Afterwards it counts as rejected. The default is 604800. */
  expires_after_seconds?: number | undefined;
  /** Whether the key or person that started the run may decide too, and keys that it made or that made it. The default is false. */
  invoker_may_decide?: boolean | undefined;
};

export interface McpTool {
  type: "mcp";
  name: string;
  /** URL of the MCP server (Streamable HTTP). */
  url: string;
  /** Headers to send. A value may refer to secrets: `Bearer {{secret.github_token}}`. */
  headers?: Record<string, string> | undefined;
  connection?: ToolConnection | undefined;
  approval?: McpApprovalPolicy | undefined;
  /** For single tools, by the server's own name for them: takes precedence over `approval`. If the server does not list one that needs approval, all tools without a policy here need it. */
  tool_approvals?: Record<string, ApprovalPolicy> | undefined;
}

export interface Me {
  organisation: {
    id: OrganisationId;
    name: string;
    tier: Tier;
  };
  /** The API key of the request. For a person, what a key with the person's role would be. */
  key: {
    name: string;
    /** The only agent that this key can access. null: all agents of the organisation. */
    agent_id: AgentId | null;
    /** The role that the key was created with, if any. */
    role: Role | null;
    permissions: Permission[];
    expires_at: Timestamp | null;
    /** Id of the key; for a person who signed in to the console, of the session. */
    id: string;
    /** Whether the key has a confirmed second factor. A person has none here. */
    second_factor: boolean;
  };
  /** The session in the console; null for a request with an API key. */
  session: CurrentSession | null;
  /** What the organisation has, and how much its tier allows. null for a key that belongs to one agent. */
  usage: Usage | null;
  /** What else the tier allows. */
  limits: TierLimits;
}

export interface Memory {
  id: MemoryId;
  content: string;
  /** The user that the memory belongs to. null if it belongs to no user. */
  user_id: string | null;
  session_id: string | null;
  /** The run that stored the memory. null if it was added through the API. */
  source_request_id: RequestId | null;
  metadata: Record<string, unknown>;
  created_at: Timestamp;
  /** When the content was last stored. The same content of the same user is one memory. */
  updated_at: Timestamp;
}

export interface MemoryClear {
  id: ClearId;
  /** While it is `running`, the memories it removes are already hidden. */
  status: "running" | "completed";
  /** Memories deleted so far. */
  memories_deleted: number;
  /** Session messages deleted so far. */
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
  /** The user that the memory belongs to. null if it belongs to no user. */
  user_id: string | null;
  session_id: string | null;
  /** The run that stored the memory. null if it was added through the API. */
  source_request_id: RequestId | null;
  metadata: Record<string, unknown>;
  created_at: Timestamp;
  /** When the content was last stored. The same content of the same user is one memory. */
  updated_at: Timestamp;
  /** Sum of the contributions. Only comparable within one search. */
  score: number;
  score_parts: {
    /** null if the vector search did not find it. */
    vector: VectorPart | null;
    /** null if the text search did not find it. */
    text: TextPart | null;
  };
}

export type MemoryId = string;

export interface MemorySettings {
  /** Search the agent's memories for each message and give the results to the model. */
  recall: boolean;
  /** Maximum number of memories to give to the model. */
  recall_limit: number;
  /** Store each completed run's message and response as a memory. */
  remember: boolean;
  embedder: EmbedderSettings;
}

export interface MemorySettingsPatch {
  /** Search the agent's memories for each message and give the results to the model. */
  recall?: boolean | undefined;
  /** Maximum number of memories to give to the model. */
  recall_limit?: number | undefined;
  /** Store each completed run's message and response as a memory. */
  remember?: boolean | undefined;
  embedder?: EmbedderSettings | undefined;
}

export interface MemoryStatus {
  /** Number of stored memories, including those that a running clear has yet to delete. */
  memories: number;
  /** Maximum number of memories for this agent. Above it, those stored longest ago are deleted. */
  max_memories: number;
  /** The model that embeds the agent's memories. */
  embedder: {
    model: string;
    dimensions: number;
  };
  /** Number of memories not yet embedded, counted up to 10,000. The text search finds them already. */
  pending_embeddings: number;
  /** Whether a clear is running. */
  clearing: boolean;
}

export interface MetricSeries {
  metric: "response_time" | "throughput" | "error_rate" | "tokens" | "cost";
  granularity: Granularity;
  /** Which statistic of response_time the values are. null for other metrics. */
  statistic: "avg" | "p50" | "p95" | "p99" | null;
  values: MetricValue[];
}

export interface MetricValue {
  timestamp: Timestamp;
  value: number;
  unit: string;
}

/** Six-digit code from the authenticator app, or a recovery code. Each code works once. */
export type MfaCode = string;

export interface MfaEnrolment {
  /** The shared secret, in base32. Shown only once. */
  secret: string;
  otpauth_url: string;
  /** Codes for when the device is lost. Each works once. Shown only once. */
  recovery_codes: string[];
}

export interface MfaEnrolmentToken {
  key_id: KeyId;
  /** Works only with this key. Shown only once. */
  token: string;
  expires_at: Timestamp;
}

export interface ModelEntry {
  /** Value for an agent's `model`. `provider/*` stands for all models of the provider. */
  id: string;
  provider: string;
  /** Where the model comes from: built into Perch, the server's configuration, or your organisation's providers. */
  source: "built-in" | "installation" | "organisation";
}

/** `provider/model`. The built-in `perch/echo` needs no provider. */
export type ModelRef = string;

export interface NewGuards {
  /** Maximum difference between the canary's error rate and the live deployment's. 0.05 is five percentage points. */
  max_error_rate_increase?: number | undefined;
  /** Maximum ratio of the canary's 95th percentile run time to the live deployment's. */
  max_p95_ratio?: number | undefined;
  /** Maximum ratio of the canary's mean tokens per run to the live deployment's. */
  max_mean_tokens_ratio?: number | undefined;
  /**
   * Number of runs that both deployments need before they are compared.
   *
   * @defaultValue `50`
   */
  min_runs?: number | undefined;
  /**
   * How long the canary is watched after its activation.
   *
   * @defaultValue `3600`
   */
  window_seconds?: number | undefined;
}

export interface NewLogEntry {
  /** When it happened, at most 24 hours ago. The default is now. */
  timestamp?: string | undefined;
  /** @defaultValue `"info"` */
  level?: LogLevel | undefined;
  message: string;
  /** The run that the entry belongs to. `metadata.request_id` says the same. */
  request_id?: RequestId | undefined;
  /**
   * A `request_id` in it is the id of the run that the entry belongs to, as in the entries of Get logs.
   *
   * @defaultValue `{}`
   */
  metadata?: Record<string, unknown> | undefined;
}

export interface Organisation {
  id: OrganisationId;
  name: string;
  tier: Tier;
  /** Whether a caller with `manage` may give `approve` without having it: to a key, or to the receiver of a webhook's `approval_links`. The default is true. */
  manage_grants_approve: boolean;
}

export type OrganisationId = string;

export interface Pagination {
  limit: number;
  offset: number;
  /** Number of items on all pages. */
  total: number;
  has_more: boolean;
}

export type Permission = "read" | "write" | "delete" | "manage" | "approve" | "invoke" | "operate";

export interface Provider {
  name: ProviderName;
  type: ProviderType;
  /** URL of the provider's API. null uses the provider's public API. */
  base_url: string | null;
  /** Models that agents may use. Empty: all models of the provider. */
  models: string[];
  /** Whether an API key is set. The key is never returned. */
  api_key_set: boolean;
  /** The secret that the API key is taken from, if it is one. */
  api_key_secret: SecretName | null;
  created_at: Timestamp;
  updated_at: Timestamp;
}

/** The part before the slash in `provider/model`. */
export type ProviderName = string;

/** Which API the provider has. `openai-compatible` is for vLLM, Ollama, gateways and others with OpenAI's API. */
export type ProviderType = "openai" | "anthropic" | "google" | "openai-compatible";

/** User authentication of an agent, without its secrets. */
export type RedactedAgentAuth = {
  type: "oauth2";
  /** URL of the issuer. Its `/.well-known/openid-configuration` is used for discovery. */
  provider: string;
  clientId: string;
  /** Scopes that are accepted. An operation needs the scope of its permission, such as `write:agents` for `write`. */
  scopes: Array<"read:agents" | "write:agents" | "delete:agents" | "manage:agents" | "approve:agents" | "invoke:agents">;
  /** Required audience (`aud`) of tokens. The default is `clientId`. */
  audience?: string | undefined;
  hasClientSecret: boolean;
} | {
  type: "jwt";
  hasPreviousSecret: boolean;
};

export interface RedeliverFailed {
  /** Only deliveries created at this time or later. */
  since: string;
}

export interface RejectApproval {
  /** What the model is told. */
  reason?: string | undefined;
}

export type RemoveMfa = ConfirmMfa;

export type RequestId = string;

/** `done`: the provider has revoked the tokens. `pending`: it did not answer within three seconds, and is asked again for a day. `not_offered`: it has no way to revoke tokens. `failed`: it did not answer for a day, so the tokens are valid there until they expire. */
export type RevocationResult = "pending" | "done" | "not_offered" | "failed";

export interface RevokeLeakedKey {
  key: string;
}

export type Role = "admin" | "developer" | "viewer";

export interface RotateKey {
  /**
   * How long the old key keeps working: up to 7 days. The default is one day.
   *
   * @defaultValue `86400`
   */
  overlap_seconds?: number | undefined;
}

export interface RotateWebhookSecret {
  /**
   * How long deliveries are signed with the old secret too: up to 7 days. The default is one day.
   *
   * @defaultValue `86400`
   */
  overlap_seconds?: number | undefined;
}

/** Event `error`: the run failed or was cancelled. The last event. */
export interface RunErrorEvent {
  code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "rate_limited" | "server_error" | "conflict" | "payload_too_large" | "unavailable" | "run_failed" | "still_running" | "precondition_failed" | "action_required";
  message: string;
  /** Where the run failed: whether a new run of the same message can succeed without a change to the agent. */
  retryable?: boolean | undefined;
  request_id: RequestId;
}

export type RunEvent = TokenEvent | ToolEvent | StepEvent | DroppedEvent | ActionRequiredEvent | InvocationResult | RunErrorEvent;

export interface RunStep {
  /** Position among the steps of the run, from 1. */
  number: number;
  /** `model`: a model, or a remote agent, was called. `tool`: a tool was called. `tools`: MCP servers were asked for their tools. `memory`: memories were recalled. */
  kind: "model" | "tool" | "tools" | "memory";
  /** Number of the model call that this is or belongs to. 0: before the first. */
  step: number;
  /** Number of the tool call within its step; null for other kinds. */
  call: number | null;
  /** The model, the tool, or the MCP servers. */
  name: string;
  /** Which attempt this is, from 1. */
  attempt: number;
  /** `retried`: this attempt failed, and another followed. `interrupted`: the worker was lost, or the step failed in the server, and the attempt began again. */
  status: "completed" | "failed" | "retried" | "interrupted";
  started_at: Timestamp;
  /** null where it was interrupted. */
  duration_ms: number | null;
  /** Only of a model that answered. */
  tokens: number | null;
  /** Why it failed or was interrupted. */
  reason: string | null;
  /** With `retried`: how long the run waited before the next attempt. */
  retry_after_ms: number | null;
  /** The input of a model call that is new since the call before (at first: instructions, number of earlier messages, memories, message, names of tools), or the arguments of a tool call. All of it where the agent's `logs` is `full`, its shape with `shapes`, null with `off` or once it has expired. */
  input: unknown;
  /** The model's text and tool calls, or the result of the tool. All of it where the agent's `logs` is `full`, its shape with `shapes`, null with `off` or once it has expired. */
  output: unknown;
}

/** What runs the agent: the model, or your own HTTP service, to which Perch posts each message. */
export type Runtime = {
  type: "model";
} | {
  type: "http";
  url: string;
  /** Headers to send. A value may refer to secrets: `Bearer {{secret.github_token}}`. */
  headers?: Record<string, string> | undefined;
};

export interface SearchMemory {
  query: string;
  /**
   * Maximum number of results to return.
   *
   * @defaultValue `10`
   */
  limit?: number | undefined;
  /**
   * Number of results to skip.
   *
   * @defaultValue `0`
   */
  offset?: number | undefined;
  /**
   * `vector` searches by meaning, `text` by words, `hybrid` by both.
   *
   * @defaultValue `"hybrid"`
   */
  mode?: SearchMode | undefined;
  /** Only memories of this user. */
  user_id?: string | undefined;
  /** Only memories of this session. */
  session_id?: string | undefined;
  /** Only memories last stored at this time or later. */
  start_time?: string | undefined;
  /** Only memories last stored before this time. */
  end_time?: string | undefined;
  /** Only memories whose metadata contains these values. */
  metadata?: Record<string, unknown> | undefined;
}

export type SearchMode = "hybrid" | "vector" | "text";

export interface SearchReport {
  /** How the search was done. `text` if the embedder was not available. */
  mode: SearchMode;
  /** Whether every candidate was compared. Large memories are searched with an approximate index. */
  exact: boolean;
  /** Note about this search, such as why only the text search was used. */
  notice: string | null;
}

export interface Secret {
  name: SecretName;
  /** The only agent that can use the secret. null: all agents. */
  agent_id: AgentId | null;
  hosts: string[];
  /** `required`: only HTTP tools use the secret, and a person approves every call of them, whatever a version of an agent says. null: the agent decides. */
  approval: "required" | null;
  created_by: KeyId | null;
  created_at: Timestamp;
  /** The key that changed the secret last. */
  updated_by: KeyId | null;
  updated_at: Timestamp;
  /** When a call last asked for the secret. May be a minute out of date. */
  last_used_at: Timestamp | null;
}

/** The name by which requests refer to the secret: `{{secret.github_token}}`. */
export type SecretName = string;

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
  /** Calls that a person must approve, whatever a version says. A version can only ask for more: more approvers, a second factor, or another time to decide. */
  approvals?: {
    /** Names of tools: that of an HTTP tool, of an MCP server for all of its tools, or a server's own name for one tool. */
    tools?: string[] | undefined;
    /** Hosts: calls of HTTP tools and MCP servers there, on any port. There are no wildcards. */
    hosts?: string[] | undefined;
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
  approvals?: {
    /** Names of tools: that of an HTTP tool, of an MCP server for all of its tools, or a server's own name for one tool. */
    tools?: string[] | undefined;
    /** Hosts: calls of HTTP tools and MCP servers there, on any port. There are no wildcards. */
    hosts?: string[] | undefined;
  } | null | undefined;
}

export interface SignIn {
  /** Give either `api_key` or `link`. */
  api_key?: string | undefined;
  /** What follows `#link=` in the address that `POST /v1/console/links` answered. It works once. */
  link?: string | undefined;
}

export interface SignInMethods {
  api_key: true;
  /** null: the installation has no issuer, so people sign in with API keys. */
  person: {
    /** What the installation calls its issuer. */
    name: string;
  } | null;
}

export interface SignedInPerson {
  /** The person's id at the issuer that signed the person in. */
  subject: string;
  name: string | null;
  email: string | null;
}

/** Event `step`: a model call, the listing of tools or the recall of memories begins or ends, or waits for its next attempt. */
export interface StepEvent {
  /** Number of the model call. 0: before the first. */
  step: number;
  kind: "model" | "tools" | "memory";
  /** The model, or the MCP servers whose tools are listed. */
  name: string;
  /** Which attempt this is, from 1. */
  attempt: number;
  status: StepStatus;
  tokens?: number | undefined;
  /** Why the attempt failed. */
  reason?: string | undefined;
  /** With `retried`: how long the run waits before the next attempt. */
  retry_after_ms?: number | undefined;
}

/** `retried`: this attempt failed, and another follows. `interrupted`: the worker was lost, or the step failed in the server, and it begins again. */
export type StepStatus = "started" | "completed" | "failed" | "retried" | "interrupted";

export type StepUp = ConfirmMfa;

export interface StepUpToken {
  token: string;
  expires_at: Timestamp;
}

export type SubscribableEventType = "agent.completed" | "agent.failed" | "deployment.activated" | "deployment.failed" | "deployment.rolled_back" | "agent.action_required" | "connection.needs_reauth";

export interface TextPart {
  /** Rank among the results of the text search, starting at 1. */
  rank: number;
  /** Share of the query's words that the memory contains, from 0 to 1. Rare words count more. */
  coverage: number;
  /** The words that matched, in their indexed form. */
  words: string[];
  /** What this part adds to the score. */
  contribution: number;
}

export type Tier = "free" | "pro" | "enterprise";

export interface TierLimits {
  requests_per_minute: number;
  /** Requests at once. */
  burst: number;
  /** Calls to tools, MCP servers, remote agents and authorization servers. Half of them may be made at once. */
  calls_per_minute: number;
  concurrent_runs: number;
  /** How far back logs and metrics can be read. */
  log_days: number;
  versions_per_agent: number;
  /** How many are kept. Those that ended first make room for new ones. */
  deployments_per_agent: number;
  /** The oldest make room for new ones. */
  memories_per_agent: number;
}

export type Timestamp = string;

/** Event `token`. */
export interface TokenEvent {
  /** Number of the model call that produced the text. Each step has its own text; the last step's text is the response. */
  step: number;
  /** Position in the step's text where this text starts. It replaces everything from there on. */
  offset: number;
  text: string;
}

export type Tool = McpTool | HttpTool | AskPersonTool;

/** The OAuth account that the tool is called with. */
export type ToolConnection = {
  /** The account of the run's own user, who has consented to it. */
  account: "user";
  /** URL of the authorization server. Left out: the tool's server names it in its protected-resource metadata (RFC 9728). */
  issuer?: string | undefined;
  /** Scopes to ask for. Left out: those that the tool's server names, if it names any. */
  scopes?: string[] | undefined;
  /** What the tokens are for (RFC 8707). The default is the `url` of an MCP server, and what its metadata says of an HTTP tool. */
  resource?: string | undefined;
  /** Your client at the authorization server. Left out: Perch presents a client id metadata document, or registers itself where the server offers only that. */
  client_id?: string | undefined;
  /** `{{secret.name}}`: a secret whose `hosts` name the authorization server's token endpoint. Left out: a public client. */
  client_secret?: string | undefined;
  /** Addresses of your application that a person may return to, with a code to confirm. `return_url` must equal one of them. */
  return_urls: string[];
} | {
  /** The agent's own account, by client credentials. No user is asked. */
  account: "agent";
  /** URL of the authorization server. Left out: the tool's server names it in its protected-resource metadata (RFC 9728). */
  issuer?: string | undefined;
  /** Scopes to ask for. Left out: those that the tool's server names, if it names any. */
  scopes?: string[] | undefined;
  /** What the tokens are for (RFC 8707). The default is the `url` of an MCP server, and what its metadata says of an HTTP tool. */
  resource?: string | undefined;
  client_id: string;
  /** `{{secret.name}}`: a secret whose `hosts` name the authorization server's token endpoint. Left out: a public client. */
  client_secret: string;
};

/** Event `tool`: a tool call begins or ends. */
export interface ToolEvent {
  step: number;
  /** Number of the call within the step. */
  call: number;
  name: string;
  /** Which attempt of the call this is, from 1. */
  attempt: number;
  status: StepStatus;
  /** Only with `started`, and not where the agent's `logs` is `off`. */
  arguments?: unknown;
  /** The result of the tool: its text where the agent's `logs` is `full`, its shape with `shapes`. */
  output?: unknown;
  /** Why the attempt failed. */
  reason?: string | undefined;
  /** With `retried`: how long the run waits before the next attempt. */
  retry_after_ms?: number | undefined;
}

export interface UncountedPagination {
  limit: number;
  /** Whether there may be more: a page can be short, or empty, although `next_cursor` continues. */
  has_more: boolean;
  /** `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

export interface UpdateAgent {
  model?: ModelRef | undefined;
  /** null uses the model's default. */
  temperature?: number | null | undefined;
  instructions?: string | null | undefined;
  tools?: Tool[] | null | undefined;
  memory?: MemorySettingsPatch | null | undefined;
  limits?: LimitsPatch | null | undefined;
  logs?: LogSetting | null | undefined;
  fallback_models?: ModelRef[] | null | undefined;
  runtime?: Runtime | null | undefined;
  approvals?: ApprovalSettings | null | undefined;
  security?: SecuritySettingsPatch | null | undefined;
  auth?: AgentAuth | null | undefined;
}

export interface UpdateDeployment {
  traffic_percent: number;
}

export interface UpdateKey {
  name?: string | undefined;
  /** Give either `permissions` or `role`. */
  permissions?: Permission[] | undefined;
  /** Give either `role` or `permissions`. */
  role?: Role | undefined;
  /** null: the key never expires. */
  expires_at?: string | null | undefined;
}

export interface UpdateOrganisation {
  /** false: only a caller that has `approve` gives it. Only the operator can set it to true again. */
  manage_grants_approve?: boolean | undefined;
}

export interface UpdateProvider {
  /** URL of the provider's API. null uses the provider's public API. */
  base_url?: string | null | undefined;
  /** Models that agents may use. Empty: all models of the provider. */
  models?: string[] | undefined;
  /** null removes the key. Required when `base_url` changes, unless it is a secret. */
  api_key?: string | null | undefined;
}

export interface UpdateSecret {
  /** Stored encrypted and never returned. */
  value?: string | undefined;
  /** Replaces the hosts. A host that is new needs `value` again. */
  hosts?: string[] | undefined;
  /** `required`: only HTTP tools use the secret, and a person approves every call of them, whatever a version of an agent says. null: the agent decides. */
  approval?: "required" | null | undefined;
}

export interface UpdateWebhook {
  /** HTTPS URL that receives events. It must not resolve to a private address. */
  url?: string | undefined;
  /** Headers to send. A value may refer to secrets: `Bearer {{secret.github_token}}`. */
  headers?: Record<string, string> | undefined;
  /** Names of the events to deliver. */
  events?: SubscribableEventType[] | undefined;
  /** Whether deliveries of `agent.action_required` have a link, `data.link`, with which anyone who opens it can decide once. The default is false. false makes delivered links void. */
  approval_links?: boolean | undefined;
  /** false stops deliveries; pending ones are cancelled when they are due. true enables the webhook again. */
  enabled?: boolean | undefined;
}

export interface Usage {
  agents: Use;
  /** API keys that are active. */
  keys: Use;
  webhooks: Use;
  /** Model providers of your own. */
  providers: Use;
  /** Secrets of the organisation and of its agents. */
  secrets: Use;
  /** Runs that wait for a person, or for a turn before theirs that does. */
  waiting_runs: Use;
  /** Accounts that users connected, those that were not confirmed or were revoked lately included. */
  connections: Use;
  /** Texts and metadata of memories. */
  memory_bytes: Use;
  /** Messages, responses, sessions, events, logs, contents of runs, deliveries and answers for retries of the last 30 days. */
  record_bytes: Use;
}

export interface Use {
  used: number;
  limit: number;
}

export interface VectorPart {
  /** Rank among the results of the vector search, starting at 1. */
  rank: number;
  /** Cosine similarity of query and memory. 1 means identical. */
  similarity: number;
  /** What this part adds to the score. */
  contribution: number;
}

export interface Version {
  version: VersionLabel;
  agent_id: AgentId;
  /** SHA-256 of the definition. Versions with the same checksum are identical. */
  checksum: string;
  created_by: KeyId | null;
  created_at: Timestamp;
  definition: {
    model: ModelRef;
    /** null uses the model's default. */
    temperature: number | null;
    instructions: string;
    tools: Tool[];
    memory: MemorySettings;
    limits: Limits;
    logs: LogSetting;
    /** Models to try, in this order, when `model` fails. */
    fallback_models: ModelRef[];
    runtime: Runtime;
    approvals?: ApprovalSettings | undefined;
  };
}

/** `from` or `to` is missing if the field does not exist on that side. A field with more than 1,000 changes within it is one change. */
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
  /** The changes as a unified diff. Where too much differs, one sentence that says so: see `changes`. */
  text: string;
}

export type VersionLabel = string;

export interface VersionSummary {
  version: VersionLabel;
  agent_id: AgentId;
  /** SHA-256 of the definition. Versions with the same checksum are identical. */
  checksum: string;
  created_by: KeyId | null;
  created_at: Timestamp;
}

export interface Webhook {
  id: WebhookId;
  /** The only agent whose events are delivered. null: all agents. */
  agent_id: AgentId | null;
  url: string;
  /** Headers of every delivery, with references to secrets. */
  headers: Record<string, string>;
  events: string[];
  /** Whether deliveries have links that decide on approvals. */
  approval_links: boolean;
  status: WebhookStatus;
  /** Why Perch disabled the webhook. null if it is enabled, or if you disabled it. */
  disabled_reason: string | null;
  /** Time since which every attempt has failed. null if the last attempt succeeded. */
  failing_since: Timestamp | null;
  /** Until when deliveries are signed with the previous secret too. */
  previous_secret_expires_at: Timestamp | null;
  created_by: KeyId | null;
  created_at: Timestamp;
  updated_at: Timestamp;
}

export type WebhookId = string;

export type WebhookStatus = "enabled" | "disabled";

export interface WebhookWithSecret {
  id: WebhookId;
  /** The only agent whose events are delivered. null: all agents. */
  agent_id: AgentId | null;
  url: string;
  /** Headers of every delivery, with references to secrets. */
  headers: Record<string, string>;
  events: string[];
  /** Whether deliveries have links that decide on approvals. */
  approval_links: boolean;
  status: WebhookStatus;
  /** Why Perch disabled the webhook. null if it is enabled, or if you disabled it. */
  disabled_reason: string | null;
  /** Time since which every attempt has failed. null if the last attempt succeeded. */
  failing_since: Timestamp | null;
  /** Until when deliveries are signed with the previous secret too. */
  previous_secret_expires_at: Timestamp | null;
  created_by: KeyId | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  /** The signing secret. Shown only once. */
  secret: string;
}
