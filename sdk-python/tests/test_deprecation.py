"""The warnings of the clients about operations that will be removed."""

from __future__ import annotations

import asyncio
import warnings

import httpx

from perch_sdk import AsyncPerch, Perch

_BASE = "https://a.example"
_NOTICE = {"deprecation": "@1767225600", "sunset": "Wed, 30 Jun 2027 00:00:00 GMT"}


def _transport(headers: dict[str, str]) -> httpx.MockTransport:
    return httpx.MockTransport(lambda _: httpx.Response(200, json={"success": True, "data": {}}, headers=headers))


def _link(operation: str) -> dict[str, str]:
    return {"link": f'</docs#tag/agents/{operation}>; rel="deprecation"; type="text/html"'}


def _warnings_of(headers: dict[str, str], *names: str) -> list[str]:
    """The warnings of one client that reads these agents."""
    http = httpx.Client(transport=_transport(headers))
    with warnings.catch_warnings(record=True) as caught, Perch("k", base_url=_BASE, http_client=http) as p:
        warnings.simplefilter("always")
        for name in names:
            p.agents.get(name)
    assert all(warning.category is DeprecationWarning for warning in caught)
    return [str(warning.message) for warning in caught]


def test_a_deprecated_operation_is_warned_of_once_in_a_process_whatever_ids_its_path_has() -> None:
    headers = {**_NOTICE, **_link("GET/v1/agents/%7Bagent_id%7D")}
    expected = (
        "GET /v1/agents/one is deprecated since 2026-01-01, and gone from 2027-06-30 on. "
        "What to use instead: https://a.example/docs#tag/agents/GET/v1/agents/%7Bagent_id%7D"
    )
    assert _warnings_of(headers, "one", "two") == [expected]
    assert _warnings_of(headers, "three") == []


def test_the_asynchronous_client_warns_too() -> None:
    async def work() -> None:
        http = httpx.AsyncClient(transport=_transport({**_NOTICE, **_link("GET/v1/models")}))
        async with AsyncPerch("k", base_url=_BASE, http_client=http) as perch:
            await perch.agents.get("four")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(work())
    assert [str(warning.message)[:54] for warning in caught if warning.category is DeprecationWarning] == [
        "GET /v1/agents/four is deprecated since 2026-01-01, an"
    ]


def test_headers_that_are_not_as_expected_leave_the_call_as_it_is() -> None:
    odd = {"deprecation": "true", "sunset": "some day", "link": "nowhere"}
    expected = "GET /v1/agents/five is deprecated. What to use instead: https://a.example/docs"
    assert _warnings_of(odd, "five") == [expected]


def test_other_answers_are_not_warned_of() -> None:
    assert _warnings_of({}, "six") == []
