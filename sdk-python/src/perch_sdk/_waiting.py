"""Waits for a run or a deployment to end."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

from ._call import Call
from ._error_of import action_required, create_error, parse_retry_after, run_error, still_running
from ._errors import DeploymentFailedError, PerchError
from ._generated.models import Deployment, Invocation, InvocationResult, StartedRun
from ._run_events import run_call
from ._settings import Settings, Wait, WaitIsOver
from ._streams import AsyncRunStream, RunStream

if TYPE_CHECKING:
    from ._errors import Exchange
    from ._transport import Answer, AsyncTransport, Transport

_initial_poll_seconds = 0.1
_max_poll_seconds = 2.0


class _Polling:
    """How long to pause before asking again: longer each time, and at least as long as the server asks for."""

    def __init__(self) -> None:
        self._pause = _initial_poll_seconds

    def pause(self, answer: Answer) -> float:
        asked = parse_retry_after(answer.headers.get("retry-after"), time.time()) or 0.0
        pause = max(self._pause, asked)
        self._pause = min(self._pause * 1.5, _max_poll_seconds)
        return pause


def _result(run: Invocation, exchange: Exchange) -> InvocationResult | None:
    """The result or error that ``invoke`` would have given; None if the run goes on."""
    if run.status in ("running", "waiting"):
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


def _open_approvals(call: Call, run_id: str) -> Call:
    query = {"request_id": run_id, "status": "open", "limit": 100}
    return Call("GET", "/v1/approvals", query=query, timeout_seconds=call.timeout_seconds)


def wait_for_run(
    transport: Transport, call: Call, run_id: str, seconds: float | None, *, wait_for_decision: bool
) -> InvocationResult:
    """Reads the run's stream. With a limit it asks repeatedly, because nothing interrupts a thread that reads."""
    if seconds is None:
        with RunStream(transport, call, run_id, wait_for_decision=wait_for_decision) as stream:
            return stream.result()
    wait, polling = Wait(seconds), _Polling()
    exchange = transport.settings.exchange(call)
    try:
        while True:
            answer = transport.send(call, wait)
            run = answer.of(Invocation)
            if run.status == "waiting" and not wait_for_decision:
                # None is open if the decision was made just now, or if the run waits for its turn in the session.
                ids = [one["id"] for one in transport.send(_open_approvals(call, run_id), wait).page()["data"]]
                if ids:
                    raise action_required(run_id, ids, exchange)
            result = _result(run, exchange)
            if result:
                return result
            time.sleep(wait.limit(polling.pause(answer)))
    except WaitIsOver:
        raise still_running(run_id, seconds, exchange) from None


async def wait_for_run_async(
    transport: AsyncTransport, call: Call, run_id: str, seconds: float | None, *, wait_for_decision: bool
) -> InvocationResult:
    """Reads the run's stream, no longer than it may."""
    async with AsyncRunStream(transport, call, run_id, wait_for_decision=wait_for_decision) as stream:
        try:
            return await asyncio.wait_for(stream.result(), seconds)
        except asyncio.TimeoutError as error:
            if seconds is None or isinstance(error, PerchError):
                raise
            raise still_running(run_id, seconds, transport.settings.exchange(call)) from None


def _response(answer: Answer) -> InvocationResult | StartedRun:
    return answer.of(StartedRun) if answer.status == 202 else answer.of(InvocationResult)


def _is_waiting(run: StartedRun, exchange: Exchange, *, wait_for_decision: bool) -> bool:
    """Whether the run waits for a person. Raises :class:`ActionRequiredError` unless the caller chose to wait too."""
    if run.status == "waiting" and not wait_for_decision:
        raise action_required(run.request_id, run.approvals or [], exchange)
    return run.status == "waiting"


def wait_for_response(
    transport: Transport, call: Call, wait_seconds: float | None, *, wait_for_decision: bool
) -> InvocationResult:
    """Repeats the request with the same idempotency key until the run has ended, so that no request is long."""
    wait, exchange = Wait(wait_seconds), transport.settings.exchange(call)
    while True:
        response = _response(transport.send(transport.settings.waiting(call, wait.remaining())))
        if isinstance(response, InvocationResult):
            return response
        run_id = response.request_id
        if _is_waiting(response, exchange, wait_for_decision=wait_for_decision):
            return wait_for_run(
                transport, run_call(call, run_id), run_id, wait.remaining(), wait_for_decision=wait_for_decision
            )
        if wait_seconds is not None and wait.is_over():
            raise still_running(run_id, wait_seconds, exchange)


async def wait_for_response_async(
    transport: AsyncTransport, call: Call, wait_seconds: float | None, *, wait_for_decision: bool
) -> InvocationResult:
    """Repeats the request with the same idempotency key until the run has ended, so that no request is long."""
    wait, exchange = Wait(wait_seconds), transport.settings.exchange(call)
    while True:
        response = _response(await transport.send(transport.settings.waiting(call, wait.remaining())))
        if isinstance(response, InvocationResult):
            return response
        run_id = response.request_id
        if _is_waiting(response, exchange, wait_for_decision=wait_for_decision):
            return await wait_for_run_async(
                transport, run_call(call, run_id), run_id, wait.remaining(), wait_for_decision=wait_for_decision
            )
        if wait_seconds is not None and wait.is_over():
            raise still_running(run_id, wait_seconds, exchange)


class _Deploying(_Polling):
    """Looks at a deployment until its checks have passed or failed."""

    def __init__(self, create: Call, settings: Settings, seconds: float) -> None:
        super().__init__()
        self._settings = settings
        self._seconds = seconds
        #: The call that comes next, or that was not answered in time.
        self.call = create
        self._created: Deployment | None = None

    def is_pending(self, deployment: Deployment) -> bool:
        if self._created is None:
            self._created = deployment
            self.call = Call("GET", f"{self.call.path}/{quote(deployment.id, safe='')}")
        if deployment.status in ("failed", "rolled_back"):
            raise DeploymentFailedError(deployment, self._settings.exchange(self.call))
        return deployment.status == "pending"

    def late(self) -> PerchError:
        created, after = self._created, f"after {self._seconds:g} s"
        message = (
            f"The deployment {created.id} is still pending {after}, and goes on"
            if created
            else f"The deployment was not answered {after}"
        )
        return create_error(message, code="timed_out", exchange=self._settings.exchange(self.call))


def deploy_and_wait(transport: Transport, create: Call, seconds: float) -> Deployment:
    wait, deploying = Wait(seconds), _Deploying(create, transport.settings, seconds)
    try:
        while True:
            answer = transport.send(deploying.call, wait)
            deployment = answer.of(Deployment)
            if not deploying.is_pending(deployment):
                return deployment
            time.sleep(wait.limit(deploying.pause(answer)))
    except WaitIsOver:
        raise deploying.late() from None


async def deploy_and_wait_async(transport: AsyncTransport, create: Call, seconds: float) -> Deployment:
    deploying = _Deploying(create, transport.settings, seconds)

    async def work() -> Deployment:
        while True:
            answer = await transport.send(deploying.call)
            deployment = answer.of(Deployment)
            if not deploying.is_pending(deployment):
                return deployment
            await asyncio.sleep(deploying.pause(answer))

    try:
        return await asyncio.wait_for(work(), seconds)
    except asyncio.TimeoutError as error:
        if isinstance(error, PerchError):
            raise
        raise deploying.late() from None
