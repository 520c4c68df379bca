"""What can go wrong. Every exception of this package is a :class:`PerchError`, and none of them holds the API key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import httpx

    from ._generated.models import ErrorDetail


class PerchError(Exception):
    """The base of all exceptions of this package."""


class NoAnswerError(PerchError):
    """No try got a whole answer: the connection failed, broke off or was silent for too long.

    What was asked for may have been done. The same call with the same ``idempotency_key`` is safe.
    """

    def __init__(self, message: str, *, idempotency_key: str | None) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key


class RunStillRunningError(PerchError):
    """``wait_seconds`` is over. The run goes on: follow it with ``invocations.follow(agent_id, error.request_id)``."""

    def __init__(self, request_id: str, idempotency_key: str) -> None:
        super().__init__(f"The run {request_id} has not ended yet. It goes on.")
        self.request_id = request_id
        self.idempotency_key = idempotency_key


class WebhookVerificationError(PerchError):
    """The signature of a webhook's delivery is missing, wrong or too old. Answer 401."""


class ApiError(PerchError):
    """The service refused a request, or a run failed."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        details: Sequence[ErrorDetail] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: The HTTP status.
        self.status = status
        #: ``not_found``, say.
        self.code = code
        #: What is wrong with which field.
        self.details: list[ErrorDetail] = list(details)
        #: Of the HTTP request (``X-Request-Id``). Quote it when you ask for help.
        self.request_id = request_id
        #: Seconds to wait before another try.
        self.retry_after = retry_after
        #: The headers of the answer.
        self.headers: Mapping[str, str] = headers or {}

    @property
    def run_id(self) -> str | None:
        """The run that failed or was cancelled, if that is what happened. Its retry would get the same error."""
        return next((detail["error"] for detail in self.details if detail["field"] == "request_id"), None)

    def __str__(self) -> str:
        told = "".join(f"; {detail['field']}: {detail['error']}" for detail in self.details)
        request = f", request {self.request_id}" if self.request_id else ""
        return f"{self.message}{told} ({self.status} {self.code}{request})"


class InvalidRequestError(ApiError):
    """400: a parameter is missing or wrong. ``details`` says which."""


class UnauthorizedError(ApiError):
    """401: the API key is missing, unknown, expired or revoked."""


class ForbiddenError(ApiError):
    """403: the API key lacks a permission."""


class NotFoundError(ApiError):
    """404: there is no such thing for this API key."""


class ConflictError(ApiError):
    """409: a name is taken, an agent paused, a run cancelled, or an idempotency key used for something else."""


class PayloadTooLargeError(ApiError):
    """413: the request is too large."""


class RateLimitedError(ApiError):
    """429: too many requests or runs, also after the retries."""


class ServerError(ApiError):
    """500 and above: something failed over there. With a ``run_id``: the run failed, and the message says why."""


class UnavailableError(ServerError):
    """503: a part of the service cannot be reached."""


_by_code: dict[str, tuple[int, type[ApiError]]] = {
    "invalid_request": (400, InvalidRequestError),
    "unauthorized": (401, UnauthorizedError),
    "forbidden": (403, ForbiddenError),
    "not_found": (404, NotFoundError),
    "conflict": (409, ConflictError),
    "payload_too_large": (413, PayloadTooLargeError),
    "rate_limited": (429, RateLimitedError),
    "server_error": (500, ServerError),
    "unavailable": (503, UnavailableError),
}
_code_by_status = {status: code for code, (status, _) in _by_code.items()}


def _whole_seconds(value: object) -> float | None:
    try:
        return max(0.0, float(str(value)))
    except ValueError:
        return None  # a date, which Perch does not send


def error_from_response(response: httpx.Response) -> ApiError:
    """The error that an answer tells of, also if something between client and service made the answer."""
    try:
        told: Any = json.loads(response.content)["error"]
        code, message = str(told["code"]), str(told["message"])
    except (ValueError, KeyError, TypeError):
        told = {}
        code = _code_by_status.get(response.status_code, "server_error")
        message = f"The answer was {response.status_code} {response.reason_phrase}".rstrip()
    fallback = ServerError if response.status_code >= 500 else ApiError
    kind = _by_code[code][1] if code in _by_code else fallback
    return kind(
        message,
        status=response.status_code,
        code=code,
        details=told.get("details") or (),
        request_id=response.headers.get("x-request-id"),
        retry_after=_whole_seconds(told.get("retry_after", response.headers.get("retry-after"))),
        headers=response.headers,
    )


def error_of_run(code: str, message: str, run_id: str) -> ApiError:
    """How a stream's ``error`` event is raised: the same exception that waiting for the run would have raised."""
    status, kind = _by_code.get(code, (500, ServerError))
    details: list[ErrorDetail] = [{"field": "request_id", "error": run_id}]
    return kind(message, status=status, code=code, details=details)
