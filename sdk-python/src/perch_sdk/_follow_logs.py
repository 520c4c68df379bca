"""The position at which a stream of log entries continues after its connection broke, and the entries it had."""

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
#: The server's message that everything before a time was sent.
_complete_until = "complete until "


def _date_of(headers: httpx.Headers) -> datetime:
    try:
        return parsedate_to_datetime(headers["date"])
    except (KeyError, ValueError):
        return datetime.now(timezone.utc)


def _time_of(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


class _Seen:
    def __init__(self, for_seconds: float) -> None:
        self._for_seconds = for_seconds
        #: When each entry came, in order.
        self._seen_at: dict[str, float] = {}

    def is_new(self, id: str) -> bool:
        if id in self._seen_at:
            return False
        now = time.monotonic()
        self._seen_at[id] = now
        while len(self._seen_at) > _max_remembered or self._oldest_at() < now - self._for_seconds:
            del self._seen_at[next(iter(self._seen_at))]
        return True

    def _oldest_at(self) -> float:
        return next(iter(self._seen_at.values()))


class Followed:
    """Times are the server's, because the clock here may be wrong."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._first: datetime | None = None
        self._complete_until: datetime | None = None
        self._streams = 0
        self._seen = _Seen(_remembered_seconds)
        # When a run ends, all that it wrote can be read again, however long ago that was.
        self._seen_of_runs = _Seen(float("inf"))

    def opened(self, headers: httpx.Headers) -> None:
        self._streams += 1
        if self._first is None:
            self._first = _date_of(headers)

    def heard(self, comment: str) -> None:
        """A heartbeat proves nothing, because the server may be about to read entries that it has to send."""
        if not comment.startswith(_complete_until):
            return
        at = _time_of(comment.removeprefix(_complete_until))
        # The first stream begins by naming its own beginning; `Date` has whole seconds.
        if self._streams == 1 and self._complete_until is None:
            self._first = at
        self._complete_until = at if self._complete_until is None else max(self._complete_until, at)

    def call(self) -> Call:
        """From the second time on, begins with the entries since the last time that the server named."""
        if self._first is None:
            return self._call
        complete = self._first if self._complete_until is None else self._complete_until
        start = max(self._first, complete - _margin)
        return replace(self._call, query={**self._call.query, "start_time": start})

    def is_new(self, event: ServerSentEvent) -> bool:
        if event.event != "log" or event.id is None:
            return False
        of_run = json.loads(event.data)["metadata"].get("request_id") is not None
        return (self._seen_of_runs if of_run else self._seen).is_new(event.id)
