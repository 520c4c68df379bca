"""Events come whole, in whatever pieces their bytes do."""

from __future__ import annotations

from perch_sdk._sse import EventParser, ServerSentEvent

_stream = (
    "retry: 1000\n\n: heartbeat\n\n"
    'id: 1-0\nevent: token\ndata: {"text":"é🙂"}\n\n'
    "event: error\ndata: {}\n\n"
    "id: end\nevent: done\ndata: 1\ndata: 2\n\n"
    "id: 9\nevent: tok"
)
_events = [
    ServerSentEvent("1-0", "token", '{"text":"é🙂"}'),
    ServerSentEvent(None, "error", "{}"),
    ServerSentEvent("end", "done", "1\n2"),
]


def test_any_cut_between_two_bytes_gives_the_same_events() -> None:
    raw = _stream.encode()
    for size in range(1, len(raw)):
        parser = EventParser()
        pieces = [raw[start : start + size] for start in range(0, len(raw), size)]
        assert [event for piece in pieces for event in parser.feed(piece)] == _events


def test_lines_that_a_proxy_rewrote_are_read_too() -> None:
    assert list(EventParser().feed(_stream.replace("\n", "\r\n").encode())) == _events
