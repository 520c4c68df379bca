"""The events that a reader of a run gets."""

from __future__ import annotations

import pytest

from perch_sdk import RunDropped, RunFailedError, RunStepEvent, RunTool
from perch_sdk._errors import Exchange
from perch_sdk._run_events import RunReader
from perch_sdk._sse import ServerSentEvent


def _reader() -> RunReader:
    return RunReader(Exchange("GET", "http://perch.test/v1/agents/a/invocations/req_1", None), None)


def test_a_reader_gets_an_event_when_events_were_dropped() -> None:
    event = ServerSentEvent(event="dropped", data='{"message": "Too much is kept."}', id="1")
    assert _reader().read(event) == RunDropped(message="Too much is kept.")


def test_a_reader_gets_each_attempt_and_why_it_failed() -> None:
    retried = (
        '{"step": 1, "kind": "model", "name": "openai/gpt-5", "attempt": 1, "status": "retried",'
        ' "reason": "connection refused", "retry_after_ms": 500, "of_a_later_version": true}'
    )
    step = _reader().read(ServerSentEvent(event="step", data=retried, id="1"))
    assert isinstance(step, RunStepEvent)
    assert (step.type, step.status, step.reason, step.retry_after_ms) == ("step", "retried", "connection refused", 500)
    assert step.unknown_fields == {"of_a_later_version": True}
    said = '{"step": 1, "call": 1, "name": "lookup", "attempt": 2, "status": "completed", "output": "3 characters"}'
    tool = _reader().read(ServerSentEvent(event="tool", data=said, id="2"))
    assert tool == RunTool(step=1, call=1, name="lookup", status="completed", attempt=2, output="3 characters")


def test_a_run_that_failed_stays_failed_and_is_named() -> None:
    data = '{"code": "server_error", "message": "Lost.", "request_id": "req_1", "retryable": true}'
    reader = _reader()
    with pytest.raises(RunFailedError) as failed:
        reader.read(ServerSentEvent(event="error", data=data, id="1"))
    with pytest.raises(RunFailedError):
        reader.is_over()
    assert (failed.value.status, failed.value.run_id, failed.value.retryable) == (500, "req_1", True)
    assert reader.run_id == "req_1"
