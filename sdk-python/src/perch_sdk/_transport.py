"""Sends calls, with retries. The two classes differ only in ``await``."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import httpx

from ._deprecation import warn_if_deprecated
from ._errors import still_running
from ._etags import tagged_body
from ._retries import Attempts
from ._settings import Settings, Wait
from ._sse import EventParser, ServerSentEvent

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from ._call import Call
    from ._generated.models import InvocationResult

_cut = httpx.RemoteProtocolError("The stream ended before its last event")


def _is_event_stream(response: httpx.Response) -> bool:
    return response.is_success and response.headers.get("content-type", "").startswith("text/event-stream")


def _after_failed_open(attempts: Attempts, response: httpx.Response) -> float:
    return attempts.after_failure(_cut) if response.is_success else attempts.after_error_response(response)


class Transport:
    def __init__(self, settings: Settings, http: httpx.Client) -> None:
        self.settings = settings
        self.http = http

    def send(self, call: Call) -> tuple[int, Any]:
        """Sends with retries. Returns the status and the body of the response."""
        attempts = Attempts(self.settings.max_retries, call.idempotency_key)
        while True:
            request = self.http.build_request(**self.settings.request(call))
            try:
                response = self.http.send(request)
                warn_if_deprecated(response)
                if response.is_success:
                    return response.status_code, tagged_body(response)
            except (httpx.RequestError, ValueError) as failure:
                pause = attempts.after_failure(failure)
            else:
                pause = attempts.after_error_response(response)
            time.sleep(pause)

    def wait_for_run(self, call: Call, wait_seconds: float | None) -> InvocationResult:
        """Repeats the request with the same idempotency key until the run has ended, so that no request is long."""
        wait = Wait(wait_seconds)
        while True:
            status, body = self.send(self.settings.waiting(call, wait.remaining()))
            result: InvocationResult = body["data"]
            if status != 202:
                return result
            if wait.is_over():
                raise still_running(result["request_id"], call.idempotency_key)

    def events(self, call: Call) -> Generator[ServerSentEvent, None, None]:
        """Events of a stream. It reconnects for ever; the caller decides which event is the last."""
        attempts = Attempts(self.settings.max_retries, call.idempotency_key)
        last_event_id: str | None = None
        while True:
            request = self.settings.stream_request(call, last_event_id)
            try:
                with self.http.stream(**request) as response:
                    warn_if_deprecated(response)
                    if _is_event_stream(response):
                        parser = EventParser()
                        for chunk in response.iter_bytes():
                            for event in parser.feed(chunk):
                                if event.id is None:
                                    continue  # the node that served the stream failed; the run continues
                                last_event_id = event.id
                                attempts.reset()
                                yield event
                        pause = attempts.after_failure(_cut)
                    else:
                        response.read()
                        pause = _after_failed_open(attempts, response)
            except httpx.RequestError as failure:
                pause = attempts.after_failure(failure)
            time.sleep(pause)


class AsyncTransport:
    def __init__(self, settings: Settings, http: httpx.AsyncClient) -> None:
        self.settings = settings
        self.http = http

    async def send(self, call: Call) -> tuple[int, Any]:
        """Sends with retries. Returns the status and the body of the response."""
        attempts = Attempts(self.settings.max_retries, call.idempotency_key)
        while True:
            request = self.http.build_request(**self.settings.request(call))
            try:
                response = await self.http.send(request)
                warn_if_deprecated(response)
                if response.is_success:
                    return response.status_code, tagged_body(response)
            except (httpx.RequestError, ValueError) as failure:
                pause = attempts.after_failure(failure)
            else:
                pause = attempts.after_error_response(response)
            await asyncio.sleep(pause)

    async def wait_for_run(self, call: Call, wait_seconds: float | None) -> InvocationResult:
        """Repeats the request with the same idempotency key until the run has ended, so that no request is long."""
        wait = Wait(wait_seconds)
        while True:
            status, body = await self.send(self.settings.waiting(call, wait.remaining()))
            result: InvocationResult = body["data"]
            if status != 202:
                return result
            if wait.is_over():
                raise still_running(result["request_id"], call.idempotency_key)

    async def events(self, call: Call) -> AsyncGenerator[ServerSentEvent, None]:
        """Events of a stream. It reconnects for ever; the caller decides which event is the last."""
        attempts = Attempts(self.settings.max_retries, call.idempotency_key)
        last_event_id: str | None = None
        while True:
            request = self.settings.stream_request(call, last_event_id)
            try:
                async with self.http.stream(**request) as response:
                    warn_if_deprecated(response)
                    if _is_event_stream(response):
                        parser = EventParser()
                        async for chunk in response.aiter_bytes():
                            for event in parser.feed(chunk):
                                if event.id is None:
                                    continue  # the node that served the stream failed; the run continues
                                last_event_id = event.id
                                attempts.reset()
                                yield event
                        pause = attempts.after_failure(_cut)
                    else:
                        await response.aread()
                        pause = _after_failed_open(attempts, response)
            except httpx.RequestError as failure:
                pause = attempts.after_failure(failure)
            await asyncio.sleep(pause)
