"""A failure is the same exception, and is retried as often, as in the other SDK: both read one table."""

from __future__ import annotations

import builtins
import json
import pickle
import random
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import perch_sdk
from perch_sdk import ConnectionError, PerchError, TimeoutError
from perch_sdk._error_of import create_error, parse_retry_after
from perch_sdk._retries import retry_delay_seconds

from .both_clients import Kind, both, value, with_client
from .conftest import FOLDER
from .mock_http import http_that

if TYPE_CHECKING:
    from collections.abc import Callable

_cases = json.loads((FOLDER.parent / "spec/sdk-cases/failures.json").read_text("utf-8"))
_key = "perch_" + "0" * 46


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its random part, a pause is as long as the server asks for; and nobody waits for that here."""

    async def sleep(_: float) -> None:
        return None

    monkeypatch.setattr(random, "random", lambda: 0.0)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setattr("asyncio.sleep", sleep)


def _failing(
    kind: Kind,
    answer: Callable[[httpx.Request], httpx.Response],
    call: Callable[[Any], Any],
    **options: Any,
) -> tuple[PerchError, list[httpx.Request]]:
    """The exception of a call whose attempts are all answered with this, and the requests."""
    sent: list[httpx.Request] = []

    def record(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return answer(request)

    async def work(client: Any) -> PerchError:
        with pytest.raises(PerchError) as raised:
            await value(call(client))
        return raised.value

    address = {"base_url": "https://perch.example", "http_client": http_that(kind, record)}
    return with_client(kind, work, _key, **{**address, **options}), sent


@both
@pytest.mark.parametrize("case", _cases["responses"], ids=lambda case: case["title"])
def test_a_response_is_the_same_error_as_in_the_other_sdk(kind: Kind, case: dict[str, Any]) -> None:
    given, expected = case["response"], case["error"]
    body = given["body"] if isinstance(given["body"], str) else json.dumps(given["body"])
    error, sent = _failing(
        kind,
        lambda _: httpx.Response(given["status"], text=body, headers=given["headers"]),
        lambda client: client.agents.invoke("bot", message="hello"),
        max_retries=1,
    )
    found = {name: getattr(error, name) for name in expected if name not in ("class", "details")}
    details = [one.to_dict() for one in error.details]
    assert {"class": type(error).__name__, **found, "details": details} == expected
    assert (error.method, error.url) == ("POST", "https://perch.example/v1/agents/bot/invoke")
    assert len(sent) == (2 if case["is_retried"] else 1)
    assert error.idempotency_key == sent[0].headers["idempotency-key"]
    assert error.short_message in str(error)
    assert case.get("says", "") in str(error)
    assert "POST https://perch.example/v1/agents/bot/invoke" in str(error)


@both
def test_no_response_is_the_same_error_as_in_the_other_sdk(kind: Kind) -> None:
    broken, late = _cases["no_response"]
    for case, cause in ((broken, httpx.ConnectError("refused")), (late, httpx.ReadTimeout("late"))):

        def fail(_: httpx.Request, cause: Exception = cause) -> httpx.Response:
            raise cause

        error, sent = _failing(kind, fail, lambda client: client.me(), max_retries=1)
        assert (type(error).__name__, error.code, error.status) == (case["class"], case["code"], None)
        assert len(sent) == 2
        assert error.__cause__ is cause


@pytest.mark.parametrize("case", _cases["waits"], ids=lambda case: f"after {case['failures']} retries")
def test_the_waits_are_those_of_the_other_sdk(case: dict[str, Any]) -> None:
    asked = case["retry_after_seconds"]
    error = create_error("", status=503, code="unavailable", retry_after_seconds=asked)
    waits = [retry_delay_seconds(error, case["failures"], chance) for chance in (0.0, 1.0)]
    assert waits == [case["min_ms"] / 1000, case["max_ms"] / 1000]


@both
def test_a_call_is_retried_as_often_as_in_the_other_sdk_and_with_one_key(kind: Kind) -> None:
    calls: dict[str, Callable[[Any], Any]] = {
        "GET": lambda client: client.agents.get("bot"),
        "POST": lambda client: client.agents.pause("bot"),
        "PATCH": lambda client: client.agents.update("bot", temperature=None),
        "DELETE": lambda client: client.agents.delete("bot"),
    }
    keys = _cases["idempotency_keys"]
    assert {*keys["with"], *keys["without"]} == set(calls)
    for method, call in calls.items():
        _, sent = _failing(kind, lambda _: httpx.Response(503), call)
        assert len(sent) == 1 + _cases["default_max_retries"]
        assert len({request.headers.get("idempotency-key") for request in sent}) == 1
        assert ("idempotency-key" in sent[0].headers) == (method in keys["with"])


@both
def test_a_page_that_is_not_of_perch_is_an_error_at_once(kind: Kind) -> None:
    page = httpx.Response(200, text="<html>", headers={"content-type": "text/html"})
    error, sent = _failing(kind, lambda _: page, lambda client: client.me())
    assert (error.status, error.code, len(sent)) == (200, "unknown", 1)
    assert "Is base_url correct?" in str(error)


@both
@pytest.mark.parametrize("body", [[], {}, {"data": {}}, {"data": ["x"], "pagination": {}}, {"data": []}], ids=str)
def test_a_page_of_a_list_that_is_not_of_perch_is_an_error(kind: Kind, body: Any) -> None:
    error, sent = _failing(kind, lambda _: httpx.Response(200, json=body), lambda client: client.agents.list().page())
    assert (error.status, error.code, len(sent)) == (200, "unknown", 1)
    assert "not from Perch" in str(error)


def test_a_message_says_what_happened_where_and_what_to_do_next() -> None:
    body = {"error": {"code": "run_failed", "message": "The model refused", "retryable": True}}
    body["error"]["details"] = [{"field": "request_id", "error": "req_1"}]
    response = httpx.Response(422, json=body, headers={"x-correlation-id": "corr_1"})
    error, _ = _failing(
        perch_sdk.Perch, lambda _: response, lambda client: client.agents.invoke("bot", message="private")
    )
    assert str(error) == (
        "The model refused. (POST https://perch.example/v1/agents/bot/invoke, 422 run_failed, run req_1, "
        "correlation id corr_1) A new call may succeed. runs.steps shows what the run did."
    )


def test_no_error_holds_a_key_not_even_one_in_the_place_of_an_id() -> None:
    details = [{"field": "agent_id", "error": f"{_key} is no name."}]
    body = {"error": {"code": "not_found", "message": f"There is no agent {_key}", "details": details}}
    error, _ = _failing(
        perch_sdk.Perch, lambda _: httpx.Response(404, json=body), lambda client: client.agents.get(_key)
    )
    assert error.url == "https://perch.example/v1/agents/perch_***"
    assert error.details[0].error == "perch_*** is no name."
    assert _key not in f"{error!r} {error} {error.short_message} {error.args} {error.details}"
    with pytest.raises(ValueError, match="password"):
        perch_sdk.Perch(_key, base_url="https://ada:secret@perch.example")


def test_an_error_without_an_answer_is_one_of_python_too() -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectTimeout("late")

    error, _ = _failing(perch_sdk.Perch, fail, lambda client: client.me(), max_retries=0)
    assert isinstance(error, (TimeoutError, ConnectionError))
    assert isinstance(error, builtins.TimeoutError)
    assert isinstance(error, builtins.ConnectionError)
    assert "late" in str(error)


def test_an_error_survives_the_way_to_another_process() -> None:
    body = {"error": {"code": "rate_limited", "message": "Too many", "retry_after": 61}}
    error, _ = _failing(perch_sdk.Perch, lambda _: httpx.Response(429, json=body), lambda client: client.me())
    copied = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(copied) is perch_sdk.RateLimitedError
    assert str(copied) == str(error)
    assert copied.retry_after_seconds == 61


def test_retry_after_is_seconds_or_a_date() -> None:
    assert parse_retry_after("12", 0.0) == 12
    assert parse_retry_after("Thu, 01 Jan 1970 00:00:30 GMT", 10.0) == 20
    assert parse_retry_after("Thu, 01 Jan 1970 00:00:30 GMT", 40.0) == 0
    assert parse_retry_after("soon", 0.0) is None
    assert parse_retry_after(None, 0.0) is None
