"""Remembers requests, so that none passes twice."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from datetime import datetime


class ReplayStore(Protocol):
    """Remembers the nonces of requests that passed."""

    def add(self, nonce: str, expires_at: datetime, /) -> bool:
        """Stores a nonce until ``expires_at``, and returns whether it was new.

        Looking and storing must be one step, such as ``SET nonce 1 NX PXAT …`` of Redis: two copies of a request can
        arrive at the same time.
        """
        ...


class AsyncReplayStore(Protocol):
    """The same, for :func:`verify_request_async`."""

    def add(self, nonce: str, expires_at: datetime, /) -> bool | Awaitable[bool]: ...


class MemoryReplayStore:
    """A replay store for a service that runs as one process. Several processes need one that they share.

    :param max_size: The most nonces that are stored at a time, each for about five and a half minutes. When the store
        is full it raises, because without a nonce its request would pass again.
    """

    def __init__(self, max_size: int = 100_000) -> None:
        self._max_size = max_size
        # In order of arrival, so that the first to expire are near the front.
        self._expiry_by_nonce: dict[str, float] = {}
        self._lock = threading.Lock()

    def add(self, nonce: str, expires_at: datetime, /) -> bool:
        with self._lock:
            self._drop_expired(time.time())
            if nonce in self._expiry_by_nonce:
                return False
            if len(self._expiry_by_nonce) >= self._max_size:
                raise RuntimeError(
                    f"The replay store is full with {self._max_size} requests. "
                    "Raise max_size, or share a store between processes."
                )
            self._expiry_by_nonce[nonce] = expires_at.timestamp()
            return True

    def _drop_expired(self, now: float) -> None:
        expired = []
        for nonce, expires in self._expiry_by_nonce.items():
            if expires > now:
                break
            expired.append(nonce)
        for nonce in expired:
            del self._expiry_by_nonce[nonce]
