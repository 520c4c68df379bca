"""When to try again, and after how long. Pure but for the dice, so that both clients share it."""

from __future__ import annotations

import random

import httpx

from ._errors import ApiError, NoAnswerError, error_from_response

_worth_repeating = {408, 429, 500, 502, 503, 504}
_shortest_seconds = 0.25
_longest_seconds = 8.0
#: A longer ``retry_after`` is raised at once: a call that sleeps for minutes looks like one that hangs.
_longest_retry_after_seconds = 60.0


class Tries:
    """Counts the tries of one call, and says how long to wait before the next one or raises what the last one met."""

    def __init__(self, max_retries: int, idempotency_key: str | None) -> None:
        self._max_retries = max_retries
        self._idempotency_key = idempotency_key
        self._failures = 0

    def begin_anew(self) -> None:
        """Something came: a stream may outlive many connections."""
        self._failures = 0

    def after_refusal(self, response: httpx.Response) -> float:
        """Of an answer that is not a success, read to its end."""
        error = error_from_response(response)
        if not _is_worth_repeating(error):
            raise error
        return self._pause(error, error.retry_after or 0.0)

    def after_failure(self, cause: Exception) -> float:
        """Of a connection that failed, or an answer that makes no sense."""
        kind = "timed out" if isinstance(cause, httpx.TimeoutException) else "failed"
        said = f": {cause}" if str(cause) else ""
        error = NoAnswerError(f"The request {kind}{said}", idempotency_key=self._idempotency_key)
        error.__cause__ = cause
        return self._pause(error, 0.0)

    def _pause(self, error: Exception, at_least: float) -> float:
        self._failures += 1
        if self._failures > self._max_retries:
            raise error
        longest = min(_longest_seconds, _shortest_seconds * 2.0**self._failures)
        # The random part keeps many clients from coming back at the same moment.
        return at_least + longest * random.uniform(0.25, 1.0)


def _is_worth_repeating(error: ApiError) -> bool:
    if error.status not in _worth_repeating or error.run_id is not None:
        return False  # a failed run stays failed: its retry gets the same
    return (error.retry_after or 0.0) <= _longest_retry_after_seconds
