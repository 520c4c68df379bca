"""What the service returns. Made by generate.py from openapi.json: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from .._model import Model, by_field, decodes, each, one, timestamp

if TYPE_CHECKING:
    from datetime import datetime

__all__ = [
    "AddLogsResult",
    "Agent",
    "AgentCheck",
    "AgentMetricSeries",
    "AgentMetrics",
    "AgentProblem",
    "AgentStatus",
    "AgentSummary",
    "ApiKey",
    "Approval",
    "ApprovalApprovedByItem",
    "ApprovalCondition",
    "ApprovalContents",
    "ApprovalContentsHistoryItem",
    "ApprovalContentsHistoryItemCallsItem",
    "ApprovalKind",
    "ApprovalPolicy",
    "ApprovalSettings",
    "ApprovalStatus",
    "ApprovalSummary",
    "ApprovalSummaryApprovedByItem",
    "AskPersonTool",
    "AuditDetails",
    "AuditEntry",
    "ConfirmMfaResult",
    "Connection",
    "ConnectionStatus",
    "ConnectionWithLink",
    "ConsoleLink",
    "ConsoleSession",
    "CreatedApiKey",
    "CreatedConsoleSession",
    "CurrentSession",
    "CurrentSessionOrganisationsItem",
    "Decider",
    "DeleteAgentResult",
    "DeleteAgentSecretResult",
    "DeleteMemoryResult",
    "DeleteProviderResult",
    "DeleteSecretResult",
    "DeleteWebhookResult",
    "Delivery",
    "DeliveryAttempt",
    "DeliveryStatus",
    "DeliveryWithAttempts",
    "Deployment",
    "DeploymentOfAnyAgent",
    "DeploymentStats",
    "DeploymentStatus",
    "EmbedderSettings",
    "EndConsoleSessionResult",
    "ErasedPart",
    "Erasure",
    "ErasureReceipt",
    "ErrorDetail",
    "Event",
    "EventType",
    "ExpiringPart",
    "Granularity",
    "GuardReport",
    "Guards",
    "HttpTool",
    "Installation",
    "InstallationDatabase",
    "InstallationEngine",
    "InstallationEngineInvocations",
    "InstallationNode",
    "InstallationPart",
    "InstallationValkey",
    "InstalledRelease",
    "InstalledReleaseState",
    "Invocation",
    "InvocationOfAnyAgent",
    "InvocationResult",
    "InvocationStatus",
    "InvocationSummary",
    "KeyStatus",
    "Limits",
    "LogEntry",
    "LogLevel",
    "LogSetting",
    "McpApprovalPolicy",
    "McpTool",
    "Me",
    "MeKey",
    "MeOrganisation",
    "Memory",
    "MemoryClear",
    "MemoryHit",
    "MemoryHitScoreParts",
    "MemorySettings",
    "MemoryStatus",
    "MemoryStatusEmbedder",
    "MetricSeries",
    "MetricValue",
    "MfaEnrolment",
    "MfaEnrolmentToken",
    "ModelEntry",
    "Organisation",
    "Pagination",
    "Permission",
    "Provider",
    "ProviderType",
    "RedactedAgentAuth",
    "RedactedAgentAuthJwt",
    "RedactedAgentAuthOauth2",
    "RedactedAgentAuthOauth2ScopesItem",
    "RedeliverFailedResult",
    "RemoveMfaResult",
    "RevocationResult",
    "RevokeKeyResult",
    "RevokeLeakedKeyResult",
    "Role",
    "RunStep",
    "Runtime",
    "RuntimeHttp",
    "RuntimeModel",
    "SearchMemoryResult",
    "SearchMode",
    "SearchReport",
    "Secret",
    "SecuritySettings",
    "SecuritySettingsApprovals",
    "SecuritySettingsHsts",
    "SecuritySettingsIpWhitelist",
    "SecuritySettingsMfa",
    "SecuritySettingsMtls",
    "SecuritySettingsRateLimit",
    "SignInMethods",
    "SignInMethodsPerson",
    "SignedInPerson",
    "StartedRun",
    "StepUpToken",
    "SubscribableEventType",
    "TextPart",
    "Tier",
    "TierLimits",
    "Tool",
    "ToolConnection",
    "ToolConnectionAgent",
    "ToolConnectionUser",
    "Usage",
    "Use",
    "VectorPart",
    "Version",
    "VersionChange",
    "VersionDefinition",
    "VersionDiff",
    "VersionSummary",
    "Webhook",
    "WebhookStatus",
    "WebhookWithSecret",
]

EventType = Literal[
    "agent.completed",
    "agent.failed",
    "deployment.activated",
    "deployment.failed",
    "deployment.rolled_back",
    "agent.action_required",
    "connection.needs_reauth",
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
RedactedAgentAuthOauth2ScopesItem = Literal[
    "read:agents",
    "write:agents",
    "delete:agents",
    "manage:agents",
    "approve:agents",
    "invoke:agents",
]
InvocationStatus = Literal[
    "running",
    "waiting",
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
ApprovalKind = Literal[
    "tool",
    "question",
]
ApprovalStatus = Literal[
    "open",
    "approved",
    "rejected",
    "answered",
    "expired",
    "cancelled",
]
ConnectionStatus = Literal[
    "pending",
    "active",
    "needs_reauth",
    "revoked",
]
RevocationResult = Literal[
    "pending",
    "done",
    "not_offered",
    "failed",
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
    "approve",
    "invoke",
    "operate",
]
KeyStatus = Literal[
    "active",
    "expired",
    "revoked",
]
Tier = Literal[
    "free",
    "pro",
    "enterprise",
]
ProviderType = Literal[
    "openai",
    "anthropic",
    "google",
    "openai-compatible",
]
InstalledReleaseState = Literal[
    "takes_new_runs",
    "ends_its_runs",
    "superseded",
    "can_be_retired",
    "has_no_worker_yet",
]
SubscribableEventType = Literal[
    "agent.completed",
    "agent.failed",
    "deployment.activated",
    "deployment.failed",
    "deployment.rolled_back",
    "agent.action_required",
    "connection.needs_reauth",
]


class ErrorDetail(Model):
    field: str
    """Path of the invalid field, for example ``limits.max_steps``."""
    error: str
    """What is wrong with the field."""


class Event(Model):
    """An event. Also the body of a webhook delivery."""

    id: str
    type: EventType
    created_at: datetime
    agent_id: str | None
    """The agent that the event is about, if any."""
    data: dict[str, Any]
    """For ``agent.*``: request_id, agent_id, environment, version, status, tokens_used, duration_ms, user_id, session_id, and response or error. A response longer than 65,536 characters is cut, and ``response_truncated`` is true. For ``agent.action_required``: the approval, as in the list of approvals. For ``deployment.*``: the deployment. For ``connection.needs_reauth``: the connection. For ``webhook.test``: webhook_id."""


class Agent(Model):
    id: str
    name: str
    status: AgentStatus
    created_at: datetime
    model: str
    temperature: float | None
    """null uses the model's default."""
    instructions: str
    tools: list[Tool]
    memory: MemorySettings
    limits: Limits
    logs: LogSetting
    fallback_models: list[str]
    """Models to try, in this order, when ``model`` fails."""
    runtime: Runtime
    approvals: ApprovalSettings | None = None
    security: SecuritySettings
    auth: RedactedAgentAuth | None
    updated_at: datetime
    warnings: list[str] | None = None
    """Only in the answer to a change that sets ``auth``: what is refused from now on, and until when the key that made the change can take it back."""


