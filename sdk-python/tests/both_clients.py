"""One test for both clients: the plain client's results are compared with the awaited ones of the other."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from perch_sdk import AsyncPerch, Perch

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")

both = pytest.mark.parametrize("kind", [Perch, AsyncPerch], ids=["sync", "async"])
Kind = type[Perch] | type[AsyncPerch]


async def value(given: Any) -> Any:
    """The result of a call of either client."""
    return await given if inspect.isawaitable(given) else given


async def items(given: Any) -> list[Any]:
    """The items of either kind of iterator."""
    return [one async for one in given] if hasattr(given, "__aiter__") else list(given)


def with_client(kind: Kind, work: Callable[[Any], Coroutine[Any, Any, T]], *args: Any, **options: Any) -> T:
    """Runs work with a client of this kind, and closes it."""

    async def run() -> T:
        client = kind(*args, **options)
        try:
            return await work(client)
        finally:
            await value(client.close())

    return asyncio.run(run())
