"""What goes over the wire. Made by generate.py from openapi.json: do not edit."""

from __future__ import annotations

import sys
from typing import Any, Literal, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired

EventType = Literal[
    "agent.completed",
    "agent.failed",
    "deployment.activated",
    "deployment.failed",
    "deployment.rolled_back",
    "webhook.test",
]
AgentStatus = Literal[
    "running",
    "paused",
]
LogSetting = Literal[
    "off",
    "shapes",
    "full",
]
InvocationStatus = Literal[
    "running",
    "completed",
    "failed",
    "cancelled",
]
LogLevel = Literal[
    "debug",
    "info",
    "warn",
    "error",
]
DeploymentStatus = Literal[
    "pending",
    "active",
    "failed",
    "superseded",
    "rolled_back",
]
Granularity = Literal[
    "1m",
    "5m",
    "1h",
    "1d",
]
SearchMode = Literal[
    "hybrid",
    "vector",
    "text",
]
WebhookStatus = Literal[
    "enabled",
    "disabled",
]
SubscribableEventType = Literal[
    "agent.completed",
    "agent.failed",
    "deployment.activated",
    "deployment.failed",
    "deployment.rolled_back",
]
DeliveryStatus = Literal[
    "pending",
    "delivered",
    "failed",
    "cancelled",
]
Role = Literal[
    "admin",
    "developer",
    "viewer",
]
Permission = Literal[
    "read",
    "write",
    "delete",
    "manage",
]
KeyStatus = Literal[
    "active",
    "expired",
    "revoked",
]
ProviderType = Literal[
    "openai",
    "anthropic",
    "google",
    "openai-compatible",
]
Tier = Literal[
    "free",
    "pro",
    "enterprise",
]


class ErrorDetail(TypedDict):
    field: str
    """Path of the invalid field, for example ``limits.max_steps``."""
    error: str
    """What is wrong with the field."""


class Event(TypedDict):
    """An event. Also the body of a webhook delivery."""

    id: str
    type: EventType
    created_at: str
    agent_id: str | None
    """The agent that the event is about, if any."""
    data: dict[str, Any]
    """For ``agent.*``: request_id, agent_id, environment, version, status, tokens_used, duration_ms, user_id, session_id, and response or error. A response longer than 65,536 characters is cut, and ``response_truncated`` is true. For ``deployment.*``: the deployment. For ``webhook.test``: webhook_id."""


class Agent(TypedDict):
    id: str
    name: str
    status: AgentStatus
    created_at: str
    model: str
    temperature: float | None
    """null uses the model's default."""
    instructions: str
    tools: list[McpTool | HttpTool]
    memory: MemorySettings
    limits: Limits
    logs: LogSetting
    fallback_models: list[str]
    """Models to try, in this order, when ``model`` fails."""
    runtime: Runtime
    security: SecuritySettings
    auth: RedactedAgentAuth | None
    updated_at: str
    warnings: NotRequired[list[str]]
    """Only in the answer to a change that sets ``auth``: what is refused from now on, and until when the key that made the change can take it back."""


class McpTool(TypedDict):
    type: Literal["mcp"]
    name: str
    url: str
    """URL of the MCP server (Streamable HTTP)."""
    headers: NotRequired[dict[str, Any]]
    """Headers to send. A value may refer to secrets: ``Bearer {{secret.github_token}}``."""


class HttpTool(TypedDict):
    type: Literal["http"]
    name: str
    description: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    url: str
    headers: NotRequired[dict[str, Any]]
    """Headers to send. A value may refer to secrets: ``Bearer {{secret.github_token}}``."""
    query: NotRequired[dict[str, Any]]
    """Query parameters to send. A value may refer to secrets: ``{{secret.maps_key}}``."""
    parameters: dict[str, Any]
    """JSON Schema of the arguments."""


class MemorySettings(TypedDict):
    recall: bool
    """Search the agent's memories for each message and give the results to the model."""
    recall_limit: int
    """Maximum number of memories to give to the model."""
    remember: bool
    """Store each completed run's message and response as a memory."""
    embedder: EmbedderSettings


class EmbedderSettings(TypedDict):
    """The model that embeds memories. Memory belongs to the agent, not to a version, so the draft's embedder is used for all versions. After a change, all memories are embedded again in the background; searches keep working meanwhile."""

    model: str
    """``provider/model``. The built-in ``perch/minilm`` runs in the server and needs no provider."""
    dimensions: Literal[384, 768, 1024, 1536]
    """Size of the model's vectors."""


