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
    RateLimitedError,
    RunStillRunningError,
    ServerError,
    UnauthorizedError,
    UnavailableError,
    WebhookVerificationError,
)
from ._generated import models
from ._pages import AsyncPager, Page, PageInfo, Pager
from ._run_events import Done, Dropped, RunEvent, Token, ToolCall
from ._streams import AsyncEventStream, AsyncRunStream, EventStream, RunStream
from ._version import __version__

__all__ = [
    "OMIT",
    "ApiError",
    "AsyncEventStream",
    "AsyncPager",
    "AsyncPerch",
    "AsyncRunStream",
    "ConflictError",
    "Done",
    "Dropped",
    "EventStream",
    "ForbiddenError",
    "InvalidRequestError",
    "NotFoundError",
    "Omit",
    "Page",
    "PageInfo",
    "Pager",
    "PayloadTooLargeError",
    "Perch",
    "PerchConnectionError",
    "PerchError",
    "RateLimitedError",
    "RunEvent",
    "RunStillRunningError",
    "RunStream",
    "ServerError",
    "Token",
    "ToolCall",
    "UnauthorizedError",
    "UnavailableError",
    "WebhookVerificationError",
    "__version__",
    "models",
    "webhooks",
]
