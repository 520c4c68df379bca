"""Events of a run's stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from ._error_of import run_error
from ._generated.models import InvocationResult
from ._model import Model
from ._run_text import RunText

if TYPE_CHECKING:
    import httpx

    from ._errors import Exchange, PerchError
    from ._sse import ServerSentEvent


class RunToken(Model):
    """A piece of the model's text: ``text_so_far = text_so_far[:offset] + text``. Each step has its own text.

    Usually ``offset`` is the length of the text so far. It is smaller if a step was retried with a different text.
    """

    step: int
    offset: int
    text: str
    type: Literal["token"] = "token"


#: ``retried``: the attempt failed, and another follows. ``interrupted``: it has no result, and begins again.
StepStatus = Literal["started", "completed", "failed", "retried", "interrupted"]


class RunStepEvent(Model):
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


class RunTool(Model):
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


class RunDropped(Model):
    """Events are missing, because the organisation's streams hold as much as they may.

    The run goes on, and ``RunDone`` has the whole response.
    """

    message: str
    type: Literal["dropped"] = "dropped"


class RunDone(InvocationResult):
    """The run completed. The last event."""

    type: Literal["done"] = "done"


RunStreamEvent = RunToken | RunStepEvent | RunTool | RunDropped | RunDone


class RunReader:
    """Turns server-sent events into events of a run. Each comes once, even after a reconnect."""

    def __init__(self, exchange: Exchange, run_id: str | None) -> None:
        self._exchange = exchange
        self.run_id = run_id
        self.text = RunText()
        self.result: InvocationResult | None = None
        self._error: PerchError | None = None

    def open(self, headers: httpx.Headers) -> None:
        """The run's id is the last part of its address."""
        if self.run_id is None and "location" in headers:
            self.run_id = headers["location"].rsplit("/", 1)[-1]

    def is_over(self) -> bool:
        """Raises the error of a failed run, each time."""
        if self._error:
            raise self._error
        return self.result is not None

    def read(self, event: ServerSentEvent) -> RunStreamEvent | None:
        """None for tokens that change nothing and for unknown events. Raises the error of a failed run."""
        if event.event not in ("token", "tool", "step", "dropped", "done", "error"):
            return None
        data: dict[str, Any] = json.loads(event.data)
        if event.event == "token":
            return self._token(data)
        if event.event == "tool":
            return RunTool.from_dict(data)
        if event.event == "step":
            return RunStepEvent.from_dict(data)
        if event.event == "dropped":
            return RunDropped.from_dict(data)
        self.run_id = data["request_id"]
        if event.event == "done":
            self.result = InvocationResult.from_dict(data)
            return RunDone.from_dict(data)
        code, message, retryable = data["code"], data["message"], data.get("retryable")
        self._error = run_error(code, message, data["request_id"], retryable, self._exchange)
        raise self._error

    def _token(self, data: dict[str, Any]) -> RunToken | None:
        change = self.text.take(data["step"], data["offset"], data["text"])
        return None if change is None else RunToken(step=data["step"], offset=change[0], text=change[1])
