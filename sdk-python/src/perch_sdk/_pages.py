"""Lists that fetch their pages as they are iterated."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict, TypeVar

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from ._call import Call
    from ._transport import AsyncTransport, Transport

T = TypeVar("T")


class PageInfo(TypedDict):
    """Position of a page in its list."""

    limit: int
    offset: int
    total: int
    has_more: bool
    total_relation: NotRequired[Literal["eq", "gte"]]
    """``gte``: there are at least ``total`` items. If it is missing, ``total`` is exact."""
    next_cursor: NotRequired[str | None]
    """``cursor`` of the next page, where the operation takes one. Faster than ``offset``."""


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list."""

    data: list[T]
    pagination: PageInfo


def _page(body: Any) -> Page[Any]:
    return Page(body["data"], body["pagination"])


def _next(call: Call, page: Page[Any]) -> Call | None:
    info = page.pagination
    if not info["has_more"] or not page.data:
        return None
    cursor = info.get("next_cursor")
    position = {"cursor": cursor, "offset": None} if cursor else {"offset": info["offset"] + len(page.data)}
    return replace(call, query={**call.query, **position})


def _in_large_pages(call: Call, max_limit: int) -> Call:
    """Uses the largest page unless ``limit`` is given, to make fewer requests."""
    return replace(call, query={**call.query, "limit": call.query.get("limit") or max_limit})


class Pager(Generic[T]):
    """A list: ``for item in pager`` iterates over all pages, :meth:`page` fetches one. Requests are made on demand."""

    def __init__(self, transport: Transport, call: Call, max_limit: int) -> None:
        self._transport = transport
        self._call = call
        self._max_limit = max_limit

    def page(self) -> Page[T]:
        """Fetches the page at ``limit`` and ``offset``."""
        return _page(self._transport.send(self._call)[1])

    def pages(self) -> Iterator[Page[T]]:
        call: Call | None = _in_large_pages(self._call, self._max_limit)
        while call:
            page = _page(self._transport.send(call)[1])
            yield page
            call = _next(call, page)

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.data


class AsyncPager(Generic[T]):
    """A list: ``async for item in pager`` iterates over all pages, ``await pager.page()`` fetches one."""

    def __init__(self, transport: AsyncTransport, call: Call, max_limit: int) -> None:
        self._transport = transport
        self._call = call
        self._max_limit = max_limit

    async def page(self) -> Page[T]:
        """Fetches the page at ``limit`` and ``offset``."""
        return _page((await self._transport.send(self._call))[1])

    async def pages(self) -> AsyncIterator[Page[T]]:
        call: Call | None = _in_large_pages(self._call, self._max_limit)
        while call:
            page = _page((await self._transport.send(call))[1])
            yield page
            call = _next(call, page)

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.data:
                yield item
