"""What callers give as dictionaries. Made by generate.py from openapi.json: do not edit."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from . import models as m

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

__all__ = [
    "AgentAuthJwtParam",
    "AgentAuthOauth2Param",
    "AgentAuthParam",
    "ApprovalConditionParam",
    "ApprovalPolicyParam",
    "ApprovalSettingsParam",
    "AskPersonToolParam",
    "EmbedderSettingsParam",
    "HttpToolParam",
    "InvocationContextParam",
    "LimitsPatchParam",
    "McpApprovalPolicyParam",
    "McpToolParam",
    "MemorySettingsPatchParam",
    "NewGuardsParam",
    "NewLogEntryParam",
    "RuntimeHttpParam",
    "RuntimeModelParam",
    "RuntimeParam",
    "SecuritySettingsPatchApprovalsParam",
    "SecuritySettingsPatchHstsParam",
    "SecuritySettingsPatchIpWhitelistParam",
    "SecuritySettingsPatchMfaParam",
    "SecuritySettingsPatchMtlsParam",
    "SecuritySettingsPatchParam",
    "SecuritySettingsPatchRateLimitParam",
    "ToolConnectionAgentParam",
    "ToolConnectionParam",
    "ToolConnectionUserParam",
    "ToolParam",
]


class McpToolParam(TypedDict):
    type: Literal["mcp"]
    name: str
    url: str
    """URL of the MCP server (Streamable HTTP)."""
    headers: NotRequired[dict[str, Any]]
    """Headers to send. A value may refer to secrets: ``Bearer {{secret.github_token}}``."""
    connection: NotRequired[ToolConnectionParam]
    approval: NotRequired[Literal["never", "always", "destructive"] | McpApprovalPolicyParam | m.McpApprovalPolicy]
    tool_approvals: NotRequired[dict[str, Any]]
    """For single tools, by the server's own name for them: takes precedence over ``approval``. If the server does not list one that needs approval, all tools without a policy here need it."""


class ToolConnectionUserParam(TypedDict):
    account: Literal["user"]
    """The account of the run's own user, who has consented to it."""
    issuer: NotRequired[str]
    """URL of the authorization server. Left out: the tool's server names it in its protected-resource metadata (RFC 9728)."""
    scopes: NotRequired[Sequence[str]]
    """Scopes to ask for. Left out: those that the tool's server names, if it names any."""
    resource: NotRequired[str]
    """What the tokens are for (RFC 8707). The default is the ``url`` of an MCP server, and what its metadata says of an HTTP tool."""
    client_id: NotRequired[str]
    """Your client at the authorization server. Left out: Perch presents a client id metadata document, or registers itself where the server offers only that."""
    client_secret: NotRequired[str]
    """``{{secret.name}}``: a secret whose ``hosts`` name the authorization server's token endpoint. Left out: a public client."""
    return_urls: Sequence[str]
    """Addresses of your application that a person may return to, with a code to confirm. ``return_url`` must equal one of them."""


class ToolConnectionAgentParam(TypedDict):
    account: Literal["agent"]
    """The agent's own account, by client credentials. No user is asked."""
    issuer: NotRequired[str]
    """URL of the authorization server. Left out: the tool's server names it in its protected-resource metadata (RFC 9728)."""
    scopes: NotRequired[Sequence[str]]
    """Scopes to ask for. Left out: those that the tool's server names, if it names any."""
    resource: NotRequired[str]
    """What the tokens are for (RFC 8707). The default is the ``url`` of an MCP server, and what its metadata says of an HTTP tool."""
    client_id: str
    client_secret: str
    """``{{secret.name}}``: a secret whose ``hosts`` name the authorization server's token endpoint. Left out: a public client."""


class McpApprovalPolicyParam(TypedDict):
    when: NotRequired[Literal["destructive"] | Sequence[ApprovalConditionParam | m.ApprovalCondition]]
    approvers: NotRequired[int]
    """How many different keys or persons must approve. The default is 1. One rejection is enough."""
    second_factor: NotRequired[bool]
    """Whether a decision needs the code of a second factor in ``X-MFA-Code``. The default is false."""
    expires_after_seconds: NotRequired[int]
    """How long a decision may take. Afterwards it counts as rejected. The default is 604800."""
    invoker_may_decide: NotRequired[bool]
    """Whether the key or person that started the run may decide too, and keys that it made or that made it. The default is false."""


