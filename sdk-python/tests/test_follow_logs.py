"""The position at which a stream of log entries continues, and the entries it had."""

from __future__ import annotations

import json

import httpx

from perch_sdk import Perch


def _entry(id: str, request_id: str | None = None) -> str:
    entry = {
        "id": id,
        "timestamp": "2026-11-17T12:01:00.000Z",
        "level": "info",
        "message": id,
        "metadata": {"request_id": request_id},
    }
    return f"id: {id}\nevent: log\ndata: {json.dumps(entry)}\n\n"


def test_it_goes_on_where_the_server_said_that_everything_was_sent_and_not_at_a_heartbeat() -> None:
    bodies = [
        ": complete until 2026-11-17T12:00:00.250Z\n\n"
        f": complete until 2026-11-17T12:00:30.000Z\n\n{_entry('a')}{_entry('b', 'req_1')}: heartbeat\n\n",
        f"{_entry('a')}{_entry('b', 'req_1')}{_entry('c')}: complete until 2026-11-17T12:02:00.000Z\n\n",
        _entry("d"),
    ]
    starts: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        starts.append(request.url.params.get("start_time"))
        headers = {"content-type": "text/event-stream", "date": "Tue, 17 Nov 2026 12:00:00 GMT"}
        return httpx.Response(200, headers=headers, text=bodies.pop(0))

    http = httpx.Client(transport=httpx.MockTransport(answer))
    with Perch("key", base_url="http://127.0.0.1", http_client=http) as perch, perch.logs.follow("bot") as entries:
        assert [next(entries).message for _ in range(4)] == ["a", "b", "c", "d"]
    assert starts[0] is None
    assert [str(start)[:19] for start in starts[1:]] == ["2026-11-17T12:00:20", "2026-11-17T12:01:50"]
