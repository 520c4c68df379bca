"""What a stream of a run tells, without knowing how it is read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ._errors import error_of_run
from ._run_text import RunText

if TYPE_CHECKING:
    from ._generated.models import InvocationResult
    from ._sse import ServerSentEvent


@dataclass(frozen=True)
class Token:
    """The agent says something: ``text_so_far = text_so_far[:offset] + text``, for each step anew.

    Mostly ``offset`` is the length of what you have. It is smaller when a step was tried again and says something else.
    """

    step: int
    offset: int
    text: str
    type: Literal["token"] = "token"


@dataclass(frozen=True)
class ToolCall:
    """A tool is called, or has answered."""

    step: int
    call: int
    name: str
    status: Literal["started", "completed", "failed"]
    arguments: Any = None
    type: Literal["tool"] = "tool"


@dataclass(frozen=True)
class Done:
    """The run has completed: the last event."""

    result: InvocationResult
    type: Literal["done"] = "done"


RunEvent = Token | ToolCall | Done


class RunReader:
    """Turns what the service sends into events, each once, whatever the connection did."""

    def __init__(self) -> None:
        self.said = RunText()
        self.result: InvocationResult | None = None

    def read(self, event: ServerSentEvent) -> RunEvent | None:
        """None for what changes nothing, and for events of tomorrow. Raises what the run failed with."""
        if event.event == "token":
            return self._token(json.loads(event.data))
        if event.event == "tool":
            told = json.loads(event.data)
            return ToolCall(told["step"], told["call"], told["name"], told["status"], told.get("arguments"))
        if event.event == "done":
            result: InvocationResult = json.loads(event.data)
            self.result = result
            return Done(result)
        if event.event == "error":
            told = json.loads(event.data)
            raise error_of_run(told["code"], told["message"], told["request_id"])
        return None

    def _token(self, told: dict[str, Any]) -> Token | None:
        change = self.said.take(told["step"], told["offset"], told["text"])
        return None if change is None else Token(told["step"], *change)
