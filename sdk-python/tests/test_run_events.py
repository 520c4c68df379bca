"""What a reader of a run is told."""

from __future__ import annotations

from perch_sdk import Dropped, Step, ToolCall
from perch_sdk._run_events import RunReader
from perch_sdk._sse import ServerSentEvent


def test_a_reader_is_told_that_events_were_dropped() -> None:
    event = ServerSentEvent(event="dropped", data='{"message": "Too much is kept."}', id="1")
    assert RunReader().read(event) == Dropped("Too much is kept.")


def test_a_reader_is_told_of_each_attempt_and_why_it_failed() -> None:
    retried = (
        '{"step": 1, "kind": "model", "name": "openai/gpt-5", "attempt": 1, "status": "retried",'
        ' "reason": "connection refused", "retry_after_ms": 500, "of_a_later_version": true}'
    )
    event = ServerSentEvent(event="step", data=retried, id="1")
    assert RunReader().read(event) == Step(
        1, "model", "openai/gpt-5", 1, "retried", reason="connection refused", retry_after_ms=500
    )
    said = '{"step": 1, "call": 1, "name": "lookup", "attempt": 2, "status": "completed", "said": "3 characters"}'
    event = ServerSentEvent(event="tool", data=said, id="2")
    assert RunReader().read(event) == ToolCall(1, 1, "lookup", "completed", attempt=2, said="3 characters")