class ApprovalConditionParam(TypedDict):
    """A call needs approval where this holds, and also where the argument is missing or of another type than ``value``."""

    argument: str
    """Name of the argument. Dots lead into objects, as in ``order.total``."""
    op: Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in"]
    """How the argument is compared with ``value``."""
    value: str | float | bool | Sequence[str | float | bool]
    """A list for ``in`` and ``not_in``, a number for ``gt``, ``gte``, ``lt`` and ``lte``."""


class HttpToolParam(TypedDict):
    type: Literal["http"]
    name: str
    description: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    url: str
    headers: NotRequired[dict[str, Any]]
    """Headers to send. A value may refer to secrets: ``Bearer {{secret.github_token}}``."""
    query: NotRequired[dict[str, Any]]
    """Query parameters to send. A value may refer to secrets: ``{{secret.maps_key}}``."""
    connection: NotRequired[ToolConnectionParam]
    parameters: dict[str, Any]
    """JSON Schema of the arguments."""
    approval: NotRequired[Literal["never", "always"] | ApprovalPolicyParam | m.ApprovalPolicy]


class ApprovalPolicyParam(TypedDict):
    when: NotRequired[Sequence[ApprovalConditionParam | m.ApprovalCondition]]
    """A call needs approval where any of them holds. Left out: every call does."""
    approvers: NotRequired[int]
    """How many different keys or persons must approve. The default is 1. One rejection is enough."""
    second_factor: NotRequired[bool]
    """Whether a decision needs the code of a second factor in ``X-MFA-Code``. The default is false."""
    expires_after_seconds: NotRequired[int]
    """How long a decision may take. Afterwards it counts as rejected. The default is 604800."""
    invoker_may_decide: NotRequired[bool]
    """Whether the key or person that started the run may decide too, and keys that it made or that made it. The default is false."""


class AskPersonToolParam(TypedDict):
    """Built in: the model asks a question, the run waits, and a person's answer is the result."""

    type: Literal["ask_person"]
    name: str
    """What the model calls it, for example ``ask_person``."""
    description: str
    """When the model is to ask, and whom."""
    answer: dict[str, Any]
    """JSON Schema of the answer."""
    expires_after_seconds: NotRequired[int]
    """How long a decision may take. Afterwards it counts as rejected. The default is 604800."""
    invoker_may_decide: NotRequired[bool]
    """Whether the key or person that started the run may decide too, and keys that it made or that made it. The default is false."""


class MemorySettingsPatchParam(TypedDict):
    recall: NotRequired[bool]
    """Search the agent's memories for each message and give the results to the model."""
    recall_limit: NotRequired[int]
    """Maximum number of memories to give to the model."""
    remember: NotRequired[bool]
    """Store each completed run's message and response as a memory."""
    embedder: NotRequired[EmbedderSettingsParam | m.EmbedderSettings]


class EmbedderSettingsParam(TypedDict):
    """The model that embeds memories. Memory belongs to the agent, not to a version, so the draft's embedder is used for all versions. After a change, all memories are embedded again in the background; searches keep working meanwhile."""

    model: str
    """``provider/model``. The built-in ``perch/minilm`` runs in the server and needs no provider."""
    dimensions: Literal[384, 768, 1024, 1536]
    """Size of the model's vectors."""


class LimitsPatchParam(TypedDict):
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


class RuntimeModelParam(TypedDict):
    type: Literal["model"]


class RuntimeHttpParam(TypedDict):
    type: Literal["http"]
    url: str
    headers: NotRequired[dict[str, Any]]
    """Headers to send. A value may refer to secrets: ``Bearer {{secret.github_token}}``."""


class ApprovalSettingsParam(TypedDict):
    while_waiting: Literal["refuse", "queue"]
    """What happens to the next message of a session while a run of it waits for a person: it is refused, or it waits until that run has ended. The default is ``refuse``."""