class Limits(TypedDict):
    max_steps: int
    """Maximum number of model calls in one run."""
    max_tokens: int
    """Maximum number of tokens in one run, over all steps."""
    timeout_seconds: int
    """Maximum duration of one run."""
    max_history_messages: int
    """Maximum number of earlier messages of the session that the model sees."""
    max_concurrent_runs: int
    """Maximum number of runs of this agent at the same time."""


class RuntimeModel(TypedDict):
    type: Literal["model"]


class RuntimeHttp(TypedDict):
    type: Literal["http"]
    url: str
    headers: NotRequired[dict[str, Any]]
    """Headers to send. A value may refer to secrets: ``Bearer {{secret.github_token}}``."""


class SecuritySettings(TypedDict):
    ipWhitelist: NotRequired[SecuritySettingsIpWhitelist]
    mtls: NotRequired[SecuritySettingsMtls]
    enforceHttps: NotRequired[bool]
    hsts: NotRequired[SecuritySettingsHsts]
    rateLimit: NotRequired[SecuritySettingsRateLimit]
    mfa: NotRequired[SecuritySettingsMfa]


class SecuritySettingsIpWhitelist(TypedDict):
    enabled: bool
    addresses: list[str]


class SecuritySettingsMtls(TypedDict):
    enabled: bool
    clientCert: str
    clientKey: str
    caCert: str


class SecuritySettingsHsts(TypedDict):
    enabled: bool
    maxAge: int
    """Seconds."""


class SecuritySettingsRateLimit(TypedDict):
    enabled: bool
    requests: int
    window: str


class SecuritySettingsMfa(TypedDict):
    enabled: bool
    operations: list[Literal["delete", "update"]]


class RedactedAgentAuthOauth2(TypedDict):
    type: Literal["oauth2"]
    provider: str
    """URL of the issuer. Its ``/.well-known/openid-configuration`` is used for discovery."""
    clientId: str
    scopes: list[Literal["read:agents", "write:agents", "delete:agents", "manage:agents"]]
    """Scopes that are accepted. An operation needs the scope of its permission, such as ``write:agents`` for ``write``."""
    audience: NotRequired[str]
    """Required audience (``aud``) of tokens. The default is ``clientId``."""
    hasClientSecret: bool


class RedactedAgentAuthJwt(TypedDict):
    type: Literal["jwt"]
    hasPreviousSecret: bool


class MemorySettingsPatch(TypedDict):
    recall: NotRequired[bool]
    """Search the agent's memories for each message and give the results to the model."""
    recall_limit: NotRequired[int]
    """Maximum number of memories to give to the model."""
    remember: NotRequired[bool]
    """Store each completed run's message and response as a memory."""
    embedder: NotRequired[EmbedderSettings]


class LimitsPatch(TypedDict):
    max_steps: NotRequired[int]
    """Maximum number of model calls in one run."""
    max_tokens: NotRequired[int]
    """Maximum number of tokens in one run, over all steps."""
    timeout_seconds: NotRequired[int]
    """Maximum duration of one run."""
    max_history_messages: NotRequired[int]
    """Maximum number of earlier messages of the session that the model sees."""
    max_concurrent_runs: NotRequired[int]
    """Maximum number of runs of this agent at the same time."""


class SecuritySettingsPatch(TypedDict):
    ipWhitelist: NotRequired[SecuritySettingsPatchIpWhitelist | None]
    mtls: NotRequired[SecuritySettingsPatchMtls | None]
    enforceHttps: NotRequired[bool | None]
    hsts: NotRequired[SecuritySettingsPatchHsts | None]
    rateLimit: NotRequired[SecuritySettingsPatchRateLimit | None]
    mfa: NotRequired[SecuritySettingsPatchMfa | None]


class SecuritySettingsPatchIpWhitelist(TypedDict):
    enabled: bool
    addresses: list[str]


class SecuritySettingsPatchMtls(TypedDict):
    enabled: bool
    clientCert: str
    clientKey: str
    caCert: str


class SecuritySettingsPatchHsts(TypedDict):
    enabled: bool
    maxAge: int
    """Seconds."""


class SecuritySettingsPatchRateLimit(TypedDict):
    enabled: bool
    requests: int
    window: str


class SecuritySettingsPatchMfa(TypedDict):
    enabled: bool
    operations: list[Literal["delete", "update"]]


