"""Sends calls, with retries. The two classes differ only in ``await``."""

from __future__ import annotations

import asyncio
import re
import time
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import httpx

from ._deprecation import warn_if_deprecated
from ._error_of import not_from_perch
from ._model import Model, with_etag
from ._settings import Settings, Wait
from ._sse import EventParser, ServerSentEvent

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator

    from ._call import Call
    from ._errors import Exchange, PerchError
    from ._retries import Attempts

    OnOpen = Callable[[httpx.Headers], None]
    #: The call that opens a stream again, for streams that are not resumed by the id of an event.
    Resume = Callable[[], Call]
    #: Called with the comments that the service sends beside its events.
    OnComment = Callable[[str], None]

M = TypeVar("M", bound=Model)
_no_limit = Wait(None)
_cut = httpx.RemoteProtocolError("The stream ended before its last event")


class Answer(NamedTuple):
    """A successful response."""

    status: int
    headers: httpx.Headers
    body: Any
    exchange: Exchange

    def of(self, kind: type[M]) -> M:
        """``data`` of the body, with the tag that the response had."""
        data = self.body.get("data") if isinstance(self.body, dict) else None
        if not isinstance(data, dict):
            raise self._not_from_perch()
        return with_etag(kind.from_dict(data), self.headers.get("etag"))

    def page(self) -> dict[str, Any]:
        """The body of a list. Raises if it has another form, because then another server answered."""
        body = self.body if isinstance(self.body, dict) else {}
        data, pagination = body.get("data"), body.get("pagination")
        is_list = isinstance(data, list) and all(isinstance(one, dict) for one in data)
        if not is_list or not isinstance(pagination, dict):
            raise self._not_from_perch()
        return body

    def _not_from_perch(self) -> PerchError:
        return not_from_perch(self.status, self.headers, self.exchange)


def _answer(response: httpx.Response, exchange: Exchange) -> Answer:
    if not re.match(r"application/([\w.-]+\+)?json\b", response.headers.get("content-type", ""), re.IGNORECASE):
        raise not_from_perch(response.status_code, response.headers, exchange)
    # If it does not parse, it was cut off: treated as a broken connection.
    return Answer(response.status_code, response.headers, response.json(), exchange)


def _is_event_stream(response: httpx.Response) -> bool:
    return response.is_success and response.headers.get("content-type", "").startswith("text/event-stream")


def _after_failed_open(attempts: Attempts, response: httpx.Response) -> float:
    return attempts.after_failure(_cut) if response.is_success else attempts.after_error_response(response)


def _on_comment(attempts: Attempts, also: OnComment | None) -> OnComment:
    def hear(comment: str) -> None:
        attempts.reset()
        if also:
            also(comment)

    return hear


class Transport:
    def __init__(self, settings: Settings, http: httpx.Client) -> None:
        self.settings = settings
        self.http = http

    def fetch(self, call: Call, kind: type[M]) -> M:
        return self.send(call).of(kind)

    def fetch_whole(self, call: Call, kind: type[M]) -> M:
        """For an operation whose body has more than ``data``."""
        return kind.from_dict(self.send(call).page())

    def send(self, call: Call, wait: Wait = _no_limit) -> Answer:
        """Sends with retries, until there is a response, a permanent error, no retry left, or the wait is over."""
        attempts = self.settings.attempts(call)
        while True:
            wait.raise_if_over()
            request = self.http.build_request(**self.settings.request(call, wait.remaining()))
            attempts.begin()
            try:
                response = self.http.send(request)
                attempts.after_response(response)
                warn_if_deprecated(response)
                if response.is_success:
                    return _answer(response, self.settings.exchange(call))
            except (httpx.RequestError, ValueError) as failure:
                wait.raise_if_over()
                pause = attempts.after_failure(failure)
            else:
                pause = attempts.after_error_response(response)
            time.sleep(wait.limit(pause))

    def events(
        self,
        call: Call,
        on_open: OnOpen | None = None,
        resume: Resume | None = None,
        last_event_id: str | None = None,
        *,
        on_comment: OnComment | None = None,
    ) -> Generator[ServerSentEvent, None, None]:
        """Events of a stream. It reconnects for ever; the caller decides which event is the last."""
        attempts = self.settings.attempts(call)
        while True:
            request = self.settings.stream_request(resume() if resume else call, last_event_id)
            attempts.begin()
            try:
                with self.http.stream(**request) as response:
                    attempts.after_response(response)
                    warn_if_deprecated(response)
                    if _is_event_stream(response):
                        if on_open:
                            on_open(response.headers)
                        parser = EventParser(_on_comment(attempts, on_comment))
                        for chunk in response.iter_bytes():
                            for event in parser.feed(chunk):
                                if event.id is None:
                                    continue  # the node that served the stream failed; the run continues
                                last_event_id = event.id
                                attempts.reset()
                                yield event
                        pause = attempts.after_failure(_cut)
                    else:
                        response.read()
                        pause = _after_failed_open(attempts, response)
            except httpx.RequestError as failure:
                pause = attempts.after_failure(failure)
            time.sleep(pause)


class AsyncTransport:
    def __init__(self, settings: Settings, http: httpx.AsyncClient) -> None:
        self.settings = settings
        self.http = http

    async def fetch(self, call: Call, kind: type[M]) -> M:
        return (await self.send(call)).of(kind)

    async def fetch_whole(self, call: Call, kind: type[M]) -> M:
        """For an operation whose body has more than ``data``."""
        return kind.from_dict((await self.send(call)).page())

    async def send(self, call: Call) -> Answer:
        """Sends with retries, until there is a response, a permanent error, or no retry left."""
        attempts = self.settings.attempts(call)
        while True:
            request = self.http.build_request(**self.settings.request(call))
            attempts.begin()
            try:
                response = await self.http.send(request)
                attempts.after_response(response)
                warn_if_deprecated(response)
                if response.is_success:
                    return _answer(response, self.settings.exchange(call))
            except (httpx.RequestError, ValueError) as failure:
                pause = attempts.after_failure(failure)
            else:
                pause = attempts.after_error_response(response)
            await asyncio.sleep(pause)

    async def events(
        self,
        call: Call,
        on_open: OnOpen | None = None,
        resume: Resume | None = None,
        last_event_id: str | None = None,
        *,
        on_comment: OnComment | None = None,
    ) -> AsyncGenerator[ServerSentEvent, None]:
        """Events of a stream. It reconnects for ever; the caller decides which event is the last."""
        attempts = self.settings.attempts(call)
        while True:
            request = self.settings.stream_request(resume() if resume else call, last_event_id)
            attempts.begin()
            try:
                async with self.http.stream(**request) as response:
                    attempts.after_response(response)
                    warn_if_deprecated(response)
                    if _is_event_stream(response):
                        if on_open:
                            on_open(response.headers)
                        parser = EventParser(_on_comment(attempts, on_comment))
                        async for chunk in response.aiter_bytes():
                            for event in parser.feed(chunk):
                                if event.id is None:
                                    continue  # the node that served the stream failed; the run continues
                                last_event_id = event.id
                                attempts.reset()
                                yield event
                        pause = attempts.after_failure(_cut)
                    else:
                        await response.aread()
                        pause = _after_failed_open(attempts, response)
            except httpx.RequestError as failure:
                pause = attempts.after_failure(failure)
            await asyncio.sleep(pause)