class McpTool(Model):
    type: Literal["mcp"]
    name: str
    url: str
    """URL of the MCP server (Streamable HTTP)."""
    headers: dict[str, Any] | None = None
    """Headers to send. A value may refer to secrets: ``Bearer {{secret.github_token}}``."""
    connection: ToolConnection | None = None
    approval: Literal["never", "always", "destructive"] | McpApprovalPolicy | None = None
    tool_approvals: dict[str, Any] | None = None
    """For single tools, by the server's own name for them: takes precedence over ``approval``. If the server does not list one that needs approval, all tools without a policy here need it."""


class ToolConnectionUser(Model):
    account: Literal["user"]
    """The account of the run's own user, who has consented to it."""
    issuer: str | None = None
    """URL of the authorization server. Left out: the tool's server names it in its protected-resource metadata (RFC 9728)."""
    scopes: list[str] | None = None
    """Scopes to ask for. Left out: those that the tool's server names, if it names any."""
    resource: str | None = None
    """What the tokens are for (RFC 8707). The default is the ``url`` of an MCP server, and what its metadata says of an HTTP tool."""
    client_id: str | None = None
    """Your client at the authorization server. Left out: Perch presents a client id metadata document, or registers itself where the server offers only that."""
    client_secret: str | None = None
    """``{{secret.name}}``: a secret whose ``hosts`` name the authorization server's token endpoint. Left out: a public client."""
    return_urls: list[str]
    """Addresses of your application that a person may return to, with a code to confirm. ``return_url`` must equal one of them."""


class ToolConnectionAgent(Model):
    account: Literal["agent"]
    """The agent's own account, by client credentials. No user is asked."""
    issuer: str | None = None
    """URL of the authorization server. Left out: the tool's server names it in its protected-resource metadata (RFC 9728)."""
    scopes: list[str] | None = None
    """Scopes to ask for. Left out: those that the tool's server names, if it names any."""
    resource: str | None = None
    """What the tokens are for (RFC 8707). The default is the ``url`` of an MCP server, and what its metadata says of an HTTP tool."""
    client_id: str
    client_secret: str
    """``{{secret.name}}``: a secret whose ``hosts`` name the authorization server's token endpoint. Left out: a public client."""


class McpApprovalPolicy(Model):
    when: Literal["destructive"] | list[ApprovalCondition] | None = None
    approvers: int | None = None
    """How many different keys or persons must approve. The default is 1. One rejection is enough."""
    second_factor: bool | None = None
    """Whether a decision needs the code of a second factor in ``X-MFA-Code``. The default is false."""
    expires_after_seconds: int | None = None
    """How long a decision may take. Afterwards it counts as rejected. The default is 604800."""
    invoker_may_decide: bool | None = None
    """Whether the key or person that started the run may decide too, and keys that it made or that made it. The default is false."""


class ApprovalCondition(Model):
    """A call needs approval where this holds, and also where the argument is missing or of another type than ``value``."""

    argument: str
    """Name of the argument. Dots lead into objects, as in ``order.total``."""
    op: Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in"]
    """How the argument is compared with ``value``."""
    value: str | float | bool | list[str | float | bool]
    """A list for ``in`` and ``not_in``, a number for ``gt``, ``gte``, ``lt`` and ``lte``."""


class HttpTool(Model):
    type: Literal["http"]
    name: str
    description: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    url: str
    headers: dict[str, Any] | None = None
    """Headers to send. A value may refer to secrets: ``Bearer {{secret.github_token}}``."""
    query: dict[str, Any] | None = None
    """Query parameters to send. A value may refer to secrets: ``{{secret.maps_key}}``."""
    connection: ToolConnection | None = None
    parameters: dict[str, Any]
    """JSON Schema of the arguments."""
    approval: Literal["never", "always"] | ApprovalPolicy | None = None


class ApprovalPolicy(Model):
    when: list[ApprovalCondition] | None = None
    """A call needs approval where any of them holds. Left out: every call does."""
    approvers: int | None = None
    """How many different keys or persons must approve. The default is 1. One rejection is enough."""
    second_factor: bool | None = None
    """Whether a decision needs the code of a second factor in ``X-MFA-Code``. The default is false."""
    expires_after_seconds: int | None = None
    """How long a decision may take. Afterwards it counts as rejected. The default is 604800."""
    invoker_may_decide: bool | None = None
    """Whether the key or person that started the run may decide too, and keys that it made or that made it. The default is false."""


class AskPersonTool(Model):
    """Built in: the model asks a question, the run waits, and a person's answer is the result."""

    type: Literal["ask_person"]
    name: str
    """What the model calls it, for example ``ask_person``."""
    description: str
    """When the model is to ask, and whom."""
    answer: dict[str, Any]
    """JSON Schema of the answer."""
    expires_after_seconds: int | None = None
    """How long a decision may take. Afterwards it counts as rejected. The default is 604800."""
    invoker_may_decide: bool | None = None
    """Whether the key or person that started the run may decide too, and keys that it made or that made it. The default is false."""


class MemorySettings(Model):
    recall: bool
    """Search the agent's memories for each message and give the results to the model."""
    recall_limit: int
    """Maximum number of memories to give to the model."""
    remember: bool
    """Store each completed run's message and response as a memory."""
    embedder: EmbedderSettings


class EmbedderSettings(Model):
    """The model that embeds memories. Memory belongs to the agent, not to a version, so the draft's embedder is used for all versions. After a change, all memories are embedded again in the background; searches keep working meanwhile."""

    model: str
    """``provider/model``. The built-in ``perch/minilm`` runs in the server and needs no provider."""
    dimensions: Literal[384, 768, 1024, 1536]
    """Size of the model's vectors."""


class Limits(Model):
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


class RuntimeModel(Model):
    type: Literal["model"]


class RuntimeHttp(Model):
    type: Literal["http"]
    url: str
    headers: dict[str, Any] | None = None
    """Headers to send. A value may refer to secrets: ``Bearer {{secret.github_token}}``."""


class ApprovalSettings(Model):
    while_waiting: Literal["refuse", "queue"]
    """What happens to the next message of a session while a run of it waits for a person: it is refused, or it waits until that run has ended. The default is ``refuse``."""


