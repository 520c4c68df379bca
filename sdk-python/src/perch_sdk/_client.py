"""The two clients: :class:`Perch` and :class:`AsyncPerch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

from ._call import OMIT, Call, new_key
from ._generated.async_operations import AsyncOperations
from ._generated.operations import Operations
from ._model import to_wire
from ._settings import Settings
from ._transport import AsyncTransport, Transport

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self


def _call(method: str, path: str, query: Mapping[str, Any] | None, body: Any, key: str | None) -> Call:
    is_repeatable = method.upper() in ("POST", "PATCH")
    return Call(
        method.upper(), path, query or {}, to_wire(body), idempotency_key=new_key(key) if is_repeatable else None
    )


class Perch(Operations):
    """The client. Create one and share it, also between threads.

    :param api_key: The API key. The default is the environment variable ``PERCH_API_KEY``.
    :param base_url: URL of the service, without ``/v1``. The default is the environment variable ``PERCH_URL``.
    :param timeout_seconds: How long one attempt waits for the connection, and then for each piece of the response.
    :param max_retries: Maximum number of retries after a connection error or 408, 429, 500, 502, 503 or 504.
    :param headers: Additional headers for every request.
    :param http_client: Your own httpx client, for proxies, certificates or tests. You have to close it.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        timeout_seconds: float = 60.0,
        max_retries: int = 4,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        settings = Settings.read(
            api_key, base_url, timeout_seconds=timeout_seconds, max_retries=max_retries, headers=headers
        )
        self._owns_http = http_client is None
        super().__init__(Transport(settings, http_client or httpx.Client()))

    def with_options(
        self,
        *,
        timeout_seconds: float | None = None,
        max_retries: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Self:
        """A copy of the client with other options. It shares the connections."""
        known = self._transport.settings
        return type(self)(
            known.api_key,
            base_url=known.base_url,
            timeout_seconds=known.timeout_seconds if timeout_seconds is None else timeout_seconds,
            max_retries=known.max_retries if max_retries is None else max_retries,
            headers={**known.headers, **(headers or {})},
            http_client=self._transport.http,
        )

    def close(self) -> None:
        if self._owns_http:
            self._transport.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = OMIT,
        idempotency_key: str | None = None,
    ) -> Any:
        """Makes any request, with the same retries and errors. Returns the whole body."""
        return self._transport.send(_call(method, path, query, body, idempotency_key)).body


class AsyncPerch(AsyncOperations):
    """The client for asyncio. Create one per event loop and share it.

    :param api_key: The API key. The default is the environment variable ``PERCH_API_KEY``.
    :param base_url: URL of the service, without ``/v1``. The default is the environment variable ``PERCH_URL``.
    :param timeout_seconds: How long one attempt waits for the connection, and then for each piece of the response.
    :param max_retries: Maximum number of retries after a connection error or 408, 429, 500, 502, 503 or 504.
    :param headers: Additional headers for every request.
    :param http_client: Your own httpx client, for proxies, certificates or tests. You have to close it.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        timeout_seconds: float = 60.0,
        max_retries: int = 4,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        settings = Settings.read(
            api_key, base_url, timeout_seconds=timeout_seconds, max_retries=max_retries, headers=headers
        )
        self._owns_http = http_client is None
        super().__init__(AsyncTransport(settings, http_client or httpx.AsyncClient()))

    def with_options(
        self,
        *,
        timeout_seconds: float | None = None,
        max_retries: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Self:
        """A copy of the client with other options. It shares the connections."""
        known = self._transport.settings
        return type(self)(
            known.api_key,
            base_url=known.base_url,
            timeout_seconds=known.timeout_seconds if timeout_seconds is None else timeout_seconds,
            max_retries=known.max_retries if max_retries is None else max_retries,
            headers={**known.headers, **(headers or {})},
            http_client=self._transport.http,
        )

    async def close(self) -> None:
        if self._owns_http:
            await self._transport.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = OMIT,
        idempotency_key: str | None = None,
    ) -> Any:
        """Makes any request, with the same retries and errors. Returns the whole body."""
        return (await self._transport.send(_call(method, path, query, body, idempotency_key))).body
