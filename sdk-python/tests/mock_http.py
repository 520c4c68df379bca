"""A client of either kind whose requests are answered by a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

from perch_sdk import AsyncPerch, Perch

if TYPE_CHECKING:
    from collections.abc import Callable

    from .both_clients import Kind


def http_that(kind: Kind, answer: Callable[[httpx.Request], httpx.Response]) -> Any:
    async def answer_later(request: httpx.Request) -> httpx.Response:
        return answer(request)

    if kind is AsyncPerch:
        return httpx.AsyncClient(transport=httpx.MockTransport(answer_later))
    return httpx.Client(transport=httpx.MockTransport(answer))


def perch_that(answer: Callable[[httpx.Request], httpx.Response], **options: Any) -> Perch:
    return Perch("key", base_url="https://perch.example", http_client=http_that(Perch, answer), **options)
