"""Events of a run's stream."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ._errors import error_of_run
from ._run_text import RunText

if TYPE_CHECKING:
    from ._generated.models import InvocationResult
    from ._sse import ServerSentEvent


@dataclass(frozen=True)
class Token:
    """A piece of the model's text: ``text_so_far = text_so_far[:offset] + text``. Each step has its own text.

    Usually ``offset`` is the length of the text so far. It is smaller if a step was retried with a different text.
    """

    step: int
    offset: int
    text: str
    type: Literal["token"] = "token"


#: ``retried``: the attempt failed, and another follows. ``interrupted``: it has no result, and begins again.
StepStatus = Literal["started", "completed", "failed", "retried", "interrupted"]


@dataclass(frozen=True)
class Step:
    """A model call, the listing of tools or the recall of memories begins or ends, or waits for its next attempt."""

    step: int
    kind: Literal["model", "tools", "memory"]
    name: str
    attempt: int
    status: StepStatus
    tokens: int | None = None
    reason: str | None = None
    retry_after_ms: int | None = None
    type: Literal["step"] = "step"


@dataclass(frozen=True)
class ToolCall:
    """A tool call begins or ends, or waits for its next attempt."""

    step: int
    call: int
    name: str
    status: StepStatus
    arguments: Any = None
    attempt: int = 1
    said: Any = None
    reason: str | None = None
    retry_after_ms: int | None = None
    type: Literal["tool"] = "tool"


@dataclass(frozen=True)
class Dropped:
    """Events are missing, because the organisation's streams hold as much as they may.

    The run goes on, and ``Done`` has the whole response.
    """

    message: str
    type: Literal["dropped"] = "dropped"


@dataclass(frozen=True)
class Done:
    """The run completed. The last event."""

    result: InvocationResult
    type: Literal["done"] = "done"


RunEvent = Token | Step | ToolCall | Dropped | Done


_Event = TypeVar("_Event", Step, ToolCall)


def _known(kind: type[_Event], data: dict[str, Any]) -> _Event:
    """A later server may send more fields than this version knows."""
    names = {field.name for field in fields(kind)} - {"type"}
    return kind(**{name: value for name, value in data.items() if name in names})


class RunReader:
    """Turns server-sent events into events of a run. Each comes once, even after a reconnect."""

    def __init__(self) -> None:
        self.text = RunText()
        self.result: InvocationResult | None = None

    def read(self, event: ServerSentEvent) -> RunEvent | None:
        """None for tokens that change nothing and for unknown events. Raises the error of a failed run."""
        if event.event == "token":
            return self._token(json.loads(event.data))
        if event.event == "tool":
            return _known(ToolCall, json.loads(event.data))
        if event.event == "step":
            return _known(Step, json.loads(event.data))
        if event.event == "dropped":
            return Dropped(json.loads(event.data)["message"])
        if event.event == "done":
            result: InvocationResult = json.loads(event.data)
            self.result = result
            return Done(result)
        if event.event == "error":
            data = json.loads(event.data)
            raise error_of_run(data["code"], data["message"], data["request_id"], data.get("retryable"))
        return None

    def _token(self, data: dict[str, Any]) -> Token | None:
        change = self.text.take(data["step"], data["offset"], data["text"])
        return None if change is None else Token(data["step"], *change)