class SecuritySettings(Model):
    _wire_names: ClassVar[dict[str, str]] = {
        "ip_whitelist": "ipWhitelist",
        "enforce_https": "enforceHttps",
        "rate_limit": "rateLimit",
    }

    ip_whitelist: SecuritySettingsIpWhitelist | None = None
    mtls: SecuritySettingsMtls | None = None
    enforce_https: bool | None = None
    hsts: SecuritySettingsHsts | None = None
    rate_limit: SecuritySettingsRateLimit | None = None
    mfa: SecuritySettingsMfa | None = None
    approvals: SecuritySettingsApprovals | None = None
    """Calls that a person must approve, whatever a version says. A version can only ask for more: more approvers, a second factor, or another time to decide."""


class SecuritySettingsIpWhitelist(Model):
    enabled: bool
    addresses: list[str]


class SecuritySettingsMtls(Model):
    _wire_names: ClassVar[dict[str, str]] = {
        "client_cert": "clientCert",
        "client_key": "clientKey",
        "ca_cert": "caCert",
    }

    enabled: bool
    client_cert: str
    client_key: str
    ca_cert: str


class SecuritySettingsHsts(Model):
    _wire_names: ClassVar[dict[str, str]] = {
        "max_age": "maxAge",
    }

    enabled: bool
    max_age: int
    """Seconds."""


class SecuritySettingsRateLimit(Model):
    enabled: bool
    requests: int
    window: str


class SecuritySettingsMfa(Model):
    enabled: bool
    operations: list[Literal["delete", "update"]]


class SecuritySettingsApprovals(Model):
    """Calls that a person must approve, whatever a version says. A version can only ask for more: more approvers, a second factor, or another time to decide."""

    tools: list[str] | None = None
    """Names of tools: that of an HTTP tool, of an MCP server for all of its tools, or a server's own name for one tool."""
    hosts: list[str] | None = None
    """Hosts: calls of HTTP tools and MCP servers there, on any port. There are no wildcards."""


class RedactedAgentAuthOauth2(Model):
    _wire_names: ClassVar[dict[str, str]] = {
        "client_id": "clientId",
        "has_client_secret": "hasClientSecret",
    }

    type: Literal["oauth2"]
    provider: str
    """URL of the issuer. Its ``/.well-known/openid-configuration`` is used for discovery."""
    client_id: str
    scopes: list[RedactedAgentAuthOauth2ScopesItem]
    """Scopes that are accepted. An operation needs the scope of its permission, such as ``write:agents`` for ``write``."""
    audience: str | None = None
    """Required audience (``aud``) of tokens. The default is ``clientId``."""
    has_client_secret: bool


class RedactedAgentAuthJwt(Model):
    _wire_names: ClassVar[dict[str, str]] = {
        "has_previous_secret": "hasPreviousSecret",
    }

    type: Literal["jwt"]
    has_previous_secret: bool


class AgentSummary(Model):
    id: str
    name: str
    status: AgentStatus
    created_at: datetime


class DeleteAgentResult(Model):
    id: str
    deleted: Literal[True]


class InvocationResult(Model):
    response: str
    """The agent's response."""
    request_id: str
    tokens_used: int
    duration_ms: int


class InvocationSummary(Model):
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
    created_at: datetime
    finished_at: datetime | None


class InvocationOfAnyAgent(Model):
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
    created_at: datetime
    finished_at: datetime | None
    agent_name: str


class Invocation(Model):
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
    created_at: datetime
    finished_at: datetime | None
    timeline: list[LogEntry]
    """The run's log entries, oldest first: model calls, tool calls and retries. Empty until the run ends or begins to wait, and for keys that see the run only because they started it."""


class LogEntry(Model):
    id: str
    """The same in the list and in the stream. As ``cursor``, it leads to the entries before it."""
    timestamp: datetime
    level: LogLevel
    message: str
    metadata: dict[str, Any]
    """``request_id``, ``environment`` and ``version`` identify the run. Other fields depend on the entry."""


class RunStep(Model):
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
    started_at: datetime
    duration_ms: int | None
    """null where it was interrupted."""
    tokens: int | None
    """Only of a model that answered."""
    reason: str | None
    """Why it failed or was interrupted."""
    retry_after_ms: int | None
    """With ``retried``: how long the run waited before the next attempt."""
    input: Any
    """The input of a model call that is new since the call before (at first: instructions, number of earlier messages, memories, message, names of tools), or the arguments of a tool call. All of it where the agent's ``logs`` is ``full``, its shape with ``shapes``, null with ``off`` or once it has expired."""
    output: Any
    """The model's text and tool calls, or the result of the tool. All of it where the agent's ``logs`` is ``full``, its shape with ``shapes``, null with ``off`` or once it has expired."""


class ApprovalSummary(Model):
    id: str
    kind: ApprovalKind
    status: ApprovalStatus
    agent_id: str
    agent_name: str
    request_id: str
    """The run that waits."""
    environment: str
    version: str | None
    user_id: str | None
    session_id: str | None
    tool: str
    """The tool that the model calls."""
    step: int
    """Number of the model call that made the call."""
    call: int
    """Number of the call within the step."""
    why: str
    """Which rule of the agent's definition asks for a person."""
    digest: str
    """Of the tool and the arguments as they are now: an edit changes it."""
    approvers: int
    """How many different keys or persons must approve."""
    approved_by: list[ApprovalSummaryApprovedByItem]
    """Those who have approved so far."""
    second_factor: bool
    """Whether a decision needs a code in ``X-MFA-Code``."""
    created_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    decided_by: Decider | None
    """Who decided last. null while it is open, and if it ended without a decision."""
    edited: bool
    """Whether a person changed the arguments."""


class ApprovalSummaryApprovedByItem(Model):
    by: Decider
    at: datetime


class Decider(Model):
    type: Literal["key", "person", "link"]
    """``link``: a person with the link from a webhook delivery."""
    key_id: str | None
    webhook_id: str | None
    """Of a link: the webhook that it was delivered to."""
    name: str
    """Name of the key, the person's address, or the host that the link was delivered to."""


class Approval(Model):
    id: str
    kind: ApprovalKind
    status: ApprovalStatus
    agent_id: str
    agent_name: str
    request_id: str
    """The run that waits."""
    environment: str
    version: str | None
    user_id: str | None
    session_id: str | None
    tool: str
    """The tool that the model calls."""
    step: int
    """Number of the model call that made the call."""
    call: int
    """Number of the call within the step."""
    why: str
    """Which rule of the agent's definition asks for a person."""
    digest: str
    """Of the tool and the arguments as they are now: an edit changes it."""
    approvers: int
    """How many different keys or persons must approve."""
    approved_by: list[ApprovalApprovedByItem]
    """Those who have approved so far."""
    second_factor: bool
    """Whether a decision needs a code in ``X-MFA-Code``."""
    created_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    decided_by: Decider | None
    """Who decided last. null while it is open, and if it ended without a decision."""
    edited: bool
    """Whether a person changed the arguments."""
    can_decide: bool
    """Whether the caller has the permission ``approve``, and the agent's policy accepts its decision: the caller did not start the run, or the policy has ``invoker_may_decide``. The approval's status, a second factor and earlier approvals are not considered."""
    contents: ApprovalContents | None
    """What a decision is about: for keys and persons with the permission ``approve``. null for others, and where the user was erased."""


