"""The ETag of a method's result can be read, and sent with a change."""

from __future__ import annotations

import copy
from typing import Any

import httpx

from perch_sdk import AsyncPerch, etag_of
from perch_sdk._call import Call
from perch_sdk.models import Agent

from .both_clients import Kind, both, value, with_client

_agent = {"id": "agent_1", "name": "bot"}


def _answer(request: httpx.Request) -> httpx.Response:
    headers = {"etag": '"one"'} if request.url.path.endswith("/bot") else {}
    return httpx.Response(200, json={"success": True, "data": _agent}, headers=headers)


def _http(kind: Kind) -> Any:
    async def answer_later(request: httpx.Request) -> httpx.Response:
        return _answer(request)

    if kind is AsyncPerch:
        return httpx.AsyncClient(transport=httpx.MockTransport(answer_later))
    return httpx.Client(transport=httpx.MockTransport(_answer))


@both
def test_what_a_method_returns_has_the_tag_of_its_response(kind: Kind) -> None:
    async def work(client: Any) -> None:
        agent = await value(client.agents.get("bot"))
        assert agent.to_dict() == _agent
        assert etag_of(agent) == '"one"'
        assert etag_of(copy.deepcopy(agent)) == '"one"'
        assert agent == Agent.from_dict(_agent)  # whatever its tag is
        assert etag_of(await value(client.agents.get("other"))) is None

    with_client(kind, work, "key", base_url="http://perch.test/", http_client=_http(kind))


def test_a_call_sends_the_tag_that_it_is_given() -> None:
    assert Call("PATCH", "/", if_match='"one"').content()["headers"] == {"if-match": '"one"'}
    assert Call("PATCH", "/").content()["headers"] == {}
