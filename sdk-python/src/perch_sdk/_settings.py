"""Settings of both clients."""

from __future__ import annotations

import math
import os
import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx

from ._errors import Exchange
from ._log import read_log_level
from ._retries import Attempts
from ._version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._call import Call

#: Three heartbeats of the service: a stream without data for longer is broken.
_idle_timeout_seconds = 45.0
#: How long one request waits for a run before it is repeated: many proxies end a request after a minute.
_wait_seconds = 30


@dataclass(frozen=True)
class Settings:
    api_key: str
    base_url: str
    timeout_seconds: float
    max_retries: int
    headers: Mapping[str, str]

    @classmethod
    def read(
        cls,
        api_key: str | None,
        base_url: str | None,
        timeout_seconds: float,
        max_retries: int,
        headers: Mapping[str, str] | None,
    ) -> Settings:
        key = api_key or os.environ.get("PERCH_API_KEY", "")
        url = base_url or os.environ.get("PERCH_URL", "")
        if not re.fullmatch(r"[\x21-\x7e]+", key):
            raise ValueError("Give an api_key, or set PERCH_API_KEY. It has no spaces.")
        if not re.match(r"https?://", url):
            raise ValueError("Give a base_url, or set PERCH_URL: https://perch.example, without /v1.")
        if httpx.URL(url).userinfo:  # it would be in errors and logs
            raise ValueError("A base_url has no user and no password: give them in headers.")
        read_log_level()
        return cls(key, url.rstrip("/"), timeout_seconds, max_retries, headers or {})

    def __repr__(self) -> str:
        return f"Settings(base_url={self.base_url!r})"

    def exchange(self, call: Call) -> Exchange:
        return Exchange(call.method, self.base_url + call.path, call.idempotency_key)

    def attempts(self, call: Call) -> Attempts:
        return Attempts(self.max_retries, self.exchange(call), call.path)

    def seconds(self, call: Call) -> float:
        return self.timeout_seconds if call.timeout_seconds is None else call.timeout_seconds

    def request(self, call: Call, remaining: float | None = None) -> dict[str, Any]:
        """Arguments of httpx's ``build_request``.

        :param remaining: The rest of the caller's wait, which no request outlasts.
        """
        seconds = self.seconds(call)
        timeout = seconds if remaining is None else min(seconds, remaining)
        return self._request(call, timeout, accept="application/json")

    def stream_request(self, call: Call, last_event_id: str | None) -> dict[str, Any]:
        resume = {} if last_event_id is None else {"last-event-id": last_event_id}
        timeout = httpx.Timeout(self.seconds(call), read=_idle_timeout_seconds)
        return self._request(call, timeout, accept="text/event-stream", **resume)

    def _request(self, call: Call, timeout: float | httpx.Timeout, **headers: str) -> dict[str, Any]:
        own = {"authorization": f"Bearer {self.api_key}", "user-agent": f"perch-sdk-python/{__version__}"}
        sent = call.content()
        return {
            **sent,
            "method": call.method,
            "url": self.base_url + call.path,
            "headers": {**own, **headers, **self.headers, **sent["headers"]},
            "timeout": timeout,
        }

    def waiting(self, call: Call, remaining: float | None) -> Call:
        """The call with a ``Prefer: wait`` header and a timeout that leaves time for it."""
        wait = _wait_seconds if remaining is None else math.ceil(min(_wait_seconds, remaining))
        headers = {**call.headers, "prefer": f"wait={wait}"}
        return replace(call, headers=headers, timeout_seconds=wait + self.seconds(call))


class WaitIsOver(Exception):  # noqa: N818
    """The time of a :class:`Wait` has passed. The waiting code raises an error that names what it waited for."""


class Wait:
    """A deadline for waiting."""

    def __init__(self, seconds: float | None) -> None:
        self._until = None if seconds is None else time.monotonic() + seconds

    def remaining(self) -> float | None:
        return None if self._until is None else max(0.0, self._until - time.monotonic())

    def is_over(self) -> bool:
        return self.remaining() == 0.0

    def limit(self, pause: float) -> float:
        """The pause, or the remaining time if that is less."""
        left = self.remaining()
        return pause if left is None else min(pause, left)

    def raise_if_over(self) -> None:
        if self.is_over():
            raise WaitIsOver
