"""What a stream of log entries missed while its connection was broken: unlike a run's, it cannot be resumed."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from ._sse import ServerSentEvent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._call import Call
    from ._model import Model

#: Clocks differ, and an entry is written a little after its time.
_margin = timedelta(seconds=5)
#: Number of entries remembered, to skip those that are read twice after a reconnect.
_max_remembered = 2000
MAX_PAGE = 1000


class Missed:
    def __init__(self, call: Call) -> None:
        self._call = call
        self._started_at = self._heard_at = datetime.now(timezone.utc)
        #: In order of arrival.
        self._seen: dict[str, None] = {}

    def call(self) -> Call:
        """Lists what was written since the last entry came."""
        start = max(self._started_at, self._heard_at - _margin)
        return replace(self._call, query={**self._call.query, "start_time": start, "limit": MAX_PAGE})

    def is_new(self, event: ServerSentEvent) -> bool:
        self._heard_at = datetime.now(timezone.utc)
        text = json.dumps(json.loads(event.data), sort_keys=True)
        if event.event != "log" or text in self._seen:
            return False
        self._seen[text] = None
        if len(self._seen) > _max_remembered:
            del self._seen[next(iter(self._seen))]
        return True


def as_events(newest_first: Sequence[Model]) -> list[ServerSentEvent]:
    return [ServerSentEvent(None, "log", json.dumps(entry.to_dict())) for entry in reversed(newest_first)]