class SecuritySettingsPatchParam(TypedDict):
    ipWhitelist: NotRequired[SecuritySettingsPatchIpWhitelistParam | m.SecuritySettingsIpWhitelist | None]
    mtls: NotRequired[SecuritySettingsPatchMtlsParam | m.SecuritySettingsMtls | None]
    enforceHttps: NotRequired[bool | None]
    hsts: NotRequired[SecuritySettingsPatchHstsParam | m.SecuritySettingsHsts | None]
    rateLimit: NotRequired[SecuritySettingsPatchRateLimitParam | m.SecuritySettingsRateLimit | None]
    mfa: NotRequired[SecuritySettingsPatchMfaParam | m.SecuritySettingsMfa | None]
    approvals: NotRequired[SecuritySettingsPatchApprovalsParam | m.SecuritySettingsApprovals | None]


class SecuritySettingsPatchIpWhitelistParam(TypedDict):
    enabled: bool
    addresses: Sequence[str]


class SecuritySettingsPatchMtlsParam(TypedDict):
    enabled: bool
    clientCert: str
    clientKey: str
    caCert: str


class SecuritySettingsPatchHstsParam(TypedDict):
    enabled: bool
    maxAge: int
    """Seconds."""


class SecuritySettingsPatchRateLimitParam(TypedDict):
    enabled: bool
    requests: int
    window: str


class SecuritySettingsPatchMfaParam(TypedDict):
    enabled: bool
    operations: Sequence[Literal["delete", "update"]]


class SecuritySettingsPatchApprovalsParam(TypedDict):
    """Calls that a person must approve, whatever a version says. A version can only ask for more: more approvers, a second factor, or another time to decide."""

    tools: NotRequired[Sequence[str]]
    """Names of tools: that of an HTTP tool, of an MCP server for all of its tools, or a server's own name for one tool."""
    hosts: NotRequired[Sequence[str]]
    """Hosts: calls of HTTP tools and MCP servers there, on any port. There are no wildcards."""


class AgentAuthOauth2Param(TypedDict):
    type: Literal["oauth2"]
    provider: str
    """URL of the issuer. Its ``/.well-known/openid-configuration`` is used for discovery."""
    clientId: str
    scopes: Sequence[m.RedactedAgentAuthOauth2ScopesItem]
    """Scopes that are accepted. An operation needs the scope of its permission, such as ``write:agents`` for ``write``."""
    audience: NotRequired[str]
    """Required audience (``aud``) of tokens. The default is ``clientId``."""
    clientSecret: NotRequired[str]
    """For introspection of opaque tokens (RFC 7662)."""


class AgentAuthJwtParam(TypedDict):
    type: Literal["jwt"]
    secret: str
    """HS256 signing secret, at least 32 bytes."""
    previousSecret: NotRequired[str]
    """Previous signing secret, still accepted during a rotation."""


class InvocationContextParam(TypedDict):
    user_id: NotRequired[str]
    """Your id for the user that the agent talks to."""
    session_id: NotRequired[str]
    """Your id for the conversation. Its runs are processed one at a time, in order, and the model sees its earlier messages."""
    environment: NotRequired[str]
    """The environment that handles the message. The default is ``production``."""
    version: NotRequired[str]
    """Run this version instead of the deployed one, to try it out; ``draft`` runs the agent's draft. The key also needs the permission ``read``."""


class NewGuardsParam(TypedDict):
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


class NewLogEntryParam(TypedDict):
    timestamp: NotRequired[str | datetime]
    """When it happened, at most 24 hours ago. The default is now."""
    level: NotRequired[m.LogLevel]
    message: str
    request_id: NotRequired[str]
    """The run that the entry belongs to. ``metadata.request_id`` says the same."""
    metadata: NotRequired[dict[str, Any]]
    """A ``request_id`` in it is the id of the run that the entry belongs to, as in the entries of Get logs."""


ToolConnectionParam = ToolConnectionUserParam | m.ToolConnectionUser | ToolConnectionAgentParam | m.ToolConnectionAgent
ToolParam = McpToolParam | m.McpTool | HttpToolParam | m.HttpTool | AskPersonToolParam | m.AskPersonTool
RuntimeParam = RuntimeModelParam | m.RuntimeModel | RuntimeHttpParam | m.RuntimeHttp
AgentAuthParam = AgentAuthOauth2Param | AgentAuthJwtParam
