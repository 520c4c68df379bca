"""Event streams that reconnect by themselves."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Generic, TypeVar

from ._follow_logs import Followed
from ._model import Model
from ._run_events import RunReader, RunStreamEvent, run_call

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from types import TracebackType

    from typing_extensions import Self

    from ._call import Call
    from ._generated.models import InvocationResult
    from ._sse import ServerSentEvent
    from ._transport import AsyncTransport, OnComment, OnOpen, Resume, Transport

T = TypeVar("T", bound=Model)
_ended = "The stream was closed before the run ended. The run goes on."


class _Stream(Generic[T]):
    def __init__(
        self,
        transport: Transport,
        call: Call,
        on_open: OnOpen | None = None,
        resume: Resume | None = None,
        last_event_id: str | None = None,
        *,
        on_comment: OnComment | None = None,
    ) -> None:
        self._events: Generator[ServerSentEvent, None, None] = transport.events(
            call, on_open, resume, last_event_id, on_comment=on_comment
        )

    def __iter__(self) -> Self:
        return self

    def close(self) -> None:
        self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class EventStream(_Stream[T]):
    """New log entries, without end: ``for entry in stream``. Use it in a ``with``, or close it."""

    def __init__(self, transport: Transport, call: Call, kind: type[T]) -> None:
        self._followed = followed = Followed(call)
        super().__init__(transport, call, followed.opened, followed.call, on_comment=followed.heard)
        self._kind = kind

    def __next__(self) -> T:
        while True:
            event = next(self._events)
            if self._followed.is_new(event):
                return self._kind.from_dict(json.loads(event.data))


class RunStream(_Stream[RunStreamEvent]):
    """Events of a run: ``for event in stream``, or just :meth:`text` or :meth:`result`.

    Reconnects by itself and continues after the last event. Closing the stream does not stop the run.
    If the run waits for a person, the stream ends after :class:`RunActionRequired`, and :meth:`result` raises
    :class:`ActionRequiredError`. With ``wait_for_decision`` it waits, and goes on after the decision.
    """

    def __init__(
        self,
        transport: Transport,
        call: Call,
        run_id: str | None,
        *,
        last_event_id: str | None = None,
        wait_for_decision: bool = False,
    ) -> None:
        exchange = transport.settings.exchange(call)
        self._reader = RunReader(exchange, run_id, last_event_id=last_event_id, wait_for_decision=wait_for_decision)
        self._transport = transport
        self._call = call
        super().__init__(transport, call, self._reader.open, last_event_id=last_event_id)

    def __next__(self) -> RunStreamEvent:
        reader = self._reader
        while not reader.is_over():
            if reader.is_cut:
                time.sleep(reader.next_pause())
                call = run_call(self._call, str(reader.run_id))
                self._events = self._transport.events(call, reader.open, last_event_id=reader.last_event_id)
            event = reader.read(next(self._events))
            if reader.result is not None or reader.is_cut:
                self.close()
            if event is not None:
                return event
        raise StopIteration

    @property
    def run_id(self) -> str | None:
        """``request_id`` of the run, for ``runs.get`` and ``runs.cancel``; None until the server has responded."""
        return self._reader.run_id

    @property
    def last_event_id(self) -> str | None:
        """Id of the last event that was read, for ``runs.follow``; None until there is one."""
        return self._reader.last_event_id

    @property
    def text_so_far(self) -> str:
        """The current step's text so far."""
        return self._reader.text.text

    def result(self) -> InvocationResult:
        """Reads the stream to its end and returns the same as ``invoke``."""
        for _ in self:
            pass
        if self._reader.result is None:
            raise self._reader.required or RuntimeError(_ended)
        return self._reader.result

    def text(self) -> str:
        """Reads the stream to its end and returns the response."""
        return self.result().response


class _AsyncStream(Generic[T]):
    def __init__(
        self,
        transport: AsyncTransport,
        call: Call,
        on_open: OnOpen | None = None,
        resume: Resume | None = None,
        last_event_id: str | None = None,
        *,
        on_comment: OnComment | None = None,
    ) -> None:
        self._events: AsyncGenerator[ServerSentEvent, None] = transport.events(
            call, on_open, resume, last_event_id, on_comment=on_comment
        )

    def __aiter__(self) -> Self:
        return self

    async def close(self) -> None:
        await self._events.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


class AsyncEventStream(_AsyncStream[T]):
    """New log entries, without end: ``async for entry in stream``. Use it in an ``async with``, or close it."""

    def __init__(self, transport: AsyncTransport, call: Call, kind: type[T]) -> None:
        self._followed = followed = Followed(call)
        super().__init__(transport, call, followed.opened, followed.call, on_comment=followed.heard)
        self._kind = kind

    async def __anext__(self) -> T:
        while True:
            event = await anext(self._events)
            if self._followed.is_new(event):
                return self._kind.from_dict(json.loads(event.data))


class AsyncRunStream(_AsyncStream[RunStreamEvent]):
    """Events of a run: ``async for event in stream``, or just :meth:`text` or :meth:`result`.

    Reconnects by itself and continues after the last event. Closing the stream does not stop the run.
    If the run waits for a person, the stream ends after :class:`RunActionRequired`, and :meth:`result` raises
    :class:`ActionRequiredError`. With ``wait_for_decision`` it waits, and goes on after the decision.
    """

    def __init__(
        self,
        transport: AsyncTransport,
        call: Call,
        run_id: str | None,
        *,
        last_event_id: str | None = None,
        wait_for_decision: bool = False,
    ) -> None:
        exchange = transport.settings.exchange(call)
        self._reader = RunReader(exchange, run_id, last_event_id=last_event_id, wait_for_decision=wait_for_decision)
        self._transport = transport
        self._call = call
        super().__init__(transport, call, self._reader.open, last_event_id=last_event_id)

    async def __anext__(self) -> RunStreamEvent:
        reader = self._reader
        while not reader.is_over():
            if reader.is_cut:
                await asyncio.sleep(reader.next_pause())
                call = run_call(self._call, str(reader.run_id))
                self._events = self._transport.events(call, reader.open, last_event_id=reader.last_event_id)
            event = reader.read(await anext(self._events))
            if reader.result is not None or reader.is_cut:
                await self.close()
            if event is not None:
                return event
        raise StopAsyncIteration

    @property
    def run_id(self) -> str | None:
        """``request_id`` of the run, for ``runs.get`` and ``runs.cancel``; None until the server has responded."""
        return self._reader.run_id

    @property
    def last_event_id(self) -> str | None:
        """Id of the last event that was read, for ``runs.follow``; None until there is one."""
        return self._reader.last_event_id

    @property
    def text_so_far(self) -> str:
        """The current step's text so far."""
        return self._reader.text.text

    async def result(self) -> InvocationResult:
        """Reads the stream to its end and returns the same as ``invoke``."""
        async for _ in self:
            pass
        if self._reader.result is None:
            raise self._reader.required or RuntimeError(_ended)
        return self._reader.result

    async def text(self) -> str:
        """Reads the stream to its end and returns the response."""
        return (await self.result()).response