class ApprovalApprovedByItem(Model):
    by: Decider
    at: datetime


class ApprovalContents(Model):
    message: str
    """The message that started the run."""
    arguments: Any
    """The arguments as they would be sent now."""
    original_arguments: Any | None = None
    """As the model wrote them, where a person changed them."""
    parameters: dict[str, Any]
    """JSON Schema of the arguments, or of the answer to a question."""
    question: str | None
    answer: Any | None = None
    reason: str | None
    """Why it was rejected, as the model was told."""
    history: list[ApprovalContentsHistoryItem]
    """What the run did before, the newest last. Long texts are cut."""


class ApprovalContentsHistoryItem(Model):
    step: int
    text: str
    calls: list[ApprovalContentsHistoryItemCallsItem]


class ApprovalContentsHistoryItemCallsItem(Model):
    tool: str
    arguments: Any
    result: str | None
    failed: bool


class ConnectionWithLink(Model):
    id: str
    agent_id: str
    user_id: str
    tool: str
    """Name of the tool in the agent's definition."""
    sent_to: str
    """The only address that the tokens are sent to: the URL of an MCP server, the origin of an HTTP tool."""
    status: ConnectionStatus
    reason: str | None
    """Why the user must consent again. null unless ``needs_reauth``."""
    issuer: str | None
    """The authorization server. null before the first consent."""
    scopes: list[str]
    """What the user has consented to, as the authorization server says."""
    created_at: datetime
    connected_at: datetime | None
    """When a consent was confirmed last."""
    last_used_at: datetime | None
    """When a run last used it. May be a minute out of date."""
    last_refreshed_at: datetime | None
    revoked_at: datetime | None
    provider_revocation: RevocationResult | None
    """Whether the provider has revoked the tokens. null unless ``revoked``, and if the user had not consented."""
    link: str
    """Send the user's browser here. It works once, within ten minutes. Earlier links no longer work."""
    link_expires_at: datetime


class Connection(Model):
    id: str
    agent_id: str
    user_id: str
    tool: str
    """Name of the tool in the agent's definition."""
    sent_to: str
    """The only address that the tokens are sent to: the URL of an MCP server, the origin of an HTTP tool."""
    status: ConnectionStatus
    reason: str | None
    """Why the user must consent again. null unless ``needs_reauth``."""
    issuer: str | None
    """The authorization server. null before the first consent."""
    scopes: list[str]
    """What the user has consented to, as the authorization server says."""
    created_at: datetime
    connected_at: datetime | None
    """When a consent was confirmed last."""
    last_used_at: datetime | None
    """When a run last used it. May be a minute out of date."""
    last_refreshed_at: datetime | None
    revoked_at: datetime | None
    provider_revocation: RevocationResult | None
    """Whether the provider has revoked the tokens. null unless ``revoked``, and if the user had not consented."""


class AgentCheck(Model):
    problems: list[AgentProblem]


class AgentProblem(Model):
    kind: Literal["limits", "secret", "model", "tool", "runtime"]
    """What is wrong: settings that contradict each other, or something that is missing or does not answer."""
    field: str
    """Path of the field in the agent's definition, such as ``model`` or ``tools.0``."""
    message: str
    """What is wrong, and what to do about it."""


class Deployment(Model):
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
    created_at: datetime
    activated_at: datetime | None
    ended_at: datetime | None
    error: str | None
    """Why the deployment failed or was rolled back, and what to do about it."""


class Guards(Model):
    max_error_rate_increase: float | None = None
    """Maximum difference between the canary's error rate and the live deployment's. 0.05 is five percentage points."""
    max_p95_ratio: float | None = None
    """Maximum ratio of the canary's 95th percentile run time to the live deployment's."""
    max_mean_tokens_ratio: float | None = None
    """Maximum ratio of the canary's mean tokens per run to the live deployment's."""
    min_runs: int
    """Number of runs that both deployments need before they are compared."""
    window_seconds: int
    """How long the canary is watched after its activation."""


class GuardReport(Model):
    checked_at: datetime
    verdict: Literal["waiting", "healthy", "rolled_back"]
    """``waiting``: not enough runs yet. ``healthy``: no guard was violated. ``rolled_back``: a guard was violated."""
    reason: str | None
    """The guard that was violated, with its values."""
    canary: DeploymentStats
    live: DeploymentStats


class DeploymentStats(Model):
    runs: int
    error_rate: float
    p95_ms: float | None
    mean_tokens: float | None


class DeploymentOfAnyAgent(Model):
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
    created_at: datetime
    activated_at: datetime | None
    ended_at: datetime | None
    error: str | None
    """Why the deployment failed or was rolled back, and what to do about it."""
    agent_name: str


class VersionSummary(Model):
    version: str
    agent_id: str
    checksum: str
    """SHA-256 of the definition. Versions with the same checksum are identical."""
    created_by: str | None
    created_at: datetime


class Version(Model):
    version: str
    agent_id: str
    checksum: str
    """SHA-256 of the definition. Versions with the same checksum are identical."""
    created_by: str | None
    created_at: datetime
    definition: VersionDefinition


class VersionDefinition(Model):
    model: str
    temperature: float | None
    """null uses the model's default."""
    instructions: str
    tools: list[Tool]
    memory: MemorySettings
    limits: Limits
    logs: LogSetting
    fallback_models: list[str]
    """Models to try, in this order, when ``model`` fails."""
    runtime: Runtime
    approvals: ApprovalSettings | None = None


class VersionDiff(Model):
    _wire_names: ClassVar[dict[str, str]] = {
        "from_": "from",
    }

    from_: str
    to: str
    same: bool
    changes: list[VersionChange]
    text: str
    """The changes as a unified diff. Where too much differs, one sentence that says so: see ``changes``."""


class VersionChange(Model):
    """``from`` or ``to`` is missing if the field does not exist on that side. A field with more than 1,000 changes within it is one change."""

    _wire_names: ClassVar[dict[str, str]] = {
        "from_": "from",
    }

    path: str
    from_: Any | None = None
    to: Any | None = None


class AddLogsResult(Model):
    added: int
    """Number of entries added."""


class AgentMetrics(Model):
    granularity: Granularity
    timestamps: list[datetime]
    """The beginning of each interval."""
    series: list[AgentMetricSeries]
    has_more: bool
    """Whether there are more agents: without ``agent_ids``, only the newest 100 are included."""


class AgentMetricSeries(Model):
    agent_id: str
    agent_name: str
    metric: Literal["response_time", "throughput", "error_rate", "tokens", "cost"]
    unit: str
    values: list[float]
    """One value for each of ``timestamps``."""


class MetricSeries(Model):
    metric: Literal["response_time", "throughput", "error_rate", "tokens", "cost"]
    granularity: Granularity
    statistic: Literal["avg", "p50", "p95", "p99"] | None
    """Which statistic of response_time the values are. null for other metrics."""
    values: list[MetricValue]


class MetricValue(Model):
    timestamp: datetime
    value: float
    unit: str