class AgentAuthOauth2(TypedDict):
    type: Literal["oauth2"]
    provider: str
    """URL of the issuer. Its ``/.well-known/openid-configuration`` is used for discovery."""
    clientId: str
    scopes: list[Literal["read:agents", "write:agents", "delete:agents", "manage:agents"]]
    """Scopes that are accepted. An operation needs the scope of its permission, such as ``write:agents`` for ``write``."""
    audience: NotRequired[str]
    """Required audience (``aud``) of tokens. The default is ``clientId``."""
    clientSecret: NotRequired[str]
    """For introspection of opaque tokens (RFC 7662)."""


class AgentAuthJwt(TypedDict):
    type: Literal["jwt"]
    secret: str
    """HS256 signing secret, at least 32 bytes."""
    previousSecret: NotRequired[str]
    """Previous signing secret, still accepted during a rotation."""


class AgentSummary(TypedDict):
    id: str
    name: str
    status: AgentStatus
    created_at: str


class DeleteAgentResult(TypedDict):
    id: str
    deleted: Literal[True]


class InvocationResult(TypedDict):
    response: str
    """The agent's response."""
    request_id: str
    tokens_used: int
    duration_ms: int


class InvocationContext(TypedDict):
    user_id: NotRequired[str]
    """Your id for the user that the agent talks to."""
    session_id: NotRequired[str]
    """Your id for the conversation. Its runs are processed one at a time, in order, and the model sees its earlier messages."""
    environment: NotRequired[str]
    """The environment that handles the message. The default is ``production``."""
    version: NotRequired[str]
    """Run this version instead of the deployed one, to try it out; ``draft`` runs the agent's draft. The key also needs the permission ``read``."""


class AgentCheck(TypedDict):
    problems: list[AgentProblem]


class AgentProblem(TypedDict):
    kind: Literal["limits", "secret", "model", "tool", "runtime"]
    """What is wrong: settings that contradict each other, or something that is missing or does not answer."""
    field: str
    """Path of the field in the agent's definition, such as ``model`` or ``tools.0``."""
    message: str
    """What is wrong, and what to do about it."""


class InvocationSummary(TypedDict):
    request_id: str
    agent_id: str
    status: InvocationStatus
    environment: str
    version: str | None
    """The version that ran. null for the agent's draft."""
    deployment_id: str | None
    """The deployment that served the run, if any."""
    user_id: str | None
    session_id: str | None
    error: str | None
    """Why the run failed or was cancelled."""
    error_code: Literal["run_failed", "server_error"] | None
    """``run_failed``: by the doing of the agent, of its limits, or of what it calls. ``server_error``: Perch itself failed. null unless the run failed."""
    retryable: bool | None
    """Whether a new run of the same message can succeed without a change to the agent. null unless the run failed."""
    steps: int
    """Number of model calls."""
    tokens_used: int
    duration_ms: int | None
    created_at: str
    finished_at: str | None


class Invocation(TypedDict):
    request_id: str
    agent_id: str
    status: InvocationStatus
    environment: str
    version: str | None
    """The version that ran. null for the agent's draft."""
    deployment_id: str | None
    """The deployment that served the run, if any."""
    user_id: str | None
    session_id: str | None
    message: str
    response: str | None
    error: str | None
    """Why the run failed or was cancelled."""
    error_code: Literal["run_failed", "server_error"] | None
    """``run_failed``: by the doing of the agent, of its limits, or of what it calls. ``server_error``: Perch itself failed. null unless the run failed."""
    retryable: bool | None
    """Whether a new run of the same message can succeed without a change to the agent. null unless the run failed."""
    steps: int
    """Number of model calls."""
    tokens_used: int
    duration_ms: int | None
    created_at: str
    finished_at: str | None
    timeline: list[LogEntry]
    """The run's log entries, oldest first: model calls, tool calls and retries. Empty until the run has ended."""


class LogEntry(TypedDict):
    timestamp: str
    level: LogLevel
    message: str
    metadata: dict[str, Any]
    """``request_id``, ``environment`` and ``version`` identify the run. Other fields depend on the entry."""


