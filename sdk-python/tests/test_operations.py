"""Every operation of openapi.json has a method in both clients, and its request is as documented."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from generate import sources
from generator.document import Json, Operation, load, operations, path_argument
from perch_sdk import AsyncPerch, Perch

from .both_clients import Kind, both, items, value, with_client
from .mock_http import http_that

FOLDER = Path(__file__).parents[1]

_operations = operations(load())
_page = {"data": [], "pagination": {"limit": 1, "offset": 0, "total": 0, "has_more": False}}


def test_generated_files_are_fresh() -> None:
    folder = FOLDER / "src/perch_sdk/_generated"
    for name, source in sources(load()).items():
        assert (folder / name).read_text("utf-8") == source, f"{name} is stale: run pnpm generate"
        ast.parse(source)


def test_the_document_was_read() -> None:
    assert len(_operations) >= 57
    assert len({(one.method, one.path) for one in _operations}) == len(_operations)


def test_no_field_can_be_taken_for_an_option_of_the_call() -> None:
    document = load()
    document["components"]["schemas"]["CreateAgent"]["properties"]["timeout_seconds"] = {"type": "integer"}
    with pytest.raises(ValueError, match="CreateAgentTimeoutSeconds has the name of an option"):
        sources(document)


def _answer(operation: Operation) -> dict[str, Any]:
    return _page if "pagination" in operation.answer["properties"] else {"success": True, "data": {"request_id": "r"}}


def _arguments(method: Any) -> dict[str, Any]:
    """A text for every parameter: the test examines the request, not whether a server would accept it."""
    names = [name for name in inspect.signature(method).parameters if name not in ("timeout_seconds", "wait_seconds")]
    return {name: f"{name}/?" for name in names if name != "idempotency_key"}


async def _call(kind: Kind, operation: Operation) -> httpx.Request:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=_answer(operation))

    async def answer_later(request: httpx.Request) -> httpx.Response:
        return answer(request)

    http: Any = (
        httpx.Client(transport=httpx.MockTransport(answer))
        if kind is Perch
        else httpx.AsyncClient(transport=httpx.MockTransport(answer_later))
    )
    client = kind("key", base_url="http://perch.test/", http_client=http)
    is_alone = operation.path == "/v1/me"
    method: Any = client.me if is_alone else getattr(getattr(client, operation.resource), operation.name)
    result = method(**_arguments(method))
    await value(result.page() if hasattr(result, "page") else result)
    await value(http.aclose() if kind is AsyncPerch else http.close())
    return seen[0]


@both
@pytest.mark.parametrize("operation", _operations, ids=lambda one: one.id)
def test_each_operation_asks_for_what_the_document_says(kind: Kind, operation: Operation) -> None:
    request = asyncio.run(_call(kind, operation))
    path = re.sub(r"\{(\w+)\}", lambda found: f"{path_argument(found[1])}%2F%3F", operation.path)
    assert (request.method, request.url.raw_path.decode().split("?")[0]) == (operation.method, path)
    assert set(request.url.params) == {one["name"] for one in operation.parameters("query")}
    assert ("idempotency-key" in request.headers) == operation.takes_idempotency_key
    assert request.headers["authorization"] == "Bearer key"
    if operation.body is None:
        assert request.content == b""
    else:
        schema = operation.body
        while "$ref" in schema:
            schema = load()["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        assert set(json.loads(request.content)) == set(schema["properties"])


@both
def test_a_list_whose_search_stopped_early_goes_on_after_an_empty_page(kind: Kind) -> None:
    answers: list[tuple[list[Json], str | None]] = [([], "a"), ([{"request_id": "req_1"}], "b"), ([], None)]
    cursors: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        data, cursor = answers[len(cursors)]
        cursors.append(request.url.params.get("cursor"))
        pagination = {"limit": 100, "has_more": cursor is not None, "next_cursor": cursor}
        return httpx.Response(200, json={"data": data, "pagination": pagination})

    async def work(client: Any) -> list[Any]:
        return await items(client.runs.list_all(status="failed"))

    http_client = http_that(kind, answer)
    found = with_client(kind, work, "key", base_url="https://perch.example", http_client=http_client)
    assert [run.request_id for run in found] == ["req_1"]
    assert cursors == [None, "a", "b"]
