"""The Python client of Perch, an agent hosting service.

>>> from perch_sdk import Perch
>>> perch = Perch(api_key, base_url="https://perch.example")  # doctest: +SKIP
>>> perch.agents.invoke("support-bot", message="Where is my order?").response  # doctest: +SKIP
"""

from . import models, params, webhooks
from ._call import OMIT, Omit
from ._client import AsyncPerch, Perch
from ._errors import (
    ActionRequiredError,
    ConflictError,
    ConnectionError,
    DeploymentFailedError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    PayloadTooLargeError,
    PerchError,
    PreconditionFailedError,
    RateLimitedError,
    RequestVerificationError,
    RequestVerificationReason,
    RunCancelledError,
    RunFailedError,
    ServerError,
    StillRunningError,
    TimeoutError,
    UnauthorizedError,
    UnavailableError,
    WebhookVerificationError,
)
from ._model import Model, Unrecognised, etag_of
from ._pages import AsyncPageList, Page, PageInfo, PageList
from ._replay import AsyncReplayStore, MemoryReplayStore, ReplayStore
from ._run_events import (
    RequiredAction,
    RunActionRequired,
    RunDone,
    RunDropped,
    RunStepEvent,
    RunStreamEvent,
    RunToken,
    RunTool,
)
from ._signed_components import RequestHeaders
from ._streams import AsyncEventStream, AsyncRunStream, EventStream, RunStream
from ._verify_request import VerifiedRequest, verify_request, verify_request_async
from ._version import __version__

__all__ = [
    "OMIT",
    "ActionRequiredError",
    "AsyncEventStream",
    "AsyncPageList",
    "AsyncPerch",
    "AsyncReplayStore",
    "AsyncRunStream",
    "ConflictError",
    "ConnectionError",
    "DeploymentFailedError",
    "EventStream",
    "ForbiddenError",
    "InvalidRequestError",
    "MemoryReplayStore",
    "Model",
    "NotFoundError",
    "Omit",
    "Page",
    "PageInfo",
    "PageList",
    "PayloadTooLargeError",
    "Perch",
    "PerchError",
    "PreconditionFailedError",
    "RateLimitedError",
    "ReplayStore",
    "RequestHeaders",
    "RequestVerificationError",
    "RequestVerificationReason",
    "RequiredAction",
    "RunActionRequired",
    "RunCancelledError",
    "RunDone",
    "RunDropped",
    "RunFailedError",
    "RunStepEvent",
    "RunStream",
    "RunStreamEvent",
    "RunToken",
    "RunTool",
    "ServerError",
    "StillRunningError",
    "TimeoutError",
    "UnauthorizedError",
    "UnavailableError",
    "Unrecognised",
    "VerifiedRequest",
    "WebhookVerificationError",
    "__version__",
    "etag_of",
    "models",
    "params",
    "verify_request",
    "verify_request_async",
    "webhooks",
]