class RunStep(TypedDict):
    number: int
    """Position among the steps of the run, from 1."""
    kind: Literal["model", "tool", "tools", "memory"]
    """``model``: a model, or a remote agent, was called. ``tool``: a tool was called. ``tools``: MCP servers were asked for their tools. ``memory``: memories were recalled."""
    step: int
    """Number of the model call that this is or belongs to. 0: before the first."""
    call: int | None
    """Number of the tool call within its step; null for other kinds."""
    name: str
    """The model, the tool, or the MCP servers."""
    attempt: int
    """Which attempt this is, from 1."""
    status: Literal["completed", "failed", "retried", "interrupted"]
    """``retried``: this attempt failed, and another followed. ``interrupted``: the worker was lost, or the step failed in the server, and the attempt began again."""
    started_at: str
    duration_ms: int | None
    """null where it was interrupted."""
    tokens: int | None
    """Only of a model that answered."""
    reason: str | None
    """Why it failed or was interrupted."""
    retry_after_ms: int | None
    """With ``retried``: how long the run waited before the next attempt."""
    asked: Any
    """What the model was asked that is new since its last call (at first: instructions, number of earlier messages, memories, message, names of tools), or the arguments of the tool. All of it where the agent's ``logs`` is ``full``, its shape with ``shapes``, null with ``off`` or once it has expired."""
    said: Any
    """What it answered: the model's text and tool calls, or what the tool returned. All of it where the agent's ``logs`` is ``full``, its shape with ``shapes``, null with ``off`` or once it has expired."""


class Deployment(TypedDict):
    id: str
    agent_id: str
    environment: str
    version: str
    status: DeploymentStatus
    traffic_percent: int
    """Share of requests. 100 for the live deployment, less for a canary."""
    guards: Guards | None
    guard_report: GuardReport | None
    """Result of the canary's last check."""
    rollback_of: str | None
    """The deployment that this one replaced in a rollback."""
    created_by: str | None
    created_at: str
    activated_at: str | None
    ended_at: str | None
    error: str | None
    """Why the deployment failed or was rolled back, and what to do about it."""


class Guards(TypedDict):
    max_error_rate_increase: NotRequired[float]
    """Maximum difference between the canary's error rate and the live deployment's. 0.05 is five percentage points."""
    max_p95_ratio: NotRequired[float]
    """Maximum ratio of the canary's 95th percentile run time to the live deployment's."""
    max_mean_tokens_ratio: NotRequired[float]
    """Maximum ratio of the canary's mean tokens per run to the live deployment's."""
    min_runs: int
    """Number of runs that both deployments need before they are compared."""
    window_seconds: int
    """How long the canary is watched after its activation."""


class GuardReport(TypedDict):
    checked_at: str
    verdict: Literal["waiting", "healthy", "rolled_back"]
    """``waiting``: not enough runs yet. ``healthy``: no guard was violated. ``rolled_back``: a guard was violated."""
    reason: str | None
    """The guard that was violated, with its values."""
    canary: DeploymentStats
    live: DeploymentStats


class DeploymentStats(TypedDict):
    runs: int
    error_rate: float
    p95_ms: float | None
    mean_tokens: float | None


class NewGuards(TypedDict):
    max_error_rate_increase: NotRequired[float]
    """Maximum difference between the canary's error rate and the live deployment's. 0.05 is five percentage points."""
    max_p95_ratio: NotRequired[float]
    """Maximum ratio of the canary's 95th percentile run time to the live deployment's."""
    max_mean_tokens_ratio: NotRequired[float]
    """Maximum ratio of the canary's mean tokens per run to the live deployment's."""
    min_runs: NotRequired[int]
    """Number of runs that both deployments need before they are compared."""
    window_seconds: NotRequired[int]
    """How long the canary is watched after its activation."""


class VersionSummary(TypedDict):
    version: str
    agent_id: str
    checksum: str
    """SHA-256 of the definition. Versions with the same checksum are identical."""
    created_by: str | None
    created_at: str


class Version(TypedDict):
    version: str
    agent_id: str
    checksum: str
    """SHA-256 of the definition. Versions with the same checksum are identical."""
    created_by: str | None
    created_at: str
    definition: VersionDefinition


class VersionDefinition(TypedDict):
    model: str
    temperature: float | None
    """null uses the model's default."""
    instructions: str
    tools: list[McpTool | HttpTool]
    memory: MemorySettings
    limits: Limits
    logs: LogSetting
    fallback_models: list[str]
    """Models to try, in this order, when ``model`` fails."""
    runtime: Runtime


VersionDiff = TypedDict(
    "VersionDiff",
    {
        "from": "str",
        "to": "str",
        "same": "bool",
        "changes": "list[VersionChange]",
        "text": "str",
    },
)


