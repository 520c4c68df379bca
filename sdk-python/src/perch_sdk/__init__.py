"""The Python client of Perch, an agent hosting service.

>>> from perch_sdk import Perch
>>> perch = Perch(api_key, base_url="https://perch.example")  # doctest: +SKIP
>>> perch.agents.invoke("support-bot", message="Where is my order?")["response"]  # doctest: +SKIP
"""

from . import webhooks
from ._call import OMIT, Omit
from ._client import AsyncPerch, Perch
from ._errors import (
    ApiError,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    PayloadTooLargeError,
    PerchConnectionError,
    PerchError,
    PreconditionFailedError,
    RateLimitedError,
    RequestVerificationError,
    RequestVerificationReason,
    RunFailedError,
    ServerError,
    StillRunningError,
    UnauthorizedError,
    UnavailableError,
    WebhookVerificationError,
)
from ._etags import etag_of
from ._generated import models
from ._pages import AsyncPager, Page, PageInfo, Pager
from ._replay import AsyncReplayStore, MemoryReplayStore, ReplayStore
from ._run_events import Done, Dropped, RunEvent, Step, Token, ToolCall
from ._signed_components import RequestHeaders
from ._streams import AsyncEventStream, AsyncRunStream, EventStream, RunStream
from ._verify_request import VerifiedRequest, verify_request, verify_request_async
from ._version import __version__

__all__ = [
    "OMIT",
    "ApiError",
    "AsyncEventStream",
    "AsyncPager",
    "AsyncPerch",
    "AsyncReplayStore",
    "AsyncRunStream",
    "ConflictError",
    "Done",
    "Dropped",
    "EventStream",
    "ForbiddenError",
    "InvalidRequestError",
    "MemoryReplayStore",
    "NotFoundError",
    "Omit",
    "Page",
    "PageInfo",
    "Pager",
    "PayloadTooLargeError",
    "Perch",
    "PerchConnectionError",
    "PerchError",
    "PreconditionFailedError",
    "RateLimitedError",
    "ReplayStore",
    "RequestHeaders",
    "RequestVerificationError",
    "RequestVerificationReason",
    "RunEvent",
    "RunFailedError",
    "RunStream",
    "ServerError",
    "Step",
    "StillRunningError",
    "Token",
    "ToolCall",
    "UnauthorizedError",
    "UnavailableError",
    "VerifiedRequest",
    "WebhookVerificationError",
    "__version__",
    "etag_of",
    "models",
    "verify_request",
    "verify_request_async",
    "webhooks",
]
