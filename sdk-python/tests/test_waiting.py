"""One call waits for a run or a deployment, and ends in a result or an error."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from perch_sdk import (
    DeploymentFailedError,
    Perch,
    PerchError,
    RunCancelledError,
    RunFailedError,
    StillRunningError,
    TimeoutError,
    UnavailableError,
)

from .agents import scripted
from .both_clients import Kind, both, items, value, with_client
from .mock_http import http_that, perch_that

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .conftest import Testbed

_call = {"name": "perch_echo", "arguments": {}}


@both
def test_waiting_for_a_run_gives_what_invoking_would_have_given(kind: Kind, testbed: Testbed, perch: Perch) -> None:
    name = scripted(perch, {"reply": "At last.", "delay_ms": 500})

    async def work(client: Any) -> None:
        run = await value(client.agents.invoke_in_background(name, message="hi"))
        limited = await value(client.runs.wait(name, run.request_id, timeout_seconds=60))
        assert (limited.response, limited.request_id) == ("At last.", run.request_id)
        assert await value(client.runs.wait(name, run.request_id)) == limited
        assert await value(client.runs.follow(name, run.request_id).result()) == limited
        steps = await items(client.runs.steps(name, run.request_id))
        assert [(step.kind, step.status) for step in steps] == [("model", "completed")]

    with_client(kind, work, testbed.key, base_url=testbed.url)


@both
def test_waiting_ends_after_its_time_and_the_run_goes_on(kind: Kind, testbed: Testbed, perch: Perch) -> None:
    name = scripted(perch, *[{"tool_calls": [_call], "delay_ms": 500}] * 20)

    async def work(client: Any) -> None:
        run = await value(client.agents.invoke_in_background(name, message="hi"))
        with pytest.raises(StillRunningError) as still:
            await value(client.runs.wait(name, run.request_id, timeout_seconds=0.3))
        assert still.value.run_id == run.request_id
        assert (await value(client.runs.cancel(name, run.request_id))).status == "running"

    with_client(kind, work, testbed.key, base_url=testbed.url)


@both
@pytest.mark.parametrize("limit", [None, 60.0])
def test_waiting_for_a_run_that_failed_or_was_cancelled_raises_that(
    kind: Kind, limit: float | None, testbed: Testbed, perch: Perch
) -> None:
    failing = scripted(perch, {"fail": "permanent"})
    busy = scripted(perch, *[{"tool_calls": [_call], "delay_ms": 200}] * 10)

    async def work(client: Any) -> None:
        run = await value(client.agents.invoke_in_background(failing, message="hi"))
        with pytest.raises(RunFailedError) as failed:
            await value(client.runs.wait(failing, run.request_id, timeout_seconds=limit))
        error = failed.value
        assert (error.status, error.code, error.run_id, error.retryable) == (422, "run_failed", run.request_id, False)
        run = await value(client.agents.invoke_in_background(busy, message="hi"))
        await value(client.runs.cancel(busy, run.request_id))
        with pytest.raises(RunCancelledError) as cancelled:
            await value(client.runs.wait(busy, run.request_id, timeout_seconds=limit))
        assert (cancelled.value.status, cancelled.value.run_id) == (409, run.request_id)

    with_client(kind, work, testbed.key, base_url=testbed.url)


@both
def test_a_deployment_whose_checks_fail_raises_them(kind: Kind, testbed: Testbed, perch: Perch) -> None:
    name = scripted(perch, {"reply": "ok"})
    perch.agents.update(name, tools=[{"type": "mcp", "name": "gone", "url": "http://127.0.0.1:9/mcp"}])

    async def work(client: Any) -> DeploymentFailedError:
        with pytest.raises(DeploymentFailedError) as failed:
            await value(client.deployments.deploy_and_wait(name, environment="production", version="v1"))
        return failed.value

    error = with_client(kind, work, testbed.key, base_url=testbed.url)
    assert (error.code, error.deployment.status) == ("deployment_failed", "failed")
    assert error.deployment.error is not None
    assert error.deployment.error in str(error)
    assert "gone" in error.deployment.error
    assert error.deployment.id in str(error.url)


@both
def test_a_deployment_is_asked_for_no_faster_than_the_server_wants_and_no_longer_than_the_limit(kind: Kind) -> None:
    seen: list[float] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(time.monotonic())
        assert len(seen) < 10, "It does not stop"
        assert request.url.path == "/v1/agents/bot/deployments" + ("/dep_1" if request.method == "GET" else "")
        deployment = {"id": "dep_1", "status": "pending"}
        return httpx.Response(200, json={"data": deployment}, headers={"retry-after": "1"})

    async def work(client: Any) -> None:
        with pytest.raises(TimeoutError, match=r"dep_1 is still pending after 1\.5 s") as late:
            await value(client.deployments.deploy_and_wait("bot", environment="e", version="v1", timeout_seconds=1.5))
        assert (late.value.code, late.value.status) == ("timed_out", None)

    with_client(kind, work, "key", base_url="https://perch.example", http_client=http_that(kind, answer))
    assert len(seen) <= 3  # at once, after one second, and at the end
    assert seen[-1] - seen[0] >= 1.0


@contextmanager
def _silent_server(*answers: bytes) -> Iterator[str]:
    """The address of a server that gives these answers to its first connections, and none to the others."""
    listener = socket.create_server(("127.0.0.1", 0))
    accepted: list[socket.socket] = []

    def serve() -> None:
        with suppress(OSError):  # it was closed
            for number in count():
                connection, _ = listener.accept()
                accepted.append(connection)
                if number < len(answers):
                    connection.recv(65536)
                    connection.sendall(answers[number])

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for connection in accepted:
            connection.close()


def _answer(data: dict[str, Any]) -> bytes:
    body = json.dumps({"data": data}).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


@both
def test_no_wait_outlasts_its_time_when_the_server_is_silent(kind: Kind) -> None:
    async def work(client: Any) -> list[PerchError]:
        waits: list[Callable[[], Any]] = [
            lambda: client.runs.wait("bot", "req_1", timeout_seconds=0.5),
            lambda: client.deployments.deploy_and_wait("bot", environment="e", version="v1", timeout_seconds=0.5),
        ]
        errors = []
        for wait in waits:
            with pytest.raises(PerchError) as late:
                await value(wait())
            errors.append(late.value)
        return errors

    with _silent_server() as url:
        began = time.monotonic()
        # An attempt takes 20 seconds, and there are five.
        run, deployment = with_client(kind, work, "key", base_url=url, timeout_seconds=20)
        assert time.monotonic() - began < 15
    assert isinstance(run, StillRunningError)
    assert run.run_id == "req_1"
    assert isinstance(deployment, TimeoutError)
    assert "The deployment was not answered after 0.5 s" in str(deployment)
    assert (deployment.method, deployment.url) == ("POST", f"{url}/v1/agents/bot/deployments")
    assert deployment.idempotency_key


@both
def test_a_deployment_that_was_created_is_named_when_the_server_is_silent_after(kind: Kind) -> None:
    async def work(client: Any) -> None:
        with pytest.raises(TimeoutError, match="dep_1 is still pending after 2 s"):
            await value(client.deployments.deploy_and_wait("bot", environment="e", version="v1", timeout_seconds=2))

    with _silent_server(_answer({"id": "dep_1", "status": "pending"})) as url:
        with_client(kind, work, "key", base_url=url, timeout_seconds=20)


@both
def test_a_wait_ends_with_the_error_when_no_retry_is_left_before_its_time(kind: Kind) -> None:
    async def work(client: Any) -> None:
        with pytest.raises(UnavailableError):
            await value(client.runs.wait("bot", "req_1", timeout_seconds=60))

    http = http_that(kind, lambda _: httpx.Response(503))
    with_client(kind, work, "key", base_url="https://perch.example", http_client=http, max_retries=0)


def test_no_retry_begins_after_the_time_of_a_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.random", lambda: 1.0)
    sent: list[httpx.Request] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(503, headers={"retry-after": "30"})

    began = time.monotonic()
    with perch_that(refuse) as client, pytest.raises(StillRunningError):
        client.runs.wait("bot", "req_1", timeout_seconds=0.3)
    assert time.monotonic() - began < 15
    assert len(sent) == 1