class SearchMemoryResult(Model):
    data: list[MemoryHit]
    pagination: Pagination
    search: SearchReport


class MemoryHit(Model):
    id: str
    content: str
    user_id: str | None
    """The user that the memory belongs to. null if it belongs to no user."""
    session_id: str | None
    source_request_id: str | None
    """The run that stored the memory. null if it was added through the API."""
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    """When the content was last stored. The same content of the same user is one memory."""
    score: float
    """Sum of the contributions. Only comparable within one search."""
    score_parts: MemoryHitScoreParts


class MemoryHitScoreParts(Model):
    vector: VectorPart | None
    """null if the vector search did not find it."""
    text: TextPart | None
    """null if the text search did not find it."""


class VectorPart(Model):
    rank: int
    """Rank among the results of the vector search, starting at 1."""
    similarity: float
    """Cosine similarity of query and memory. 1 means identical."""
    contribution: float
    """What this part adds to the score."""


class TextPart(Model):
    rank: int
    """Rank among the results of the text search, starting at 1."""
    coverage: float
    """Share of the query's words that the memory contains, from 0 to 1. Rare words count more."""
    words: list[str]
    """The words that matched, in their indexed form."""
    contribution: float
    """What this part adds to the score."""


class Pagination(Model):
    limit: int
    offset: int
    total: int
    """Number of items on all pages."""
    has_more: bool


class SearchReport(Model):
    mode: SearchMode
    """How the search was done. ``text`` if the embedder was not available."""
    exact: bool
    """Whether every candidate was compared. Large memories are searched with an approximate index."""
    notice: str | None
    """Note about this search, such as why only the text search was used."""


class Memory(Model):
    id: str
    content: str
    user_id: str | None
    """The user that the memory belongs to. null if it belongs to no user."""
    session_id: str | None
    source_request_id: str | None
    """The run that stored the memory. null if it was added through the API."""
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    """When the content was last stored. The same content of the same user is one memory."""


class MemoryClear(Model):
    id: str
    status: Literal["running", "completed"]
    """While it is ``running``, the memories it removes are already hidden."""
    memories_deleted: int
    """Memories deleted so far."""
    messages_deleted: int
    """Session messages deleted so far."""
    user_id: str | None
    session_id: str | None
    before: datetime | None
    created_at: datetime
    completed_at: datetime | None


class MemoryStatus(Model):
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


class MemoryStatusEmbedder(Model):
    """The model that embeds the agent's memories."""

    model: str
    dimensions: int


class DeleteMemoryResult(Model):
    id: str
    deleted: Literal[True]


class WebhookWithSecret(Model):
    id: str
    agent_id: str | None
    """The only agent whose events are delivered. null: all agents."""
    url: str
    headers: dict[str, Any]
    """Headers of every delivery, with references to secrets."""
    events: list[str]
    approval_links: bool
    """Whether deliveries have links that decide on approvals."""
    status: WebhookStatus
    disabled_reason: str | None
    """Why Perch disabled the webhook. null if it is enabled, or if you disabled it."""
    failing_since: datetime | None
    """Time since which every attempt has failed. null if the last attempt succeeded."""
    previous_secret_expires_at: datetime | None
    """Until when deliveries are signed with the previous secret too."""
    created_by: str | None
    created_at: datetime
    updated_at: datetime
    secret: str
    """The signing secret. Shown only once."""


class Webhook(Model):
    id: str
    agent_id: str | None
    """The only agent whose events are delivered. null: all agents."""
    url: str
    headers: dict[str, Any]
    """Headers of every delivery, with references to secrets."""
    events: list[str]
    approval_links: bool
    """Whether deliveries have links that decide on approvals."""
    status: WebhookStatus
    disabled_reason: str | None
    """Why Perch disabled the webhook. null if it is enabled, or if you disabled it."""
    failing_since: datetime | None
    """Time since which every attempt has failed. null if the last attempt succeeded."""
    previous_secret_expires_at: datetime | None
    """Until when deliveries are signed with the previous secret too."""
    created_by: str | None
    created_at: datetime
    updated_at: datetime


class DeleteWebhookResult(Model):
    id: str
    deleted: Literal[True]


class Delivery(Model):
    id: str
    webhook_id: str
    event_id: str
    event_type: EventType
    status: DeliveryStatus
    attempts: int
    """Number of attempts made."""
    next_attempt_at: datetime | None
    """When the next attempt is due. null if there will be none."""
    status_code: int | None
    """HTTP status of the last attempt. null if there was no response."""
    error: str | None
    """Why the last attempt failed. null if it succeeded."""
    redelivery_of: str | None
    """The delivery that this one repeats."""
    created_at: datetime
    finished_at: datetime | None


class DeliveryWithAttempts(Model):
    id: str
    webhook_id: str
    event_id: str
    event_type: EventType
    status: DeliveryStatus
    attempts: int
    """Number of attempts made."""
    next_attempt_at: datetime | None
    """When the next attempt is due. null if there will be none."""
    status_code: int | None
    """HTTP status of the last attempt. null if there was no response."""
    error: str | None
    """Why the last attempt failed. null if it succeeded."""
    redelivery_of: str | None
    """The delivery that this one repeats."""
    created_at: datetime
    finished_at: datetime | None
    attempt_log: list[DeliveryAttempt]


class DeliveryAttempt(Model):
    number: int
    attempted_at: datetime
    duration_ms: int
    status_code: int | None
    error: str | None
    """Why the attempt failed. null if it succeeded."""
    response: str | None
    """Start of the response body, at most 1 KiB."""


class RedeliverFailedResult(Model):
    queued: int
    """How many deliveries were created."""
    has_more: bool


class CreatedApiKey(Model):
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
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    """May be a few seconds out of date."""
    revoked_at: datetime | None
    key: str


class ApiKey(Model):
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
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    """May be a few seconds out of date."""
    revoked_at: datetime | None


class RevokeKeyResult(Model):
    id: str
    revoked_at: datetime


class MfaEnrolmentToken(Model):
    key_id: str
    token: str
    """Works only with this key. Shown only once."""
    expires_at: datetime


class RevokeLeakedKeyResult(Model):
    id: str
    revoked_at: datetime


class Me(Model):
    organisation: MeOrganisation
    key: MeKey
    """The API key of the request. For a person, what a key with the person's role would be."""
    session: CurrentSession | None
    """The session in the console; null for a request with an API key."""
    usage: Usage | None
    """What the organisation has, and how much its tier allows. null for a key that belongs to one agent."""
    limits: TierLimits
    """What else the tier allows."""


class MeOrganisation(Model):
    id: str
    name: str
    tier: Tier


class MeKey(Model):
    """The API key of the request. For a person, what a key with the person's role would be."""

    name: str
    agent_id: str | None
    """The only agent that this key can access. null: all agents of the organisation."""
    role: Role | None
    """The role that the key was created with, if any."""
    permissions: list[Permission]
    expires_at: datetime | None
    id: str
    """Id of the key; for a person who signed in to the console, of the session."""
    second_factor: bool
    """Whether the key has a confirmed second factor. A person has none here."""


