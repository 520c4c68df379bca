"""Waits for a run or a deployment to end."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

from ._call import Call
from ._error_of import create_error, parse_retry_after, run_error, still_running
from ._errors import DeploymentFailedError, PerchError
from ._generated.models import Deployment, Invocation, InvocationResult
from ._settings import Settings, Wait
from ._streams import AsyncRunStream, RunStream

if TYPE_CHECKING:
    from ._errors import Exchange
    from ._transport import Answer, AsyncTransport, Transport

_initial_poll_seconds = 0.1
_max_poll_seconds = 2.0


class _Polling:
    """How long to pause before asking again: longer each time, and at least what the server asks for."""

    def __init__(self, seconds: float | None) -> None:
        self._wait = Wait(seconds)
        self._pause = _initial_poll_seconds

    def is_over(self) -> bool:
        return self._wait.is_over()

    def pause(self, answer: Answer) -> float:
        asked = parse_retry_after(answer.headers.get("retry-after"), time.time()) or 0.0
        pause = max(self._pause, asked)
        self._pause = min(self._pause * 1.5, _max_poll_seconds)
        left = self._wait.remaining()
        return pause if left is None else min(pause, left)


def _result(run: Invocation, exchange: Exchange) -> InvocationResult | None:
    """What ``invoke`` would have returned or raised; None if the run goes on."""
    if run.status == "running":
        return None
    if run.status == "completed":
        return InvocationResult(
            response=run.response or "",
            request_id=run.request_id,
            tokens_used=run.tokens_used,
            duration_ms=run.duration_ms or 0,
        )
    code = "conflict" if run.status == "cancelled" else run.error_code or "run_failed"
    raise run_error(code, run.error or f"The run is {run.status}", run.request_id, run.retryable, exchange)


def wait_for_run(transport: Transport, call: Call, run_id: str, seconds: float | None) -> InvocationResult:
    """Reads the run's stream. With a limit it asks again and again: nothing interrupts a thread that reads."""
    if seconds is None:
        with RunStream(transport, call, run_id) as stream:
            return stream.result()
    polling = _Polling(seconds)
    exchange = transport.settings.exchange(call)
    while True:
        answer = transport.send(call)
        result = _result(answer.of(Invocation), exchange)
        if result:
            return result
        if polling.is_over():
            raise still_running(run_id, seconds, exchange)
        time.sleep(polling.pause(answer))


async def wait_for_run_async(
    transport: AsyncTransport, call: Call, run_id: str, seconds: float | None
) -> InvocationResult:
    """Reads the run's stream, no longer than it may."""
    async with AsyncRunStream(transport, call, run_id) as stream:
        try:
            return await asyncio.wait_for(stream.result(), seconds)
        except asyncio.TimeoutError as error:
            if seconds is None or isinstance(error, PerchError):
                raise
            raise still_running(run_id, seconds, transport.settings.exchange(call)) from None


class _Deploying(_Polling):
    """Looks at a deployment until its checks have passed or failed."""

    def __init__(self, created: Deployment, create: Call, settings: Settings, seconds: float) -> None:
        super().__init__(seconds)
        self._seconds = seconds
        self.get = Call("GET", f"{create.path}/{quote(created.id, safe='')}")
        self._exchange = settings.exchange(self.get)

    def is_pending(self, deployment: Deployment) -> bool:
        if deployment.status in ("failed", "rolled_back"):
            raise DeploymentFailedError(deployment, self._exchange)
        if deployment.status == "pending" and self.is_over():
            message = f"The deployment {deployment.id} is still pending after {self._seconds:g} s, and goes on"
            raise create_error(message, code="timed_out", exchange=self._exchange)
        return deployment.status == "pending"


def deploy_and_wait(transport: Transport, create: Call, seconds: float) -> Deployment:
    answer = transport.send(create)
    deployment = answer.of(Deployment)
    deploying = _Deploying(deployment, create, transport.settings, seconds)
    while deploying.is_pending(deployment):
        time.sleep(deploying.pause(answer))
        answer = transport.send(deploying.get)
        deployment = answer.of(Deployment)
    return deployment


async def deploy_and_wait_async(transport: AsyncTransport, create: Call, seconds: float) -> Deployment:
    answer = await transport.send(create)
    deployment = answer.of(Deployment)
    deploying = _Deploying(deployment, create, transport.settings, seconds)
    while deploying.is_pending(deployment):
        await asyncio.sleep(deploying.pause(answer))
        answer = await transport.send(deploying.get)
        deployment = answer.of(Deployment)
    return deployment
