"""Exceptions. All are subclasses of :class:`PerchError`, and none contains the API key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import httpx

    from ._generated.models import ErrorDetail


class PerchError(Exception):
    """Base class of all exceptions of this package."""


class PerchConnectionError(PerchError):
    """No attempt got a complete response: the connection failed, broke or timed out.

    The request may have been processed. It is safe to repeat the call with the same ``idempotency_key``.
    """

    def __init__(self, message: str, *, idempotency_key: str | None) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key


class WebhookVerificationError(PerchError):
    """The signature of a webhook delivery is missing, invalid or too old. Respond with 401."""


#: Why a request did not pass ``verify_request``.
RequestVerificationReason = Literal[
    "missing_signature",
    "malformed",
    "missing_component",
    "unsupported_component",
    "wrong_algorithm",
    "wrong_tag",
    "invalid_nonce",
    "not_yet_valid",
    "expired",
    "lifetime_too_long",
    "digest_mismatch",
    "unknown_key",
    "key_not_valid",
    "directory_unavailable",
    "signature_mismatch",
    "wrong_organisation",
    "replayed",
]


class RequestVerificationError(PerchError):
    """A request is not from Perch, is of another organisation, is too old, or came before. Respond with ``status``."""

    def __init__(self, reason: RequestVerificationReason, message: str) -> None:
        super().__init__(message)
        self.reason: RequestVerificationReason = reason

    @property
    def status(self) -> int:
        """401, or 503 if Perch's keys could not be fetched: Perch repeats a call that got 503."""
        return 503 if self.reason == "directory_unavailable" else 401


class ApiError(PerchError):
    """The service returned an error, or a run failed."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        details: Sequence[ErrorDetail] = (),
        correlation_id: str | None = None,
        retry_after: float | None = None,
        retryable: bool | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: The HTTP status.
        self.status = status
        #: The error code, such as ``not_found``.
        self.code = code
        #: The invalid fields.
        self.details: list[ErrorDetail] = list(details)
        #: Id of the exchange (``X-Correlation-Id``). Include it when you report a problem.
        self.correlation_id = correlation_id
        #: Seconds to wait before retrying.
        self.retry_after = retry_after
        #: Of a failed run: whether a new one, with a new idempotency key, can succeed without a change to the agent.
        self.retryable = retryable
        #: The response headers.
        self.headers: Mapping[str, str] = headers or {}

    @property
    def run_id(self) -> str | None:
        """``request_id`` of the run, if the error is about one: it failed, was cancelled, or has not ended yet."""
        return next((detail["error"] for detail in self.details if detail["field"] == "request_id"), None)

    def __str__(self) -> str:
        details = "".join(f"; {detail['field']}: {detail['error']}" for detail in self.details)
        exchange = f", correlation id {self.correlation_id}" if self.correlation_id else ""
        return f"{self.message}{details} ({self.status} {self.code}{exchange})"


class InvalidRequestError(ApiError):
    """400: a parameter is missing or wrong. ``details`` says which."""


class UnauthorizedError(ApiError):
    """401: the API key is missing, unknown, expired or revoked."""


class ForbiddenError(ApiError):
    """403: the API key lacks a permission."""


class NotFoundError(ApiError):
    """404: the resource does not exist, or this API key cannot access it."""


class ConflictError(ApiError):
    """409: a name is taken, an agent paused, a run cancelled, or an idempotency key used for something else."""


class PreconditionFailedError(ApiError):
    """412: somebody changed the resource since you read it."""


class PayloadTooLargeError(ApiError):
    """413: the request is too large."""


class RunFailedError(ApiError):
    """422: the run failed, and the message says why. The same idempotency key gets the same error."""


class RateLimitedError(ApiError):
    """429: too many requests or runs, even after all retries."""


class ServerError(ApiError):
    """500 and above: the service failed. With a ``run_id``: a run failed with it."""


class UnavailableError(ServerError):
    """503: a part of the service is not available."""


class StillRunningError(ApiError):
    """The wait is over and the run goes on: ``wait_seconds`` passed, or the answer was 504, even after all retries.

    ``runs.follow(agent_id, error.run_id)`` waits for its result, and so does the same call with ``idempotency_key``.
    """

    #: The key that the call was sent with.
    idempotency_key: str | None = None

    @property
    def run_id(self) -> str:
        """``request_id`` of the run."""
        return super().run_id or ""


_by_code: dict[str, tuple[int, type[ApiError]]] = {
    "invalid_request": (400, InvalidRequestError),
    "unauthorized": (401, UnauthorizedError),
    "forbidden": (403, ForbiddenError),
    "not_found": (404, NotFoundError),
    "conflict": (409, ConflictError),
    "precondition_failed": (412, PreconditionFailedError),
    "payload_too_large": (413, PayloadTooLargeError),
    "run_failed": (422, RunFailedError),
    "rate_limited": (429, RateLimitedError),
    "server_error": (500, ServerError),
    "unavailable": (503, UnavailableError),
    "still_running": (504, StillRunningError),
}
#: Of an error page of a proxy. Its 504 says nothing about a run.
_code_by_status = {status: code for code, (status, _) in _by_code.items() if code != "still_running"}


def _whole_seconds(value: object) -> float | None:
    try:
        return max(0.0, float(str(value)))
    except ValueError:
        return None  # a date, which Perch does not send


def error_from_response(response: httpx.Response) -> ApiError:
    """The error of a response, even if it comes from a proxy."""
    try:
        error: Any = json.loads(response.content)["error"]
        code, message = str(error["code"]), str(error["message"])
    except (ValueError, KeyError, TypeError):
        error = {}
        code = _code_by_status.get(response.status_code, "server_error")
        message = f"The response was {response.status_code} {response.reason_phrase}".rstrip()
    fallback = ServerError if response.status_code >= 500 else ApiError
    kind = _by_code[code][1] if code in _by_code else fallback
    return kind(
        message,
        status=response.status_code,
        code=code,
        details=error.get("details") or (),
        correlation_id=response.headers.get("x-correlation-id"),
        retry_after=_whole_seconds(error.get("retry_after", response.headers.get("retry-after"))),
        retryable=error.get("retryable"),
        headers=response.headers,
    )


def still_running(run_id: str, idempotency_key: str | None) -> StillRunningError:
    """The exception for a run that was accepted and has not ended within ``wait_seconds``."""
    details: list[ErrorDetail] = [{"field": "request_id", "error": run_id}]
    message = "The run has not ended yet, and goes on."
    error = StillRunningError(message, status=202, code="still_running", details=details)
    error.idempotency_key = idempotency_key
    return error


def error_of_run(code: str, message: str, run_id: str, retryable: bool | None) -> ApiError:
    """The exception for a stream's ``error`` event: the same that ``invoke`` raises."""
    status, kind = _by_code.get(code, (500, ServerError))
    details: list[ErrorDetail] = [{"field": "request_id", "error": run_id}]
    return kind(message, status=status, code=code, details=details, retryable=retryable)