class CurrentSession(Model):
    id: str
    expires_at: datetime
    csrf_token: str
    """Goes into the header ``X-CSRF-Token`` of every change that the session makes."""
    person: SignedInPerson | None
    organisations: list[CurrentSessionOrganisationsItem]
    """Organisations that the session's owner can sign in to."""


class SignedInPerson(Model):
    subject: str
    """The person's id at the issuer that signed the person in."""
    name: str | None
    email: str | None


class CurrentSessionOrganisationsItem(Model):
    id: str
    name: str
    role: Role | None


class Usage(Model):
    agents: Use
    keys: Use
    """API keys that are active."""
    webhooks: Use
    providers: Use
    """Model providers of your own."""
    secrets: Use
    """Secrets of the organisation and of its agents."""
    waiting_runs: Use
    """Runs that wait for a person, or for a turn before theirs that does."""
    connections: Use
    """Accounts that users connected, those that were not confirmed or were revoked lately included."""
    memory_bytes: Use
    """Texts and metadata of memories."""
    record_bytes: Use
    """Messages, responses, sessions, events, logs, contents of runs, deliveries and answers for retries of the last 30 days."""


class Use(Model):
    used: int
    limit: int


class TierLimits(Model):
    requests_per_minute: int
    burst: int
    """Requests at once."""
    calls_per_minute: int
    """Calls to tools, MCP servers, remote agents and authorization servers. Half of them may be made at once."""
    concurrent_runs: int
    log_days: int
    """How far back logs and metrics can be read."""
    versions_per_agent: int
    deployments_per_agent: int
    """How many are kept. Those that ended first make room for new ones."""
    memories_per_agent: int
    """The oldest make room for new ones."""


class Organisation(Model):
    id: str
    name: str
    tier: Tier
    manage_grants_approve: bool
    """Whether a caller with ``manage`` may give ``approve`` without having it: to a key, or to the receiver of a webhook's ``approval_links``. The default is true."""


class ModelEntry(Model):
    id: str
    """Value for an agent's ``model``. ``provider/*`` stands for all models of the provider."""
    provider: str
    source: Literal["built-in", "installation", "organisation"]
    """Where the model comes from: built into Perch, the server's configuration, or your organisation's providers."""


class Provider(Model):
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
    created_at: datetime
    updated_at: datetime


class DeleteProviderResult(Model):
    name: str
    deleted: Literal[True]


class Secret(Model):
    name: str
    agent_id: str | None
    """The only agent that can use the secret. null: all agents."""
    hosts: list[str]
    approval: Literal["required"] | None
    """``required``: only HTTP tools use the secret, and a person approves every call of them, whatever a version of an agent says. null: the agent decides."""
    created_by: str | None
    created_at: datetime
    updated_by: str | None
    """The key that changed the secret last."""
    updated_at: datetime
    last_used_at: datetime | None
    """When a call last asked for the secret. May be a minute out of date."""


class DeleteSecretResult(Model):
    name: str
    deleted: Literal[True]


class DeleteAgentSecretResult(Model):
    name: str
    deleted: Literal[True]


class AuditEntry(Model):
    id: str
    created_at: datetime
    actor: Literal["key", "oauth", "jwt", "person", "operator", "system", "public"]
    """How the caller was authenticated. ``key``: an API key. ``oauth`` or ``jwt``: an API key and a user's token. ``person``: a person who signed in to the console. ``operator``: a command on the server. ``system``: Perch itself, such as a guard that rolled a canary back. ``public``: not at all."""
    key_id: str | None
    user_id: str | None
    """The user that the token names, if the request had one."""
    person: str | None
    """The person who signed in to the console: the id at the issuer, after the email address if there is one, as in ``ada@example.com (248289761001)``."""
    session_id: str | None
    """The session in the console, if the request came from one."""
    operation: str
    """The operation's id in this document, such as ``updateAgent``, the operator's command, ``recheckPerson`` where the issuer of people changed the role of a session, or ``rollBackCanary`` where a canary broke its guards."""
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


class AuditDetails(Model):
    fields: list[str] | None = None
    """Names of the fields in the request, never their values."""
    reason: str | None = None
    """Error code of a refused request."""


class Erasure(Model):
    id: str
    status: Literal["running", "completed"]
    user_id: str | None
    """The user, in the answer to the request for the erasure alone. Afterwards null: Perch forgets it too."""
    created_at: datetime
    """Runs and entries that were accepted later are not erased."""
    completed_at: datetime | None
    receipt: ErasureReceipt | None
    """What was removed, from the completion on."""


class ErasureReceipt(Model):
    removed: list[ErasedPart]
    expires: list[ExpiringPart]
    """Copies that no erasure reaches and that expire."""
    not_covered: list[str]
    """What left Perch earlier, and what Perch cannot tell to be the user's."""


class ErasedPart(Model):
    store: Literal["database", "engine", "streams"]
    """``database``: PostgreSQL. ``engine``: what the engine keeps of runs. ``streams``: events of runs that can be followed."""
    data: str
    """The kind of data, such as ``memories`` or ``log entries``."""
    action: Literal["deleted", "redacted"]
    """``redacted``: rows that are still counted and listed stay, without the user's id and texts."""
    count: int
    """Number of rows or entries."""


class ExpiringPart(Model):
    store: str
    """``database`` or ``engine``."""
    data: str
    expires: str
    """When it goes by itself, in words."""


class MfaEnrolment(Model):
    secret: str
    """The shared secret, in base32. Shown only once."""
    otpauth_url: str
    recovery_codes: list[str]
    """Codes for when the device is lost. Each works once. Shown only once."""


class ConfirmMfaResult(Model):
    confirmed_at: datetime


class StepUpToken(Model):
    token: str
    expires_at: datetime


class RemoveMfaResult(Model):
    removed: Literal[True]


class SignInMethods(Model):
    api_key: Literal[True]
    person: SignInMethodsPerson | None
    """null: the installation has no issuer, so people sign in with API keys."""


class SignInMethodsPerson(Model):
    name: str
    """What the installation calls its issuer."""


class CreatedConsoleSession(Model):
    id: str
    current: bool
    """Whether this is the session of the request."""
    key_id: str | None
    """The API key that signed in; null for a person."""
    person: SignedInPerson | None
    """The person who signed in; null for an API key."""
    role: Role | None
    """Role of the person or of the key; null for a key with permissions of its own."""
    permissions: list[Permission]
    """What the session may do: what the key may do, or what the person's groups allow."""
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    address: str
    """IP address that signed in."""
    user_agent: str | None
    """What the browser called itself."""
    csrf_token: str
    """Goes into the header ``X-CSRF-Token`` of every change that the session makes."""


