"""The exception for what went wrong."""

from __future__ import annotations

import json
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import httpx

from ._errors import (
    ActionRequiredError,
    ConflictError,
    ConnectionError,
    Exchange,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    PayloadTooLargeError,
    PerchError,
    PreconditionFailedError,
    RateLimitedError,
    RunCancelledError,
    RunFailedError,
    ServerError,
    StillRunningError,
    TimeoutError,
    UnauthorizedError,
    UnavailableError,
)
from ._generated.models import ErrorDetail

if TYPE_CHECKING:
    from collections.abc import Sequence

_by_code: dict[str, type[PerchError]] = {
    "invalid_request": InvalidRequestError,
    "unauthorized": UnauthorizedError,
    "forbidden": ForbiddenError,
    "not_found": NotFoundError,
    "conflict": ConflictError,
    "precondition_failed": PreconditionFailedError,
    "payload_too_large": PayloadTooLargeError,
    "rate_limited": RateLimitedError,
    "server_error": ServerError,
    "unavailable": UnavailableError,
    "run_failed": RunFailedError,
    "still_running": StillRunningError,
    "action_required": ActionRequiredError,
    "connection_failed": ConnectionError,
    "timed_out": TimeoutError,
}
#: What a request that waits for the run is answered with.
_status_of_run = {"conflict": 409, "run_failed": 422, "server_error": 500}
_max_seconds = 1e9


def create_error(message: str, *, code: str, details: Sequence[ErrorDetail] = (), **fields: Any) -> PerchError:
    """An error of the class for its code. A run that failed with the service is a run that failed."""
    is_about_run = any(detail.field == "request_id" for detail in details)
    kind = _by_code.get(code, PerchError)
    if is_about_run:
        kind = {"server_error": RunFailedError, "conflict": RunCancelledError}.get(code, kind)
    return kind(message, code=code, details=details, **fields)


def parse_retry_after(header: str | None, now: float) -> float | None:
    """``Retry-After``: seconds, or a date."""
    if header is None:
        return None
    if header.strip().isascii() and header.strip().isdigit():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - now)
    except ValueError:
        return None


def _error_fields(content: bytes) -> dict[str, Any] | None:
    """``error`` of a body of Perch; None of any other body, whose error may have another form."""
    try:
        error: Any = json.loads(content)["error"]
        is_ours = isinstance(error["code"], str) and isinstance(error["message"], str)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    return error if is_ours else None


def _details(given: Any) -> list[ErrorDetail]:
    return [
        ErrorDetail.from_dict(one)
        for one in (given if isinstance(given, list) else ())
        if isinstance(one, dict) and isinstance(one.get("field"), str) and isinstance(one.get("error"), str)
    ]


def _seconds(given: Any) -> float | None:
    """Neither less than nothing nor without end."""
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    return float(given) if is_number and 0 <= given < _max_seconds else None


def error_from_response(response: httpx.Response, exchange: Exchange) -> PerchError:
    """The error of a response."""
    error = _error_fields(response.content)
    if error is None:
        return not_from_perch(response.status_code, response.headers, exchange)
    asked = _seconds(error.get("retry_after"))
    retryable = error.get("retryable")
    return create_error(
        error["message"],
        code=error["code"],
        status=response.status_code,
        details=_details(error.get("details")),
        correlation_id=response.headers.get("x-correlation-id"),
        retry_after_seconds=_asked_in(response.headers) if asked is None else asked,
        retryable=retryable if isinstance(retryable, bool) else None,
        exchange=exchange,
    )


def not_from_perch(status: int, headers: httpx.Headers, exchange: Exchange) -> PerchError:
    """The error of a response that is somebody else's, such as the page of a proxy, even if it is a success."""
    return create_error(
        f"The response was {status}, but not from Perch. Is base_url correct?",
        code="unavailable" if status >= 500 else "unknown",
        status=status,
        correlation_id=headers.get("x-correlation-id"),
        retry_after_seconds=_asked_in(headers),
        exchange=exchange,
    )


def _asked_in(headers: httpx.Headers) -> float | None:
    return parse_retry_after(headers.get("retry-after"), time.time())


def connection_error(cause: Exception, exchange: Exchange) -> PerchError:
    is_late = isinstance(cause, httpx.TimeoutException)
    message = "There was no response in time" if is_late else "Perch could not be reached, or the connection broke"
    reason = f": {cause}" if str(cause) else ""
    error = create_error(f"{message}{reason}.", code="timed_out" if is_late else "connection_failed", exchange=exchange)
    error.__cause__ = cause
    return error


def run_error(code: str, message: str, run_id: str, retryable: bool | None, exchange: Exchange) -> PerchError:
    """The error of a run, however it was heard of: the same that ``invoke`` raises."""
    details = [ErrorDetail(field="request_id", error=run_id)] if run_id else []
    status = _status_of_run.get(code)
    return create_error(message, code=code, status=status, details=details, retryable=retryable, exchange=exchange)


def still_running(run_id: str, wait_seconds: float, exchange: Exchange) -> PerchError:
    message = f"The run has not ended after {wait_seconds:g} s, and goes on."
    return run_error("still_running", message, run_id, None, exchange)


def action_required(
    run_id: str, approval_ids: Sequence[str], exchange: Exchange, message: str = "The run waits for a person."
) -> PerchError:
    """The error of a run that waits for a person, the same wherever that was learnt."""
    details = [
        ErrorDetail(field="request_id", error=run_id),
        *(ErrorDetail(field="approval_id", error=one) for one in approval_ids),
    ]
    return create_error(message, code="action_required", status=409, details=details, exchange=exchange)
