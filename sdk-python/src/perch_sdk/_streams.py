"""Streams that come back by themselves: of a run, and of whatever else can be followed."""

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
    """What happens, as it happens, until you leave: ``for entry in stream``. Use it in a ``with``."""

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
    """A run while it happens: ``for event in stream``, or just :meth:`text` or :meth:`result`.

    Comes back by itself after a broken connection, and goes on where it was. Leaving it does not stop the run.
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
        """What the step under way has said until now."""
        return self._reader.said.text

    def result(self) -> InvocationResult:
        """Reads to the end, and returns what ``invoke`` would have returned."""
        for _ in self:
            pass
        if self._reader.result is None:
            raise RuntimeError(_ended)
        return self._reader.result

    def text(self) -> str:
        """Reads to the end, and returns the answer."""
        return self.result()["response"]


class AsyncEventStream(Generic[T]):
    """What happens, as it happens, until you leave: ``async for entry in stream``. Use it in an ``async with``."""

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
    """A run while it happens: ``async for event in stream``, or just :meth:`text` or :meth:`result`.

    Comes back by itself after a broken connection, and goes on where it was. Leaving it does not stop the run.
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
        """What the step under way has said until now."""
        return self._reader.said.text

    async def result(self) -> InvocationResult:
        """Reads to the end, and returns what ``invoke`` would have returned."""
        async for _ in self:
            pass
        if self._reader.result is None:
            raise RuntimeError(_ended)
        return self._reader.result

    async def text(self) -> str:
        """Reads to the end, and returns the answer."""
        return (await self.result())["response"]