class ConsoleSession(Model):
    id: str
    current: bool
    """Whether this is the session of the request."""
    key_id: str | None
    """The API key that signed in; null for a person."""
    person: SignedInPerson | None
    """The person who signed in; null for an API key."""
    role: Role | None
    """Role of the person or of the key; null for a key with permissions of its own."""
    permissions: list[Permission]
    """What the session may do: what the key may do, or what the person's groups allow."""
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    address: str
    """IP address that signed in."""
    user_agent: str | None
    """What the browser called itself."""


class ConsoleLink(Model):
    id: str
    """Of the session that the link begins."""
    url: str
    expires_at: datetime


class EndConsoleSessionResult(Model):
    id: str
    ended_at: datetime


class Installation(Model):
    version: str
    """Of the node that answered."""
    node: InstallationNode
    """The node that answered. Another one may see the parts differently."""
    checked_at: datetime
    """When the parts were asked. A node asks them at most every 2 seconds."""
    parts: list[InstallationPart]
    database: InstallationDatabase | None
    """null if it is silent."""
    engine: InstallationEngine
    valkey: InstallationValkey
    """Rate limits, slots of runs, and streams."""
    releases: list[InstalledRelease] | None
    """Newest first; null if no admin address of the engine answers, or if the engine has not counted their runs yet. Where counting takes long, it is done seldom, and ``runs`` may be minutes old."""


class InstallationNode(Model):
    """The node that answered. Another one may see the parts differently."""

    name: str
    """Its host name."""
    started_at: datetime


class InstallationPart(Model):
    name: Literal["database", "engine", "engine_admin", "workers", "valkey"]
    """``engine`` is one node of the engine as API nodes call it, and ``engine_admin`` one as workers register there. ``workers`` are those that new runs go to, as the engine reaches them."""
    address: str | None
    """Host and port, without a user or a password."""
    status: Literal["ok", "degraded", "silent", "unknown", "not_configured"]
    """``degraded``: it answers, and something is to be done. ``silent``: it did not answer this node within 2 seconds. ``unknown``: only the engine can say it of the workers, and did not."""
    latency_ms: int | None
    """How long the answer took; null if there was none."""
    message: str | None
    """What is wrong or different; null if nothing is."""


class InstallationDatabase(Model):
    pending_migrations: list[str]
    size_bytes: int | None
    oldest_transaction_seconds: float | None
    """Of the server's role; null if there is none beside the one that asks."""
    connections_open: int
    """Of the node that answered, like the other numbers of connections."""
    connections_in_use: int
    connections_max: int
    requests_waiting: int
    """Queries and transactions that wait for a connection."""


class InstallationEngine(Model):
    invocations: InstallationEngineInvocations | None
    """Runs and other invocations that have not ended; null if no admin address of the engine answers, or if the engine has not counted them yet. Where counting takes long, it is done seldom, and the numbers may be minutes old."""
    tasks_waiting: int | None
    """Tasks that were committed more than 5 seconds ago and that the engine does not have yet, 1,000 at most; null if the database is silent."""


class InstallationEngineInvocations(Model):
    running: int
    queued: int
    """Could run now, and have not begun."""
    retrying: int
    """Failed, and wait for their next attempt."""
    suspended: int
    """Wait for something, or for a later time."""


class InstallationValkey(Model):
    """Rate limits, slots of runs, and streams."""

    memory_bytes: int | None
    limits: Literal["shared", "per_node"]
    """``per_node``: each node counts for itself, because there is no Valkey or it is silent."""


class InstalledRelease(Model):
    release: str | None
    """null: a version before 0.2.0, which did not say its name."""
    turn: int | None
    """Counts the releases that took new runs; the highest one does now."""
    since: datetime
    """When it began to take new runs."""
    runs: int
    """Runs, and other invocations, that can end only there."""
    state: InstalledReleaseState
    """``ends_its_runs``: its workers must stay until ``runs`` is 0. ``superseded``: another release took over just now. ``can_be_retired``: nothing needs it any more."""
    deployment_id: str | None
    """The engine's id of its address, for ``perch-server retire``."""
    address: str | None
    """Where the engine calls its workers."""


class StartedRun(Model):
    request_id: str
    status: Literal["running", "waiting"]
    approvals: list[str] | None = None
    """With ``waiting``: what the run waits for."""


ToolConnection = ToolConnectionUser | ToolConnectionAgent
Tool = McpTool | HttpTool | AskPersonTool
Runtime = RuntimeModel | RuntimeHttp
RedactedAgentAuth = RedactedAgentAuthOauth2 | RedactedAgentAuthJwt