VersionChange = TypedDict(
    "VersionChange",
    {
        "path": "str",
        "from": "NotRequired[Any]",
        "to": "NotRequired[Any]",
    },
)


class AddLogsResult(TypedDict):
    added: int
    """Number of entries added."""


class NewLogEntry(TypedDict):
    timestamp: NotRequired[str]
    """When it happened, at most 24 hours ago. The default is now."""
    level: NotRequired[LogLevel]
    message: str
    request_id: NotRequired[str]
    """The run that the entry belongs to. ``metadata.request_id`` says the same."""
    metadata: NotRequired[dict[str, Any]]
    """A ``request_id`` in it is the id of the run that the entry belongs to, as in the entries of Get logs."""


class MetricSeries(TypedDict):
    metric: Literal["response_time", "throughput", "error_rate", "tokens", "cost"]
    granularity: Granularity
    statistic: Literal["avg", "p50", "p95", "p99"] | None
    """Which statistic of response_time the values are. null for other metrics."""
    values: list[MetricValue]


class MetricValue(TypedDict):
    timestamp: str
    value: float
    unit: str


class SearchMemoryResult(TypedDict):
    data: list[MemoryHit]
    pagination: Pagination
    search: SearchReport


class MemoryHit(TypedDict):
    id: str
    content: str
    user_id: str | None
    """The user that the memory belongs to. null if it belongs to no user."""
    session_id: str | None
    source_request_id: str | None
    """The run that stored the memory. null if it was added through the API."""
    metadata: dict[str, Any]
    created_at: str
    updated_at: str
    """When the content was last stored. The same content of the same user is one memory."""
    score: float
    """Sum of the contributions. Only comparable within one search."""
    score_parts: MemoryHitScoreParts


class MemoryHitScoreParts(TypedDict):
    vector: VectorPart | None
    """null if the vector search did not find it."""
    text: TextPart | None
    """null if the text search did not find it."""


class VectorPart(TypedDict):
    rank: int
    """Rank among the results of the vector search, starting at 1."""
    similarity: float
    """Cosine similarity of query and memory. 1 means identical."""
    contribution: float
    """What this part adds to the score."""


class TextPart(TypedDict):
    rank: int
    """Rank among the results of the text search, starting at 1."""
    coverage: float
    """Share of the query's words that the memory contains, from 0 to 1. Rare words count more."""
    words: list[str]
    """The words that matched, in their indexed form."""
    contribution: float
    """What this part adds to the score."""


class Pagination(TypedDict):
    limit: int
    offset: int
    total: int
    """Number of items on all pages."""
    has_more: bool


class SearchReport(TypedDict):
    mode: SearchMode
    """How the search was done. ``text`` if the embedder was not available."""
    exact: bool
    """Whether every candidate was compared. Large memories are searched with an approximate index."""
    notice: str | None
    """Note about this search, such as why only the text search was used."""


class Memory(TypedDict):
    id: str
    content: str
    user_id: str | None
    """The user that the memory belongs to. null if it belongs to no user."""
    session_id: str | None
    source_request_id: str | None
    """The run that stored the memory. null if it was added through the API."""
    metadata: dict[str, Any]
    created_at: str
    updated_at: str
    """When the content was last stored. The same content of the same user is one memory."""


class MemoryClear(TypedDict):
    id: str
    status: Literal["running", "completed"]
    """While it is ``running``, the memories it removes are already hidden."""
    memories_deleted: int
    """Memories deleted so far."""
    messages_deleted: int
    """Session messages deleted so far."""
    user_id: str | None
    session_id: str | None
    before: str | None
    created_at: str
    completed_at: str | None


class MemoryStatus(TypedDict):
    memories: int
    """Number of stored memories, including those that a running clear has yet to delete."""
    max_memories: int
    """Maximum number of memories for this agent. Above it, those stored longest ago are deleted."""
    embedder: MemoryStatusEmbedder
    """The model that embeds the agent's memories."""
    pending_embeddings: int
    """Number of memories not yet embedded, counted up to 10,000. The text search finds them already."""
    clearing: bool
    """Whether a clear is running."""


class MemoryStatusEmbedder(TypedDict):
    """The model that embeds the agent's memories."""

    model: str
    dimensions: int


class DeleteMemoryResult(TypedDict):
    id: str
    deleted: Literal[True]


