"""New events of the organisation, found by asking again and again."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from datetime import datetime

    from ._generated.models import Event
    from ._pages import AsyncPageList, PageList

#: Events appear a little after their time, so each request goes back this far.
_overlap = timedelta(seconds=30)


class _Known:
    """The events that were seen. Times are the server's, because the clock here may be wrong."""

    def __init__(self, since: datetime | None) -> None:
        self._since = since
        self._latest = since
        self._time_by_id: dict[str, datetime] = {}

    def start_time(self) -> datetime | None:
        if self._latest is None:
            return None
        from_overlap = self._latest - _overlap
        return from_overlap if self._since is None else max(self._since, from_overlap)

    def begin_at(self, newest: list[Event]) -> bool:
        if newest:
            self._latest = newest[0].created_at
        return bool(newest)

    def new(self, newest_first: list[Event]) -> list[Event]:
        """Those that were not seen yet, oldest first."""
        found = [event for event in reversed(newest_first) if event.id not in self._time_by_id]
        self._time_by_id.update({event.id: event.created_at for event in newest_first})
        self._latest = max([*self._time_by_id.values(), *([self._latest] if self._latest else [])], default=None)
        if self._latest:
            kept_from = self._latest - _overlap
            self._time_by_id = {id: at for id, at in self._time_by_id.items() if at >= kept_from}
        return found


def follow_events(
    list_events: Callable[..., PageList[Event]], since: datetime | None, interval_seconds: float
) -> Iterator[Event]:
    known = _Known(since)
    if since is None and known.begin_at(list_events(limit=1).page().data):
        known.new(list_events(start_time=known.start_time()).to_list())
    while True:
        yield from known.new(list_events(start_time=known.start_time()).to_list())
        time.sleep(interval_seconds)


async def follow_events_async(
    list_events: Callable[..., AsyncPageList[Event]], since: datetime | None, interval_seconds: float
) -> AsyncIterator[Event]:
    known = _Known(since)
    if since is None and known.begin_at((await list_events(limit=1).page()).data):
        known.new(await list_events(start_time=known.start_time()).to_list())
    while True:
        for event in known.new(await list_events(start_time=known.start_time()).to_list()):
            yield event
        await asyncio.sleep(interval_seconds)
