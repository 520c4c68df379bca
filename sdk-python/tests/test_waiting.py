"""One call waits for a run or a deployment, and ends in a result or an error."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from perch_sdk import (
    DeploymentFailedError,
    Perch,
    RunCancelledError,
    RunFailedError,
    StillRunningError,
    TimeoutError,
)

from .agents import scripted
from .both_clients import Kind, both, items, value, with_client
from .mock_http import http_that

if TYPE_CHECKING:
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