class WebhookWithSecret(TypedDict):
    id: str
    agent_id: str | None
    """The only agent whose events are delivered. null: all agents."""
    url: str
    headers: dict[str, Any]
    """Headers of every delivery, with references to secrets."""
    events: list[str]
    status: WebhookStatus
    disabled_reason: str | None
    """Why Perch disabled the webhook. null if it is enabled, or if you disabled it."""
    failing_since: str | None
    """Time since which every attempt has failed. null if the last attempt succeeded."""
    previous_secret_expires_at: str | None
    """Until when deliveries are signed with the previous secret too."""
    created_by: str | None
    created_at: str
    updated_at: str
    secret: str
    """The signing secret. Shown only once."""


class Webhook(TypedDict):
    id: str
    agent_id: str | None
    """The only agent whose events are delivered. null: all agents."""
    url: str
    headers: dict[str, Any]
    """Headers of every delivery, with references to secrets."""
    events: list[str]
    status: WebhookStatus
    disabled_reason: str | None
    """Why Perch disabled the webhook. null if it is enabled, or if you disabled it."""
    failing_since: str | None
    """Time since which every attempt has failed. null if the last attempt succeeded."""
    previous_secret_expires_at: str | None
    """Until when deliveries are signed with the previous secret too."""
    created_by: str | None
    created_at: str
    updated_at: str


class DeleteWebhookResult(TypedDict):
    id: str
    deleted: Literal[True]


class Delivery(TypedDict):
    id: str
    webhook_id: str
    event_id: str
    event_type: EventType
    status: DeliveryStatus
    attempts: int
    """Number of attempts made."""
    next_attempt_at: str | None
    """When the next attempt is due. null if there will be none."""
    status_code: int | None
    """HTTP status of the last attempt. null if there was no response."""
    error: str | None
    """Why the last attempt failed. null if it succeeded."""
    redelivery_of: str | None
    """The delivery that this one repeats."""
    created_at: str
    finished_at: str | None


class RedeliverFailedResult(TypedDict):
    queued: int
    """How many deliveries were created."""
    has_more: bool


class DeliveryWithAttempts(TypedDict):
    id: str
    webhook_id: str
    event_id: str
    event_type: EventType
    status: DeliveryStatus
    attempts: int
    """Number of attempts made."""
    next_attempt_at: str | None
    """When the next attempt is due. null if there will be none."""
    status_code: int | None
    """HTTP status of the last attempt. null if there was no response."""
    error: str | None
    """Why the last attempt failed. null if it succeeded."""
    redelivery_of: str | None
    """The delivery that this one repeats."""
    created_at: str
    finished_at: str | None
    attempt_log: list[DeliveryAttempt]


class DeliveryAttempt(TypedDict):
    number: int
    attempted_at: str
    duration_ms: int
    status_code: int | None
    error: str | None
    """Why the attempt failed. null if it succeeded."""
    response: str | None
    """Start of the response body, at most 1 KiB."""


class CreatedApiKey(TypedDict):
    id: str
    name: str
    agent_id: str | None
    """The only agent that this key can access. null: all agents of the organisation."""
    role: Role | None
    """The role that the key was created with, if any."""
    permissions: list[Permission]
    prefix: str
    """First characters of the key, to identify it."""
    status: KeyStatus
    created_by: str | None
    """The key that created this one. null for the organisation's first key."""
    rotated_from: str | None
    """The key that this one replaced in a rotation."""
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    """May be a few seconds out of date."""
    revoked_at: str | None
    key: str


class ApiKey(TypedDict):
    id: str
    name: str
    agent_id: str | None
    """The only agent that this key can access. null: all agents of the organisation."""
    role: Role | None
    """The role that the key was created with, if any."""
    permissions: list[Permission]
    prefix: str
    """First characters of the key, to identify it."""
    status: KeyStatus
    created_by: str | None
    """The key that created this one. null for the organisation's first key."""
    rotated_from: str | None
    """The key that this one replaced in a rotation."""
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    """May be a few seconds out of date."""
    revoked_at: str | None


class RevokeKeyResult(TypedDict):
    id: str
    revoked_at: str


class MfaEnrolmentToken(TypedDict):
    key_id: str
    token: str
    """Works only with this key. Shown only once."""
    expires_at: str


class RevokeLeakedKeyResult(TypedDict):
    id: str
    revoked_at: str


