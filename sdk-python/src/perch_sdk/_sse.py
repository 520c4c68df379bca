"""Server-sent events, out of bytes that come in pieces of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class ServerSentEvent(NamedTuple):
    """One event. ``id`` is None if this event itself has none."""

    id: str | None
    event: str
    data: str


class EventParser:
    """Feed it the received bytes. An event that a broken connection left unfinished is dropped."""

    def __init__(self, on_comment: Callable[[str], None] = lambda _: None) -> None:
        self._on_comment = on_comment
        self._rest = b""
        self._id: str | None = None
        self._event = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        # The service ends lines with \n. A proxy that rewrites them to \r\n is met by rstrip.
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            event = self._line(line.rstrip(b"\r").decode("utf-8", "replace"))
            if event is not None:
                yield event

    def _line(self, line: str) -> ServerSentEvent | None:
        if line == "":
            return self._take()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "":
            self._on_comment(value)
        if name == "id":
            self._id = value
        elif name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        return None  # `retry`, or a field of tomorrow

    def _take(self) -> ServerSentEvent | None:
        event = ServerSentEvent(self._id, self._event or "message", "\n".join(self._data)) if self._data else None
        self._id, self._event, self._data = None, "", []
        return event
