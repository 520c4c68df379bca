"""Where a stream of log entries goes on after its connection was broken, and which entries it had."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

    from ._call import Call
    from ._sse import ServerSentEvent

#: An entry is written a little after its time.
_margin = timedelta(seconds=10)
#: Entries are remembered for longer than they can be read again after a reconnect, to skip those.
_remembered_seconds = 120
_max_remembered = 20_000


def _date_of(headers: httpx.Headers) -> datetime:
    try:
        return parsedate_to_datetime(headers["date"])
    except (KeyError, ValueError):
        return datetime.now(timezone.utc)


class Followed:
    """Times are the server's: the clock here may be wrong."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._first: datetime | None = None
        self._server_at = self._complete_until = datetime.now(timezone.utc)
        self._opened_at = 0.0
        #: When each entry came, in order.
        self._seen_at: dict[str, float] = {}

    def opened(self, headers: httpx.Headers) -> None:
        self._server_at = _date_of(headers)
        self._opened_at = time.monotonic()
        if self._first is None:
            self._first = self._complete_until = self._server_at

    def call(self) -> Call:
        """Begins, from the second time on, with what was written since the last entry."""
        if self._first is None:
            return self._call
        start = max(self._first, self._complete_until - _margin)
        return replace(self._call, query={**self._call.query, "start_time": start})

    def is_new(self, event: ServerSentEvent) -> bool:
        if event.event != "log" or event.id is None or event.id in self._seen_at:
            return False
        now = time.monotonic()
        server_now = self._server_at + timedelta(seconds=now - self._opened_at)
        # What was missed comes in the order of time.
        written_at = datetime.fromisoformat(json.loads(event.data)["timestamp"].replace("Z", "+00:00"))
        self._complete_until = max(self._complete_until, min(written_at, server_now))
        self._seen_at[event.id] = now
        while len(self._seen_at) > _max_remembered or self._oldest_at() < now - _remembered_seconds:
            del self._seen_at[next(iter(self._seen_at))]
        return True

    def _oldest_at(self) -> float:
        return next(iter(self._seen_at.values()))
