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
CreateAgent = Literal[
    "true",
    "false",
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
CreateWebhookEventsItem = Literal[
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
    """Where the problem is, as a dotted path, for example ``limits.max_steps``."""
    error: str
    """What is wrong with it."""


class Event(TypedDict):
    """Also the body of a delivery."""

    id: str
    type: EventType
    created_at: str
    agent_id: str | None
    """The agent it is about; null where it is about none."""
    data: dict[str, Any]
    """Of ``agent.…``: request_id, agent_id, environment, version, status, tokens_used, duration_ms, user_id, session_id, and response or error; a response of more than 65,536 characters is cut, and ``response_truncated`` says so. Of ``deployment.…``: the deployment. Of ``webhook.test``: webhook_id."""


class Agent(TypedDict):
    id: str
    name: str
    status: AgentStatus
    created_at: str
    model: str
    temperature: float | None
    """null leaves it to the model."""
    instructions: str
    tools: list[McpTool | HttpTool]
    memory: MemorySettings
    limits: Limits
    logs: LogSettings
    fallback_models: list[str]
    """Tried in order when the model fails."""
    runtime: Runtime
    security: SecuritySettings
    auth: ShownAgentAuth | None
    updated_at: str


class McpTool(TypedDict):
    type: Literal["mcp"]
    name: str
    url: str
    """Streamable HTTP address of the MCP server."""


class HttpTool(TypedDict):
    type: Literal["http"]
    name: str
    description: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    url: str
    parameters: dict[str, Any]
    """JSON Schema of the arguments."""


class MemorySettings(TypedDict):
    recall: bool
    """Give the model what it remembered before."""
    recall_limit: int
    """How many memories at most."""
    remember: bool
    """Keep what was asked and answered as a memory."""
    embedder: EmbedderSettings


class EmbedderSettings(TypedDict):
    """Memory belongs to the agent and not to a version: the draft's embedder counts for all. A new one embeds all memories anew, in the background; searches work meanwhile."""

    model: str
    """``provider/model``. ``perch/minilm`` runs within the server and needs no key."""
    dimensions: Literal[384, 768, 1024, 1536]
    """Of its vectors."""


class Limits(TypedDict):
    max_steps: int
    """Model calls in one run."""
    max_tokens: int
    """Tokens in one run, all steps together."""
    timeout_seconds: int
    """Time for one run."""
    history_messages: int
    """How much of a session the model sees, in messages."""
    max_concurrent_runs: int
    """Runs of this agent at the same time."""


class LogSettings(TypedDict):
    messages: bool
    """Whether messages and answers stand in log entries. They do not unless you say so."""


class RuntimeModel(TypedDict):
    type: Literal["model"]


class RuntimeHttp(TypedDict):
    type: Literal["http"]
    url: str


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


class ShownAgentAuthOauth2(TypedDict):
    type: Literal["oauth2"]
    provider: str
    """The issuer: its ``/.well-known/openid-configuration`` says the rest."""
    clientId: str
    scopes: list[Literal["read:agents", "write:agents", "delete:agents", "manage:agents"]]
    """Which scopes count here. An operation needs the scope of its permission, ``write:agents`` for write."""
    audience: NotRequired[str]
    """What ``aud`` of a token must name; ``clientId`` unless set."""
    hasClientSecret: bool


class ShownAgentAuthJwt(TypedDict):
    type: Literal["jwt"]
    hasPreviousSecret: bool


class MemorySettingsPatch(TypedDict):
    recall: NotRequired[bool]
    """Give the model what it remembered before."""
    recall_limit: NotRequired[int]
    """How many memories at most."""
    remember: NotRequired[bool]
    """Keep what was asked and answered as a memory."""
    embedder: NotRequired[EmbedderSettings]


class LimitsPatch(TypedDict):
    max_steps: NotRequired[int]
    """Model calls in one run."""
    max_tokens: NotRequired[int]
    """Tokens in one run, all steps together."""
    timeout_seconds: NotRequired[int]
    """Time for one run."""
    history_messages: NotRequired[int]
    """How much of a session the model sees, in messages."""
    max_concurrent_runs: NotRequired[int]
    """Runs of this agent at the same time."""


class LogSettingsPatch(TypedDict):
    messages: NotRequired[bool]
    """Whether messages and answers stand in log entries. They do not unless you say so."""


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
    """The issuer: its ``/.well-known/openid-configuration`` says the rest."""
    clientId: str
    scopes: list[Literal["read:agents", "write:agents", "delete:agents", "manage:agents"]]
    """Which scopes count here. An operation needs the scope of its permission, ``write:agents`` for write."""
    audience: NotRequired[str]
    """What ``aud`` of a token must name; ``clientId`` unless set."""
    clientSecret: NotRequired[str]
    """For asking about opaque tokens (RFC 7662)."""


class AgentAuthJwt(TypedDict):
    type: Literal["jwt"]
    secret: str
    """HS256, at least 32 bytes."""
    previousSecret: NotRequired[str]
    """Still accepted, while you change to ``secret``."""


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
    """The agent's reply."""
    request_id: str
    tokens_used: int
    duration_ms: int


class InvocationContext(TypedDict):
    user_id: NotRequired[str]
    """Whom the agent is talking to."""
    session_id: NotRequired[str]
    """The conversation: one turn at a time, in order, with what was said before."""
    environment: NotRequired[str]
    """Which environment answers; ``production`` unless set."""
    version: NotRequired[str]
    """This version answers, whatever is deployed. Needs a key that may also read; for trying a version out."""


class InvocationSummary(TypedDict):
    request_id: str
    agent_id: str
    status: InvocationStatus
    environment: str
    version: str | None
    """The version that ran; null for the agent's draft."""
    deployment_id: str | None
    """The deployment that made it live."""
    user_id: str | None
    session_id: str | None
    error: str | None
    """Why it failed or was cancelled, for a person."""
    steps: int
    """Model calls made."""
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
    """The version that ran; null for the agent's draft."""
    deployment_id: str | None
    """The deployment that made it live."""
    user_id: str | None
    session_id: str | None
    message: str
    response: str | None
    error: str | None
    """Why it failed or was cancelled, for a person."""
    steps: int
    """Model calls made."""
    tokens_used: int
    duration_ms: int | None
    created_at: str
    finished_at: str | None
    timeline: list[LogEntry]
    """Its log in order: model calls, tool calls, retries, with their times. Empty until it has ended."""


class LogEntry(TypedDict):
    timestamp: str
    level: LogLevel
    message: str
    metadata: dict[str, Any]
    """``request_id`` is the run's, ``environment`` and ``version`` say what ran; the rest depends on the entry."""


class Deployment(TypedDict):
    id: str
    agent_id: str
    environment: str
    version: str
    status: DeploymentStatus
    traffic_percent: int
    """100 for the live one; less for a canary beside it."""
    guards: Guards | None
    guard_report: GuardReport | None
    """The last look at a guarded canary."""
    rollback_of: str | None
    """The deployment that this one took out of service by a rollback."""
    created_by: str | None
    created_at: str
    activated_at: str | None
    ended_at: str | None
    error: str | None
    """Why it failed or was rolled back, and what to do."""


class Guards(TypedDict):
    max_error_rate_increase: NotRequired[float]
    """How far its share of failed runs may lie above the live one's: 0.05 is five points."""
    max_p95_ratio: NotRequired[float]
    """Its 95th percentile of run times over the live one's."""
    max_mean_tokens_ratio: NotRequired[float]
    """Its mean tokens of a run over the live one's."""
    min_runs: int
    """Runs of each of the two before anything is judged."""
    window_seconds: int
    """How long it is watched, from its activation."""


class GuardReport(TypedDict):
    checked_at: str
    verdict: Literal["waiting", "healthy", "rolled_back"]
    """``waiting``: not enough runs yet."""
    reason: str | None
    """Which guard was broken, with the figures."""
    canary: ArmFigures
    live: ArmFigures


class ArmFigures(TypedDict):
    runs: int
    error_rate: float
    p95_ms: float | None
    mean_tokens: float | None


class NewGuards(TypedDict):
    max_error_rate_increase: NotRequired[float]
    """How far its share of failed runs may lie above the live one's: 0.05 is five points."""
    max_p95_ratio: NotRequired[float]
    """Its 95th percentile of run times over the live one's."""
    max_mean_tokens_ratio: NotRequired[float]
    """Its mean tokens of a run over the live one's."""
    min_runs: NotRequired[int]
    """Runs of each of the two before anything is judged."""
    window_seconds: NotRequired[int]
    """How long it is watched, from its activation."""


class VersionSummary(TypedDict):
    version: str
    agent_id: str
    checksum: str
    """SHA-256 of the definition: two versions with one checksum are the same."""
    created_by: str | None
    created_at: str


class Version(TypedDict):
    version: str
    agent_id: str
    checksum: str
    """SHA-256 of the definition: two versions with one checksum are the same."""
    created_by: str | None
    created_at: str
    definition: VersionDefinition


class VersionDefinition(TypedDict):
    model: str
    temperature: float | None
    """null leaves it to the model."""
    instructions: str
    tools: list[McpTool | HttpTool]
    memory: MemorySettings
    limits: Limits
    logs: LogSettings
    fallback_models: list[str]
    """Tried in order when the model fails."""
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


class NewLogEntry(TypedDict):
    timestamp: NotRequired[str]
    """When it happened, in the last 24 hours; now unless given."""
    level: NotRequired[LogLevel]
    message: str
    request_id: NotRequired[str]
    """The run it belongs to."""
    metadata: NotRequired[dict[str, Any]]


class MetricSeries(TypedDict):
    metric: Literal["response_time", "throughput", "error_rate", "tokens", "cost"]
    granularity: Granularity
    statistic: Literal["avg", "p50", "p95", "p99"] | None
    """Of response_time; null for the others."""
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
    """Whose it is; null where it belongs to nobody."""
    session_id: str | None
    source_request_id: str | None
    """The run that remembered it; null where somebody added it."""
    metadata: dict[str, Any]
    created_at: str
    updated_at: str
    """When it was last said. The same content of one user is one memory."""
    score: float
    """Sum of the contributions. It orders the hits of one search and means nothing beyond."""
    score_parts: MemoryHitScoreParts


class MemoryHitScoreParts(TypedDict):
    vector: VectorPart | None
    """null: not among the hits by meaning."""
    text: TextPart | None
    """null: not among the hits by words."""


class VectorPart(TypedDict):
    rank: int
    """Its place among the hits by meaning, from 1."""
    similarity: float
    """Cosine of query and memory: 1 is the same meaning."""
    contribution: float
    """What this part adds to the score."""


class TextPart(TypedDict):
    rank: int
    """Its place among the hits by words, from 1."""
    coverage: float
    """How much of the query's words it has, rare words counting more: 0 to 1."""
    words: list[str]
    """The words that matched, in the form they are indexed in."""
    contribution: float
    """What this part adds to the score."""


class Pagination(TypedDict):
    limit: int
    offset: int
    total: int
    """How many items there are on all pages."""
    has_more: bool


class SearchReport(TypedDict):
    mode: SearchMode
    """What was searched by. ``text`` where the embedder could not be asked."""
    exact: bool
    """Whether every memory in question was compared. Large agents are searched by an index."""
    notice: str | None
    """What is worth knowing about this search, such as why it went by words alone."""


class Memory(TypedDict):
    id: str
    content: str
    user_id: str | None
    """Whose it is; null where it belongs to nobody."""
    session_id: str | None
    source_request_id: str | None
    """The run that remembered it; null where somebody added it."""
    metadata: dict[str, Any]
    created_at: str
    updated_at: str
    """When it was last said. The same content of one user is one memory."""


class MemoryClear(TypedDict):
    id: str
    status: Literal["running", "completed"]
    """While it runs, what it removes is out of sight already."""
    memories_deleted: int
    """So far."""
    messages_deleted: int
    """Messages of sessions, so far."""
    user_id: str | None
    session_id: str | None
    before: str | None
    created_at: str
    completed_at: str | None


class MemoryStatus(TypedDict):
    memories: int
    """All that is stored, with what a running clear has yet to remove."""
    most_memories: int
    """How many the agent may have. Past it the ones said longest ago go."""
    embedder: MemoryStatusEmbedder
    """What memories are embedded with."""
    waiting: int
    """Memories yet to be embedded, counted to 10,000. Words find them already."""
    clearing: bool


class MemoryStatusEmbedder(TypedDict):
    """What memories are embedded with."""

    model: str
    dimensions: int


class DeleteMemoryResult(TypedDict):
    id: str
    deleted: Literal[True]


class WebhookWithSecret(TypedDict):
    id: str
    agent_id: str | None
    """The one agent whose events it receives; null means all."""
    url: str
    events: list[str]
    status: WebhookStatus
    disabled_reason: str | None
    """Why Perch disabled it; null if you did, or if it is enabled."""
    failing_since: str | None
    """Since when no attempt has gone well; null while they do."""
    previous_secret_until: str | None
    """Until when the secret before the last rotation signs too."""
    created_by: str | None
    created_at: str
    updated_at: str
    secret: str
    """Shown this once: it is kept encrypted."""


class Webhook(TypedDict):
    id: str
    agent_id: str | None
    """The one agent whose events it receives; null means all."""
    url: str
    events: list[str]
    status: WebhookStatus
    disabled_reason: str | None
    """Why Perch disabled it; null if you did, or if it is enabled."""
    failing_since: str | None
    """Since when no attempt has gone well; null while they do."""
    previous_secret_until: str | None
    """Until when the secret before the last rotation signs too."""
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
    """How many were made."""
    next_attempt_at: str | None
    """When the next is due; null when there will be none."""
    status_code: int | None
    """What the last attempt was answered with; null if with nothing."""
    error: str | None
    """Why the last attempt failed, in words; null if it did not."""
    redelivery_of: str | None
    """The delivery that this one repeats, if any."""
    created_at: str
    finished_at: str | None


class DeliveryWithAttempts(TypedDict):
    id: str
    webhook_id: str
    event_id: str
    event_type: EventType
    status: DeliveryStatus
    attempts: int
    """How many were made."""
    next_attempt_at: str | None
    """When the next is due; null when there will be none."""
    status_code: int | None
    """What the last attempt was answered with; null if with nothing."""
    error: str | None
    """Why the last attempt failed, in words; null if it did not."""
    redelivery_of: str | None
    """The delivery that this one repeats, if any."""
    created_at: str
    finished_at: str | None
    attempt_log: list[DeliveryAttempt]


class DeliveryAttempt(TypedDict):
    number: int
    at: str
    duration_ms: int
    status_code: int | None
    error: str | None
    """Why it failed, in words; null if it did not."""
    response: str | None
    """The beginning of what was answered: 1 KiB at most."""


class RedeliverFailedResult(TypedDict):
    queued: int
    more: bool


class CreatedApiKey(TypedDict):
    id: str
    name: str
    agent_id: str | None
    """The one agent this key reaches; null means all agents of the organisation."""
    role: Role | None
    """The role it was made with, if any."""
    permissions: list[Permission]
    prefix: str
    """The first characters of the key, to recognise it by."""
    status: KeyStatus
    created_by: str | None
    """The key that made this one; null for an organisation's first."""
    rotated_from: str | None
    """The key this one replaces, if it came from a rotation."""
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    """Written in batches: may be some seconds late."""
    revoked_at: str | None
    key: str


class ApiKey(TypedDict):
    id: str
    name: str
    agent_id: str | None
    """The one agent this key reaches; null means all agents of the organisation."""
    role: Role | None
    """The role it was made with, if any."""
    permissions: list[Permission]
    prefix: str
    """The first characters of the key, to recognise it by."""
    status: KeyStatus
    created_by: str | None
    """The key that made this one; null for an organisation's first."""
    rotated_from: str | None
    """The key this one replaces, if it came from a rotation."""
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    """Written in batches: may be some seconds late."""
    revoked_at: str | None


class RevokeKeyResult(TypedDict):
    id: str
    revoked_at: str


class RevokeLeakedKeyResult(TypedDict):
    id: str
    revoked_at: str


class ModelEntry(TypedDict):
    id: str
    """What an agent's ``model`` may be. ``provider/*`` stands for any model that the provider has."""
    provider: str
    source: Literal["built-in", "installation", "organisation"]
    """Who brings it: Perch, the server's operator, or your organisation."""


class Provider(TypedDict):
    name: str
    type: ProviderType
    base_url: str | None
    """Where it answers; null is the provider's own address."""
    models: list[str]
    """The models that may be used; empty means any that the provider has."""
    api_key_set: bool
    """Whether it has an API key. The key itself is never shown."""
    created_at: str
    updated_at: str


class DeleteProviderResult(TypedDict):
    name: str
    deleted: Literal[True]


class AuditEntry(TypedDict):
    id: str
    created_at: str
    actor: Literal["key", "oauth", "jwt", "operator", "public"]
    """Who vouched for it: ``key`` an API key; ``oauth``, ``jwt`` a key and a user's token; ``operator`` a command on the server; ``public`` nobody."""
    key_id: str | None
    user_id: str | None
    """The user of the token, where there was one."""
    operation: str
    """The operation's id in this document, such as ``updateAgent``, or an operator's command."""
    resource_type: str
    resource: str | None
    """The id of what was changed, or its name where it has no id."""
    agent_id: str | None
    """The agent it belongs to."""
    address: str | None
    """Where the request came from."""
    request_id: str | None
    """``X-Request-Id`` of the answer."""
    outcome: Literal["changed", "refused"]
    details: AuditDetails


class AuditDetails(TypedDict):
    fields: NotRequired[list[str]]
    """Which fields the request named; never their values."""
    reason: NotRequired[str]
    """Why it was refused."""


class MfaEnrolment(TypedDict):
    secret: str
    """Base32. Shown only now."""
    otpauth_url: str
    recovery_codes: list[str]
    """For the day the device is lost; each once. Shown only now."""


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


class MeOrganisation(TypedDict):
    id: str
    name: str
    tier: Tier


class MeKey(TypedDict):
    id: str
    name: str
    agent_id: str | None
    """The one agent this key reaches; null means all agents of the organisation."""
    role: Role | None
    """The role it was made with, if any."""
    permissions: list[Permission]
    expires_at: str | None


Runtime = RuntimeModel | RuntimeHttp
ShownAgentAuth = ShownAgentAuthOauth2 | ShownAgentAuthJwt
AgentAuth = AgentAuthOauth2 | AgentAuthJwt
