"""Lists that turn their own pages."""

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
    """Where a page stands among all of them."""

    limit: int
    offset: int
    total: int
    has_more: bool
    total_relation: NotRequired[Literal["eq", "gte"]]
    """``gte``: there are at least ``total``. Where it is missing, ``total`` is exact."""
    next_cursor: NotRequired[str | None]
    """Of logs: costs less than ``offset``."""


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
    place = {"cursor": cursor, "offset": None} if cursor else {"offset": info["offset"] + len(page.data)}
    return replace(call, query={**call.query, **place})


def _in_large_pages(call: Call, most: int) -> Call:
    """Who wants all of them wants few requests, unless they said how many at a time."""
    return replace(call, query={**call.query, "limit": call.query.get("limit") or most})


class Pager(Generic[T]):
    """A list: ``for item in pager`` goes through all pages, :meth:`page` asks for one. Nothing is sent before that."""

    def __init__(self, transport: Transport, call: Call, most: int) -> None:
        self._transport = transport
        self._call = call
        self._most = most

    def page(self) -> Page[T]:
        """The page that ``limit`` and ``offset`` name."""
        return _page(self._transport.send(self._call)[1])

    def pages(self) -> Iterator[Page[T]]:
        call: Call | None = _in_large_pages(self._call, self._most)
        while call:
            page = _page(self._transport.send(call)[1])
            yield page
            call = _next(call, page)

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.data


class AsyncPager(Generic[T]):
    """A list: ``async for item in pager`` goes through all pages, ``await pager.page()`` asks for one."""

    def __init__(self, transport: AsyncTransport, call: Call, most: int) -> None:
        self._transport = transport
        self._call = call
        self._most = most

    async def page(self) -> Page[T]:
        """The page that ``limit`` and ``offset`` name."""
        return _page((await self._transport.send(self._call))[1])

    async def pages(self) -> AsyncIterator[Page[T]]:
        call: Call | None = _in_large_pages(self._call, self._most)
        while call:
            page = _page((await self._transport.send(call))[1])
            yield page
            call = _next(call, page)

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.data:
                yield item
