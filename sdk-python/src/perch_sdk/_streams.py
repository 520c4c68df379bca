"""Event streams that reconnect by themselves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from ._run_events import RunEvent, RunReader

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from types import TracebackType

    from typing_extensions import Self

    from ._call import Call
    from ._generated.models import InvocationResult
    from ._sse import ServerSentEvent
    from ._transport import AsyncTransport, Transport

T = TypeVar("T")
_ended = "The stream was closed before the run ended. The run goes on."


class EventStream(Generic[T]):
    """An endless stream of events: ``for entry in stream``. Use it in a ``with``, or close it."""

    def __init__(self, transport: Transport, call: Call) -> None:
        self._events: Generator[ServerSentEvent, None, None] = transport.events(call)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        return cast("T", json.loads(next(self._events).data))

    def close(self) -> None:
        self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RunStream(EventStream[RunEvent]):
    """Events of a run: ``for event in stream``, or just :meth:`text` or :meth:`result`.

    Reconnects by itself and continues after the last event. Closing the stream does not stop the run.
    """

    def __init__(self, transport: Transport, call: Call) -> None:
        super().__init__(transport, call)
        self._reader = RunReader()

    def __next__(self) -> RunEvent:
        while self._reader.result is None:
            event = self._reader.read(next(self._events))
            if event is not None:
                if self._reader.result is not None:
                    self.close()
                return event
        raise StopIteration

    @property
    def text_so_far(self) -> str:
        """The current step's text so far."""
        return self._reader.text.text

    def result(self) -> InvocationResult:
        """Reads the stream to its end and returns the same as ``invoke``."""
        for _ in self:
            pass
        if self._reader.result is None:
            raise RuntimeError(_ended)
        return self._reader.result

    def text(self) -> str:
        """Reads the stream to its end and returns the response."""
        return self.result()["response"]


class AsyncEventStream(Generic[T]):
    """An endless stream of events: ``async for entry in stream``. Use it in an ``async with``, or close it."""

    def __init__(self, transport: AsyncTransport, call: Call) -> None:
        self._events: AsyncGenerator[ServerSentEvent, None] = transport.events(call)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        return cast("T", json.loads((await anext(self._events)).data))

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


class AsyncRunStream(AsyncEventStream[RunEvent]):
    """Events of a run: ``async for event in stream``, or just :meth:`text` or :meth:`result`.

    Reconnects by itself and continues after the last event. Closing the stream does not stop the run.
    """

    def __init__(self, transport: AsyncTransport, call: Call) -> None:
        super().__init__(transport, call)
        self._reader = RunReader()

    async def __anext__(self) -> RunEvent:
        while self._reader.result is None:
            event = self._reader.read(await anext(self._events))
            if event is not None:
                if self._reader.result is not None:
                    await self.close()
                return event
        raise StopAsyncIteration

    @property
    def text_so_far(self) -> str:
        """The current step's text so far."""
        return self._reader.text.text

    async def result(self) -> InvocationResult:
        """Reads the stream to its end and returns the same as ``invoke``."""
        async for _ in self:
            pass
        if self._reader.result is None:
            raise RuntimeError(_ended)
        return self._reader.result

    async def text(self) -> str:
        """Reads the stream to its end and returns the response."""
        return (await self.result())["response"]
