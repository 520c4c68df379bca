"""The keys of Perch are fetched seldom, and requests are refused while the directory fails."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import httpx
import pytest

from perch_sdk import MemoryReplayStore, RequestVerificationError, verify_request, verify_request_async

from .signing import KEY, signed_headers

OTHER = {**KEY, "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
START = 4_102_444_800


def _listing(keys: list[Any], **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(200, json={"keys": keys}, headers=named)


class Service:
    """A directory of Perch whose answer can change, and the calls that a service verifies with it."""

    def __init__(self, answer: httpx.Response | Exception) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self._client = httpx.Client(transport=httpx.MockTransport(self._respond), follow_redirects=True)
        self._count = 0

    def _respond(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(str(request.url))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def _call(self, after_seconds: float) -> dict[str, Any]:
        self._count += 1
        now = START + after_seconds
        nonce = f"nonce-of-16-or-more-{self._count}"
        headers = signed_headers("GET", "https://tools.example.com/", b"", nonce=nonce, now=now)
        return {
            "method": "GET",
            "url": "/",
            "headers": headers,
            "body": b"",
            "origin": "https://tools.example.com",
            "directory": "https://perch.example",
            "replay_store": MemoryReplayStore(),
            "http_client": self._client,
            "now": now,
        }

    def receive(self, after_seconds: float) -> str:
        try:
            verify_request(**self._call(after_seconds))
        except RequestVerificationError as error:
            return f"{error.reason} {error.status}"
        return "passed"

    async def receive_async(self, after_seconds: float) -> str:
        try:
            await verify_request_async(**self._call(after_seconds))
        except RequestVerificationError as error:
            return f"{error.reason} {error.status}"
        return "passed"


def test_keys_are_fetched_once_and_kept_for_as_long_as_the_answer_allows() -> None:
    service = Service(_listing([KEY], cache_control="public, max-age=300"))
    assert [service.receive(seconds) for seconds in (0, 1, 299)] == ["passed"] * 3
    assert service.asked == ["https://perch.example/.well-known/http-message-signatures-directory"]
    assert service.receive(300) == "passed"
    assert len(service.asked) == 2


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"cache_control": "max-age=600", "age": "500"}, 100),
        ({"cache_control": "no-store"}, 300),
        ({"cache_control": "max-age=0"}, 60),
        ({"cache_control": "max-age=99999999"}, 86_400),
        ({}, 300),
    ],
)
def test_how_long_an_answer_is_kept(headers: dict[str, str], seconds: int) -> None:
    service = Service(_listing([KEY], **headers))
    service.receive(0)
    service.receive(seconds - 1)
    assert len(service.asked) == 1
    service.receive(seconds)
    assert len(service.asked) == 2


def test_many_calls_at_once_ask_once() -> None:
    service = Service(_listing([KEY]))
    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(service.receive(0))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (results, len(service.asked)) == (["passed"] * 20, 1)

    async def together() -> list[str]:
        return await asyncio.gather(*(service.receive_async(300) for _ in range(20)))

    assert (asyncio.run(together()), len(service.asked)) == (["passed"] * 20, 2)


def test_an_unknown_key_makes_it_ask_again_at_most_once_a_minute() -> None:
    service = Service(_listing([OTHER], cache_control="max-age=3600"))
    assert [service.receive(seconds) for seconds in (0, 1, 59)] == ["unknown_key 401"] * 3
    assert len(service.asked) == 1
    service.answer = _listing([OTHER, KEY])
    assert service.receive(60) == "passed"


FAILURES = [
    httpx.ConnectError("connection refused"),
    httpx.Response(500, json={}),
    httpx.Response(302, headers={"location": "https://evil.example/"}),
    httpx.Response(200, text="<p>hello</p>"),
    httpx.Response(200, json=[]),
    httpx.Response(200, json={"keys": [KEY], "more": "x" * 300_000}),
]


@pytest.mark.parametrize("failure", FAILURES, ids=["away", "500", "redirect", "HTML", "no list", "huge"])
def test_a_directory_that_fails_refuses_with_503_and_known_keys_outlive_it_by_an_hour(
    failure: httpx.Response | Exception,
) -> None:
    service = Service(failure)
    assert [service.receive(seconds) for seconds in (0, 1, 4)] == ["directory_unavailable 503"] * 3
    assert len(service.asked) == 1
    service.answer = _listing([KEY], cache_control="max-age=60")
    assert service.receive(5) == "passed"
    service.answer = failure
    assert [service.receive(65), service.receive(65 + 3599)] == ["passed", "passed"]
    assert service.receive(65 + 3600) == "directory_unavailable 503"


def test_a_key_that_was_taken_off_the_list_is_refused_with_the_next_answer() -> None:
    service = Service(_listing([KEY], cache_control="max-age=60"))
    assert service.receive(0) == "passed"
    service.answer = _listing([OTHER])
    assert service.receive(60) == "unknown_key 401"


def test_entries_that_are_no_keys_of_ed25519_are_passed_over() -> None:
    strange = [None, "key", {"kty": "RSA"}, {**KEY, "x": KEY["x"] + "="}, {**KEY, "nbf": "now"}, {**KEY, "x": 5}]
    assert Service(_listing([*strange, KEY])).receive(0) == "passed"
