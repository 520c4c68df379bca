"""When to retry, and after how long. Shared by both clients."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from ._error_of import connection_error, error_from_response
from ._errors import PerchError, RunFailedError
from ._log import log_attempt, log_retry

if TYPE_CHECKING:
    import httpx

    from ._errors import Exchange

_retryable_statuses = {408, 429, 500, 502, 503, 504}
_initial_backoff_seconds = 0.5
_max_backoff_seconds = 8.0
#: With a longer ``retry_after`` the error is raised immediately, because a call that sleeps for minutes seems to hang.
_max_retry_after_seconds = 60.0


def is_retryable(error: PerchError) -> bool:
    """True if a retry may succeed. A failed run stays failed.

    A run that outlasts the wait is joined, not started again: every POST has an idempotency key.
    """
    if isinstance(error, RunFailedError):
        return False
    if error.status is None:
        return error.code in ("connection_failed", "timed_out")
    return error.status in _retryable_statuses


def retry_delay_seconds(error: PerchError, failures: int, chance: float) -> float | None:
    """The delay before the next attempt; None if there should be none. Waits the whole ``retry_after``.

    :param chance: From 0 to 1. The random part spreads the retries of many clients.
    """
    asked = error.retry_after_seconds or 0.0
    if not is_retryable(error) or asked > _max_retry_after_seconds:
        return None
    backoff: float = min(_max_backoff_seconds, _initial_backoff_seconds * 2.0**failures)
    return asked + chance * backoff


class Attempts:
    """The attempts of one call. Returns the delay before the next one, or raises the last error."""

    def __init__(self, max_retries: int, exchange: Exchange, path: str) -> None:
        self._max_retries = max_retries
        self._exchange = exchange
        self._path = path
        self._failures = 0
        self._began = 0.0

    def begin(self) -> None:
        self._began = time.monotonic()

    def reset(self) -> None:
        """Called when data arrives, because a stream may outlive many connections."""
        self._failures = 0

    def after_response(self, response: httpx.Response) -> None:
        """After any response, before its body was read if it is a stream."""
        duration_ms = (time.monotonic() - self._began) * 1000
        correlation_id = response.headers.get("x-correlation-id")
        log_attempt(self._exchange.method, self._path, str(response.status_code), duration_ms, correlation_id)

    def after_error_response(self, response: httpx.Response) -> float:
        """After an error response, whose body has been read."""
        return self._pause(error_from_response(response, self._exchange))

    def after_failure(self, cause: Exception) -> float:
        """After a failed connection or an invalid response."""
        duration_ms = (time.monotonic() - self._began) * 1000
        log_attempt(self._exchange.method, self._path, type(cause).__name__, duration_ms, None)
        return self._pause(connection_error(cause, self._exchange))

    def _pause(self, error: PerchError) -> float:
        delay = retry_delay_seconds(error, self._failures, random.random())
        if delay is None or self._failures >= self._max_retries:
            raise error
        self._failures += 1
        reason = f"{error.status or ''} {error.code}".strip()
        log_retry(self._exchange.method, self._path, reason, delay, self._failures)
        return delay
