"""A run that waits for a person: a caller that waits for the run gets an error, or waits for the decision too."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from perch_sdk import ActionRequiredError, Perch, RequiredAction, RunActionRequired, StillRunningError
from perch_sdk.models import ApprovalPolicy, HttpTool

from .both_clients import Kind, both, items, value, with_client
from .mock_http import http_that

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

_done = {"response": "Done.", "request_id": "req_1", "tokens_used": 3, "duration_ms": 5}
_invoke = "POST /v1/agents/bot/invoke"
_follow = "GET /v1/agents/bot/invocations/req_1"


def _required(*ids: str) -> dict[str, Any]:
    approvals = [{"id": one, "kind": "tool", "tool": "refund", "step": 1, "call": 1} for one in ids]
    return {"request_id": "req_1", "message": "The run waits for a person.", "approvals": approvals}


def _events(*sent: tuple[str, str, dict[str, Any]]) -> httpx.Response:
    text = "".join(f"id: {one}\nevent: {event}\ndata: {json.dumps(data)}\n\n" for one, event, data in sent)
    headers = {"content-type": "text/event-stream", "location": "/v1/agents/bot/invocations/req_1"}
    return httpx.Response(200, text=text, headers=headers)


def _waits(*ids: str) -> httpx.Response:
    return _events(("2-0", "action_required", _required(*ids)))


def _rest() -> httpx.Response:
    return _events(("3-0", "token", {"step": 2, "offset": 0, "text": "Done."}), ("4-0", "done", _done))


def _accepted() -> httpx.Response:
    data = {"request_id": "req_1", "status": "waiting", "approvals": ["appr_1"]}
    return httpx.Response(202, json={"success": True, "data": data})


def _refused() -> httpx.Response:
    details = [{"field": "request_id", "error": "req_1"}, {"field": "approval_id", "error": "appr_1"}]
    error = {"code": "action_required", "message": "The run waits for a person.", "details": details}
    return httpx.Response(409, json={"success": False, "error": error})


def _run(status: str) -> httpx.Response:
    run = {**_done, "status": status} if status == "completed" else {"request_id": "req_1", "status": status}
    return httpx.Response(200, json={"success": True, "data": run})


def _approvals(*ids: str) -> httpx.Response:
    pagination = {"limit": 100, "has_more": False, "next_cursor": None}
    return httpx.Response(200, json={"data": [{"id": one} for one in ids], "pagination": pagination})


def _with_answers(
    kind: Kind, work: Callable[[Any], Coroutine[Any, Any, None]], *answers: httpx.Response
) -> list[httpx.Request]:
    """The requests that were made. Each gets the next answer, and the last one stays."""
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        given = answers[min(len(asked), len(answers)) - 1]
        return httpx.Response(given.status_code, content=given.content, headers=given.headers)

    with_client(kind, work, "key", base_url="https://perch.example", http_client=http_that(kind, answer))
    return asked


def _routes(asked: list[httpx.Request]) -> list[str]:
    return [f"{one.method} {one.url.path}" for one in asked]


@both
def test_a_stream_ends_where_the_run_waits_and_its_result_is_an_error(kind: Kind) -> None:
    async def work(client: Any) -> None:
        stream = client.agents.invoke_stream("bot", message="hi")
        (event,) = await items(stream)
        assert isinstance(event, RunActionRequired)
        assert [one.id for one in event.approvals] == ["appr_1", "appr_2"]
        assert isinstance(event.approvals[0], RequiredAction)
        with pytest.raises(ActionRequiredError) as required:
            await value(stream.result())
        error = required.value
        assert (error.status, error.code, error.run_id) == (409, "action_required", "req_1")
        assert error.approval_ids == ["appr_1", "appr_2"]
        assert "After the decision, runs.wait gets the result." in str(error)
        assert await items(stream) == []
        assert (stream.run_id, stream.last_event_id) == ("req_1", "2-0")

    assert len(_with_answers(kind, work, _waits("appr_1", "appr_2"))) == 1


@both
def test_a_run_is_followed_after_the_last_event(kind: Kind) -> None:
    async def work(client: Any) -> None:
        events = await items(client.runs.follow("bot", "req_1", last_event_id="2-0"))
        assert [event.type for event in events] == ["token", "done"]

    (asked,) = _with_answers(kind, work, _rest())
    assert asked.headers["last-event-id"] == "2-0"


@both
def test_a_stream_that_waits_goes_on_by_the_runs_id_and_says_nothing_twice(kind: Kind) -> None:
    async def work(client: Any) -> None:
        stream = client.agents.invoke_stream("bot", message="hi", wait_for_decision=True)
        assert [event.type for event in await items(stream)] == ["action_required", "token", "done"]
        assert (await value(stream.result())).response == "Done."

    began = time.monotonic()
    asked = _with_answers(kind, work, _waits("appr_1", "appr_2"), _waits("appr_1", "appr_2"), _waits("appr_2"), _rest())
    assert time.monotonic() - began >= 0.5 + 0.75
    assert _routes(asked) == [_invoke, _follow, _follow, _follow]
    assert [one.headers.get("last-event-id") for one in asked] == [None, "2-0", "2-0", "2-0"]
    assert "idempotency-key" not in asked[1].headers


@both
def test_a_stream_that_waits_tells_of_the_next_decision(kind: Kind) -> None:
    async def work(client: Any) -> None:
        events = await items(client.runs.follow("bot", "req_1", wait_for_decision=True))
        assert [event.type for event in events] == ["action_required", "token", "action_required", "done"]

    token = {"step": 2, "offset": 0, "text": "Almost"}
    second = _events(("3-0", "token", token), ("5-0", "action_required", _required("appr_3")))
    _with_answers(kind, work, _waits("appr_1"), second, _events(("6-0", "done", _done)))


@both
@pytest.mark.parametrize("answer", [_accepted(), _refused()], ids=["202", "409"])
def test_invoking_raises_that_the_run_waits(kind: Kind, answer: httpx.Response) -> None:
    async def work(client: Any) -> None:
        with pytest.raises(ActionRequiredError) as required:
            await value(client.agents.invoke("bot", message="hi"))
        error = required.value
        assert (error.status, error.run_id, error.approval_ids) == (409, "req_1", ["appr_1"])
        assert (error.method, error.url) == ("POST", "https://perch.example/v1/agents/bot/invoke")
        assert error.idempotency_key

    assert len(_with_answers(kind, work, answer)) == 1


@both
def test_invoking_waits_for_the_decision_by_the_runs_id(kind: Kind) -> None:
    async def work(client: Any) -> None:
        assert (await value(client.agents.invoke("bot", message="hi", wait_for_decision=True))).response == "Done."

    assert _routes(_with_answers(kind, work, _accepted(), _rest())) == [_invoke, _follow]


@both
def test_waiting_raises_that_the_run_waits_or_waits_too(kind: Kind) -> None:
    async def refused(client: Any) -> None:
        with pytest.raises(ActionRequiredError):
            await value(client.runs.wait("bot", "req_1"))

    async def waits(client: Any) -> None:
        assert (await value(client.runs.wait("bot", "req_1", wait_for_decision=True))).response == "Done."

    async def limited(client: Any) -> None:
        with pytest.raises(StillRunningError):
            await value(client.runs.wait("bot", "req_1", wait_for_decision=True, timeout_seconds=0.3))

    _with_answers(kind, refused, _waits("appr_1"))
    _with_answers(kind, waits, _waits("appr_1"), _rest())
    if kind.__name__ == "AsyncPerch":
        _with_answers(kind, limited, _waits("appr_1"))
    else:
        _with_answers(kind, limited, _run("waiting"))


def test_waiting_with_a_limit_names_the_open_approvals_and_asks_again_when_none_is_open() -> None:
    async def refused(client: Any) -> None:
        with pytest.raises(ActionRequiredError) as required:
            client.runs.wait("bot", "req_1", timeout_seconds=5)
        assert required.value.approval_ids == ["appr_1"]

    async def decided(client: Any) -> None:
        assert client.runs.wait("bot", "req_1", timeout_seconds=5).response == "Done."

    asked = _with_answers(Perch, refused, _run("waiting"), _approvals("appr_1"))
    assert asked[1].url.params["request_id"] == "req_1"
    _with_answers(Perch, decided, _run("waiting"), _approvals(), _run("completed"))


def test_a_policy_is_a_word_or_an_object() -> None:
    tool = {"type": "http", "name": "refund", "approval": {"approvers": 2}}
    policy = HttpTool.from_dict(tool).approval
    assert isinstance(policy, ApprovalPolicy)
    assert policy.approvers == 2
    assert HttpTool.from_dict({**tool, "approval": "always"}).approval == "always"
