"""New events come once each, however late they appear in the list."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import httpx

from .both_clients import Kind, both, with_client
from .mock_http import http_that

_start = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)


def _event(number: int, seconds: int) -> dict[str, Any]:
    at = (_start + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    return {"id": f"evt_{number}", "type": "webhook.test", "created_at": at, "agent_id": None, "data": {}}


class _Server:
    """Each request finds the events until then, newest first."""

    def __init__(self, *happened: list[dict[str, Any]]) -> None:
        self._happened = list(happened)
        self._events: list[dict[str, Any]] = []
        self.asked: list[httpx.QueryParams] = []

    def answer(self, request: httpx.Request) -> httpx.Response:
        query = request.url.params
        self.asked.append(query)
        assert len(self.asked) < 100, "An event never comes"
        if self._happened:
            self._events += self._happened.pop(0)
        newest_first = sorted(self._events, key=lambda event: str(event["created_at"]), reverse=True)
        from_then = [one for one in newest_first if str(one["created_at"]) >= query.get("start_time", "")]
        page = {"limit": 100, "offset": 0, "total": len(from_then), "has_more": False}
        limit = int(query["limit"])
        return httpx.Response(200, json={"data": from_then[:limit], "pagination": page})


def _followed(kind: Kind, server: _Server, count: int, **options: Any) -> list[str]:
    async def work(client: Any) -> list[str]:
        events = client.events.follow(interval_seconds=0, **options)
        found: list[str] = []
        while len(found) < count:
            found.append((await anext(events) if hasattr(events, "__anext__") else next(events)).id)
        await events.aclose() if hasattr(events, "aclose") else events.close()
        return found

    return with_client(kind, work, "key", base_url="https://perch.example", http_client=http_that(kind, server.answer))


@both
def test_events_after_the_call_come_once_each_also_those_that_appear_late(kind: Kind) -> None:
    # The first two requests find the position to begin at. The third event appears after the fourth, and is older.
    server = _Server([_event(1, 0)], [], [], [_event(2, 10), _event(4, 20)], [_event(3, 15)], [_event(5, 90)])
    assert _followed(kind, server, 4, type="webhook.test") == ["evt_2", "evt_4", "evt_3", "evt_5"]
    assert {query["type"] for query in server.asked} == {"webhook.test"}


@both
def test_events_since_a_time_begin_there(kind: Kind) -> None:
    server = _Server([_event(1, 0), _event(2, 10), _event(3, 20)])
    assert _followed(kind, server, 2, since=_start + timedelta(seconds=5)) == ["evt_2", "evt_3"]


@both
def test_events_of_an_organisation_without_any_begin_with_the_first(kind: Kind) -> None:
    server = _Server([], [], [_event(1, 0)])
    assert _followed(kind, server, 1) == ["evt_1"]
