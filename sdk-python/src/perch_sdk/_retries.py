"""When to retry, and after how long. Shared by both clients."""

from __future__ import annotations

import random

import httpx

from ._errors import ApiError, PerchConnectionError, StillRunningError, error_from_response

_retryable_statuses = {408, 429, 500, 502, 503, 504}
_initial_backoff_seconds = 0.25
_max_backoff_seconds = 8.0
#: With a longer ``retry_after`` the error is raised immediately: a call that sleeps for minutes seems to hang.
_max_retry_after_seconds = 60.0


class Attempts:
    """Counts the failed attempts of one call. Returns the delay before the next one, or raises the last error."""

    def __init__(self, max_retries: int, idempotency_key: str | None) -> None:
        self._max_retries = max_retries
        self._idempotency_key = idempotency_key
        self._failures = 0

    def reset(self) -> None:
        """Called when data arrives: a stream may outlive many connections."""
        self._failures = 0

    def after_error_response(self, response: httpx.Response) -> float:
        """After an error response, whose body has been read."""
        error = error_from_response(response)
        if isinstance(error, StillRunningError):
            error.idempotency_key = self._idempotency_key
        if not self._is_retryable(error):
            raise error
        return self._pause(error, error.retry_after or 0.0)

    def after_failure(self, cause: Exception) -> float:
        """After a failed connection or an invalid response."""
        kind = "timed out" if isinstance(cause, httpx.TimeoutException) else "failed"
        reason = f": {cause}" if str(cause) else ""
        error = PerchConnectionError(f"The request {kind}{reason}", idempotency_key=self._idempotency_key)
        error.__cause__ = cause
        return self._pause(error, 0.0)

    def _pause(self, error: Exception, at_least: float) -> float:
        self._failures += 1
        if self._failures > self._max_retries:
            raise error
        longest = min(_max_backoff_seconds, _initial_backoff_seconds * 2.0**self._failures)
        # The random part keeps many clients from coming back at the same moment.
        return at_least + longest * random.uniform(0.25, 1.0)

    def _is_retryable(self, error: ApiError) -> bool:
        if error.code == "still_running":
            return self._idempotency_key is not None  # without a key, the request would start another run
        if error.status not in _retryable_statuses or error.run_id is not None:
            return False  # a failed run stays failed
        return (error.retry_after or 0.0) <= _max_retry_after_seconds