class ModelEntry(TypedDict):
    id: str
    """Value for an agent's ``model``. ``provider/*`` stands for all models of the provider."""
    provider: str
    source: Literal["built-in", "installation", "organisation"]
    """Where the model comes from: built into Perch, the server's configuration, or your organisation's providers."""


class Provider(TypedDict):
    name: str
    type: ProviderType
    base_url: str | None
    """URL of the provider's API. null uses the provider's public API."""
    models: list[str]
    """Models that agents may use. Empty: all models of the provider."""
    api_key_set: bool
    """Whether an API key is set. The key is never returned."""
    api_key_secret: str | None
    """The secret that the API key is taken from, if it is one."""
    created_at: str
    updated_at: str


class DeleteProviderResult(TypedDict):
    name: str
    deleted: Literal[True]


class Secret(TypedDict):
    name: str
    agent_id: str | None
    """The only agent that can use the secret. null: all agents."""
    hosts: list[str]
    created_by: str | None
    created_at: str
    updated_by: str | None
    """The key that changed the value or the hosts last."""
    updated_at: str
    last_used_at: str | None
    """When a call last asked for the secret. May be a minute out of date."""


class DeleteSecretResult(TypedDict):
    name: str
    deleted: Literal[True]


class DeleteAgentSecretResult(TypedDict):
    name: str
    deleted: Literal[True]


class AuditEntry(TypedDict):
    id: str
    created_at: str
    actor: Literal["key", "oauth", "jwt", "operator", "public"]
    """How the caller was authenticated. ``key``: an API key. ``oauth`` or ``jwt``: an API key and a user's token. ``operator``: a command on the server. ``public``: not at all."""
    key_id: str | None
    user_id: str | None
    """The user that the token names, if the request had one."""
    operation: str
    """The operation's id in this document, such as ``updateAgent``, or the operator's command."""
    resource_type: str
    resource: str | None
    """Id of the resource, or its name if it has no id."""
    agent_id: str | None
    """The agent that the resource belongs to."""
    address: str | None
    """IP address that the request came from."""
    correlation_id: str | None
    """``X-Correlation-Id`` of the response."""
    outcome: Literal["changed", "refused"]
    """``changed``: the change was made. ``refused``: the request was refused."""
    details: AuditDetails


class AuditDetails(TypedDict):
    fields: NotRequired[list[str]]
    """Names of the fields in the request, never their values."""
    reason: NotRequired[str]
    """Error code of a refused request."""


class MfaEnrolment(TypedDict):
    secret: str
    """The shared secret, in base32. Shown only once."""
    otpauth_url: str
    recovery_codes: list[str]
    """Codes for when the device is lost. Each works once. Shown only once."""


class ConfirmMfaResult(TypedDict):
    confirmed_at: str


class StepUpToken(TypedDict):
    token: str
    expires_at: str


class RemoveMfaResult(TypedDict):
    removed: Literal[True]


class Me(TypedDict):
    organisation: MeOrganisation
    key: MeKey
    usage: Usage | None
    """What the organisation has, and how much its tier allows. null for a key that belongs to one agent."""
    limits: TierLimits
    """What else the tier allows."""


class MeOrganisation(TypedDict):
    id: str
    name: str
    tier: Tier


class MeKey(TypedDict):
    id: str
    name: str
    agent_id: str | None
    """The only agent that this key can access. null: all agents of the organisation."""
    role: Role | None
    """The role that the key was created with, if any."""
    permissions: list[Permission]
    expires_at: str | None


class Usage(TypedDict):
    agents: Use
    keys: Use
    """API keys that are active."""
    webhooks: Use
    providers: Use
    """Model providers of your own."""
    secrets: Use
    """Secrets of the organisation and of its agents."""
    memory_bytes: Use
    """Texts and metadata of memories."""
    record_bytes: Use
    """Messages, responses, sessions, events, logs and contents of runs of the last 30 days."""


class Use(TypedDict):
    used: int
    limit: int


class TierLimits(TypedDict):
    requests_per_minute: int
    burst: int
    """Requests at once."""
    concurrent_runs: int
    log_days: int
    """How far back logs and metrics can be read."""
    versions_per_agent: int
    deployments_per_agent: int
    """How many are kept. Those that ended first make room for new ones."""
    memories_per_agent: int
    """The oldest make room for new ones."""


Runtime = RuntimeModel | RuntimeHttp
RedactedAgentAuth = RedactedAgentAuthOauth2 | RedactedAgentAuthJwt
AgentAuth = AgentAuthOauth2 | AgentAuthJwt
