"""What a reader of a run is told."""

from __future__ import annotations

from perch_sdk import Dropped
from perch_sdk._run_events import RunReader
from perch_sdk._sse import ServerSentEvent


def test_a_reader_is_told_that_events_were_dropped() -> None:
    event = ServerSentEvent(event="dropped", data='{"message": "Too much is kept."}', id="1")
    assert RunReader().read(event) == Dropped("Too much is kept.")
