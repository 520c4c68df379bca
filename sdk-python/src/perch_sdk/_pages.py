"""Lists that fetch their pages as they are iterated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from ._model import Model

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from ._call import Call
    from ._transport import Answer, AsyncTransport, Transport

T = TypeVar("T", bound=Model)


class PageInfo(Model):
    """Position of a page in its list. In a list that is not counted, ``offset`` and ``total`` are None."""

    limit: int
    offset: int
    total: int
    has_more: bool
    total_relation: Literal["eq", "gte"] | None = None
    """``gte``: there are at least ``total`` items. If it is missing, ``total`` is exact."""
    next_cursor: str | None = None
    """``cursor`` of the next page, if the operation takes one. Faster than ``offset``."""


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list: ``for item in page``, ``len(page)``."""

    data: list[T]
    pagination: PageInfo

    def __iter__(self) -> Iterator[T]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


def _page(answer: Answer, kind: type[T]) -> Page[T]:
    body = answer.page()
    return Page([kind.from_dict(one) for one in body["data"]], PageInfo.from_dict(body["pagination"]))


def _next(call: Call, page: Page[Any]) -> Call | None:
    info = page.pagination
    # A page can be empty if a search stopped early; its cursor continues the search.
    if not info.has_more or not (info.next_cursor or page.data):
        return None
    cursor = info.next_cursor
    position = {"cursor": cursor, "offset": None} if cursor else {"offset": info.offset + len(page.data)}
    return replace(call, query={**call.query, **position})


def _in_large_pages(call: Call, max_limit: int) -> Call:
    """Uses the largest page unless ``limit`` is given, to make fewer requests."""
    return replace(call, query={**call.query, "limit": call.query.get("limit") or max_limit})


class _Seen(Generic[T]):
    """An item that moves to the next page, because another was added meanwhile, is returned once."""

    def __init__(self) -> None:
        self._before: set[str] = set()

    def new(self, page: Page[T]) -> list[T]:
        ids = [getattr(item, "id", None) or getattr(item, "request_id", None) for item in page]
        new = [item for item, identity in zip(page, ids, strict=True) if identity not in self._before]
        self._before = {identity for identity in ids if identity is not None}
        return new


class PageList(Generic[T]):
    """A list: ``for item in list`` iterates over all pages, :meth:`page` fetches one. Requests are made on demand."""

    def __init__(self, transport: Transport, call: Call, kind: type[T], max_limit: int) -> None:
        self._transport = transport
        self._call = call
        self._kind = kind
        self._max_limit = max_limit

    def page(self) -> Page[T]:
        """Fetches the page at ``limit`` and ``offset``."""
        return _page(self._transport.send(self._call), self._kind)

    def pages(self) -> Iterator[Page[T]]:
        """All pages, from the one at ``offset`` on."""
        call: Call | None = _in_large_pages(self._call, self._max_limit)
        while call:
            page = _page(self._transport.send(call), self._kind)
            yield page
            call = _next(call, page)

    def __iter__(self) -> Iterator[T]:
        seen = _Seen[T]()
        for page in self.pages():
            yield from seen.new(page)

    def to_list(self) -> list[T]:
        """All items. Use it if you delete items in a loop: iterating over a shrinking list skips items."""
        return [*self]


class AsyncPageList(Generic[T]):
    """A list: ``async for item in list`` iterates over all pages, ``await list.page()`` fetches one."""

    def __init__(self, transport: AsyncTransport, call: Call, kind: type[T], max_limit: int) -> None:
        self._transport = transport
        self._call = call
        self._kind = kind
        self._max_limit = max_limit

    async def page(self) -> Page[T]:
        """Fetches the page at ``limit`` and ``offset``."""
        return _page(await self._transport.send(self._call), self._kind)

    async def pages(self) -> AsyncIterator[Page[T]]:
        """All pages, from the one at ``offset`` on."""
        call: Call | None = _in_large_pages(self._call, self._max_limit)
        while call:
            page = _page(await self._transport.send(call), self._kind)
            yield page
            call = _next(call, page)

    async def __aiter__(self) -> AsyncIterator[T]:
        seen = _Seen[T]()
        async for page in self.pages():
            for item in seen.new(page):
                yield item

    async def to_list(self) -> list[T]:
        """All items. Use it if you delete items in a loop: iterating over a shrinking list skips items."""
        return [item async for item in self]