decodes(
    Event,
    created_at=timestamp,
)
decodes(
    McpApprovalPolicy,
    when=each(one(ApprovalCondition)),
)
decodes(
    McpTool,
    connection=by_field("account", {"user": ToolConnectionUser, "agent": ToolConnectionAgent}),
    approval=one(McpApprovalPolicy),
)
decodes(
    ApprovalPolicy,
    when=each(one(ApprovalCondition)),
)
decodes(
    HttpTool,
    connection=by_field("account", {"user": ToolConnectionUser, "agent": ToolConnectionAgent}),
    approval=one(ApprovalPolicy),
)
decodes(
    MemorySettings,
    embedder=one(EmbedderSettings),
)
decodes(
    SecuritySettings,
    ip_whitelist=one(SecuritySettingsIpWhitelist),
    mtls=one(SecuritySettingsMtls),
    hsts=one(SecuritySettingsHsts),
    rate_limit=one(SecuritySettingsRateLimit),
    mfa=one(SecuritySettingsMfa),
    approvals=one(SecuritySettingsApprovals),
)
decodes(
    Agent,
    created_at=timestamp,
    tools=each(by_field("type", {"mcp": McpTool, "http": HttpTool, "ask_person": AskPersonTool})),
    memory=one(MemorySettings),
    limits=one(Limits),
    runtime=by_field("type", {"model": RuntimeModel, "http": RuntimeHttp}),
    approvals=one(ApprovalSettings),
    security=one(SecuritySettings),
    auth=by_field("type", {"oauth2": RedactedAgentAuthOauth2, "jwt": RedactedAgentAuthJwt}),
    updated_at=timestamp,
)
decodes(
    AgentSummary,
    created_at=timestamp,
)
decodes(
    InvocationSummary,
    created_at=timestamp,
    finished_at=timestamp,
)
decodes(
    InvocationOfAnyAgent,
    created_at=timestamp,
    finished_at=timestamp,
)
decodes(
    LogEntry,
    timestamp=timestamp,
)
decodes(
    Invocation,
    created_at=timestamp,
    finished_at=timestamp,
    timeline=each(one(LogEntry)),
)
decodes(
    RunStep,
    started_at=timestamp,
)
decodes(
    ApprovalSummaryApprovedByItem,
    by=one(Decider),
    at=timestamp,
)
decodes(
    ApprovalSummary,
    approved_by=each(one(ApprovalSummaryApprovedByItem)),
    created_at=timestamp,
    expires_at=timestamp,
    decided_at=timestamp,
    decided_by=one(Decider),
)
decodes(
    ApprovalApprovedByItem,
    by=one(Decider),
    at=timestamp,
)
decodes(
    ApprovalContentsHistoryItem,
    calls=each(one(ApprovalContentsHistoryItemCallsItem)),
)
decodes(
    ApprovalContents,
    history=each(one(ApprovalContentsHistoryItem)),
)
decodes(
    Approval,
    approved_by=each(one(ApprovalApprovedByItem)),
    created_at=timestamp,
    expires_at=timestamp,
    decided_at=timestamp,
    decided_by=one(Decider),
    contents=one(ApprovalContents),
)
decodes(
    ConnectionWithLink,
    created_at=timestamp,
    connected_at=timestamp,
    last_used_at=timestamp,
    last_refreshed_at=timestamp,
    revoked_at=timestamp,
    link_expires_at=timestamp,
)
decodes(
    Connection,
    created_at=timestamp,
    connected_at=timestamp,
    last_used_at=timestamp,
    last_refreshed_at=timestamp,
    revoked_at=timestamp,
)
decodes(
    AgentCheck,
    problems=each(one(AgentProblem)),
)
decodes(
    GuardReport,
    checked_at=timestamp,
    canary=one(DeploymentStats),
    live=one(DeploymentStats),
)
decodes(
    Deployment,
    guards=one(Guards),
    guard_report=one(GuardReport),
    created_at=timestamp,
    activated_at=timestamp,
    ended_at=timestamp,
)
decodes(
    DeploymentOfAnyAgent,
    guards=one(Guards),
    guard_report=one(GuardReport),
    created_at=timestamp,
    activated_at=timestamp,
    ended_at=timestamp,
)
decodes(
    VersionSummary,
    created_at=timestamp,
)
decodes(
    VersionDefinition,
    tools=each(by_field("type", {"mcp": McpTool, "http": HttpTool, "ask_person": AskPersonTool})),
    memory=one(MemorySettings),
    limits=one(Limits),
    runtime=by_field("type", {"model": RuntimeModel, "http": RuntimeHttp}),
    approvals=one(ApprovalSettings),
)
decodes(
    Version,
    created_at=timestamp,
    definition=one(VersionDefinition),
)
decodes(
    VersionDiff,
    changes=each(one(VersionChange)),
)
decodes(
    AgentMetrics,
    timestamps=each(timestamp),
    series=each(one(AgentMetricSeries)),
)
decodes(
    MetricValue,
    timestamp=timestamp,
)
decodes(
    MetricSeries,
    values=each(one(MetricValue)),
)
decodes(
    MemoryHitScoreParts,
    vector=one(VectorPart),
    text=one(TextPart),
)
decodes(
    MemoryHit,
    created_at=timestamp,
    updated_at=timestamp,
    score_parts=one(MemoryHitScoreParts),
)
decodes(
    SearchMemoryResult,
    data=each(one(MemoryHit)),
    pagination=one(Pagination),
    search=one(SearchReport),
)
decodes(
    Memory,
    created_at=timestamp,
    updated_at=timestamp,
)
decodes(
    MemoryClear,
    before=timestamp,
    created_at=timestamp,
    completed_at=timestamp,
)
decodes(
    MemoryStatus,
    embedder=one(MemoryStatusEmbedder),
)
decodes(
    WebhookWithSecret,
    failing_since=timestamp,
    previous_secret_expires_at=timestamp,
    created_at=timestamp,
    updated_at=timestamp,
)
decodes(
    Webhook,
    failing_since=timestamp,
    previous_secret_expires_at=timestamp,
    created_at=timestamp,
    updated_at=timestamp,
)
decodes(
    Delivery,
    next_attempt_at=timestamp,
    created_at=timestamp,
    finished_at=timestamp,
)
decodes(
    DeliveryAttempt,
    attempted_at=timestamp,
)
decodes(
    DeliveryWithAttempts,
    next_attempt_at=timestamp,
    created_at=timestamp,
    finished_at=timestamp,
    attempt_log=each(one(DeliveryAttempt)),
)
decodes(
    CreatedApiKey,
    created_at=timestamp,
    expires_at=timestamp,
    last_used_at=timestamp,
    revoked_at=timestamp,
)
decodes(
    ApiKey,
    created_at=timestamp,
    expires_at=timestamp,
    last_used_at=timestamp,
    revoked_at=timestamp,
)
decodes(
    RevokeKeyResult,
    revoked_at=timestamp,
)
decodes(
    MfaEnrolmentToken,
    expires_at=timestamp,
)
decodes(
    RevokeLeakedKeyResult,
    revoked_at=timestamp,
)
decodes(
    MeKey,
    expires_at=timestamp,
)
decodes(
    CurrentSession,
    expires_at=timestamp,
    person=one(SignedInPerson),
    organisations=each(one(CurrentSessionOrganisationsItem)),
)
decodes(
    Usage,
    agents=one(Use),
    keys=one(Use),
    webhooks=one(Use),
    providers=one(Use),
    secrets=one(Use),
    waiting_runs=one(Use),
    connections=one(Use),
    memory_bytes=one(Use),
    record_bytes=one(Use),
)
decodes(
    Me,
    organisation=one(MeOrganisation),
    key=one(MeKey),
    session=one(CurrentSession),
    usage=one(Usage),
    limits=one(TierLimits),
)
decodes(
    Provider,
    created_at=timestamp,
    updated_at=timestamp,
)
decodes(
    Secret,
    created_at=timestamp,
    updated_at=timestamp,
    last_used_at=timestamp,
)
decodes(
    AuditEntry,
    created_at=timestamp,
    details=one(AuditDetails),
)
decodes(
    ErasureReceipt,
    removed=each(one(ErasedPart)),
    expires=each(one(ExpiringPart)),
)
decodes(
    Erasure,
    created_at=timestamp,
    completed_at=timestamp,
    receipt=one(ErasureReceipt),
)
decodes(
    ConfirmMfaResult,
    confirmed_at=timestamp,
)
decodes(
    StepUpToken,
    expires_at=timestamp,
)
decodes(
    SignInMethods,
    person=one(SignInMethodsPerson),
)
decodes(
    CreatedConsoleSession,
    person=one(SignedInPerson),
    created_at=timestamp,
    expires_at=timestamp,
    last_used_at=timestamp,
)
decodes(
    ConsoleSession,
    person=one(SignedInPerson),
    created_at=timestamp,
    expires_at=timestamp,
    last_used_at=timestamp,
)
decodes(
    ConsoleLink,
    expires_at=timestamp,
)
decodes(
    EndConsoleSessionResult,
    ended_at=timestamp,
)
decodes(
    InstallationNode,
    started_at=timestamp,
)
decodes(
    InstallationEngine,
    invocations=one(InstallationEngineInvocations),
)
decodes(
    InstalledRelease,
    since=timestamp,
)
decodes(
    Installation,
    node=one(InstallationNode),
    checked_at=timestamp,
    parts=each(one(InstallationPart)),
    database=one(InstallationDatabase),
    engine=one(InstallationEngine),
    valkey=one(InstallationValkey),
    releases=each(one(InstalledRelease)),
)
