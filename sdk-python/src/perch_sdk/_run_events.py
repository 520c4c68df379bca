"""Events of a run's stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from ._call import Call
from ._error_of import action_required, run_error
from ._generated.models import InvocationResult
from ._model import Model, decodes, each, one
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
    output: Any = None
    reason: str | None = None
    retry_after_ms: int | None = None
    type: Literal["tool"] = "tool"


class RunDropped(Model):
    """Events are missing, because the organisation's streams have reached the limit of their buffers.

    The run goes on, and ``RunDone`` has the whole response.
    """

    message: str
    type: Literal["dropped"] = "dropped"


class RequiredAction(Model):
    """One of the decisions that a run waits for. ``id`` is the approval's."""

    id: str
    kind: Literal["tool", "question"]
    tool: str
    step: int
    call: int


class RunActionRequired(Model):
    """The run waits for a person. The last event, unless the stream was opened with ``wait_for_decision``."""

    request_id: str
    message: str
    #: Empty if the run waits for its turn in the session.
    approvals: list[RequiredAction]
    type: Literal["action_required"] = "action_required"


class RunDone(InvocationResult):
    """The run completed. The last event."""

    type: Literal["done"] = "done"


RunStreamEvent = RunToken | RunStepEvent | RunTool | RunDropped | RunActionRequired | RunDone


_plain_events: dict[str, type[RunTool | RunStepEvent | RunDropped]] = {
    "tool": RunTool,
    "step": RunStepEvent,
    "dropped": RunDropped,
}
decodes(RunActionRequired, approvals=each(one(RequiredAction)))

#: Pauses between two requests for a run that waits for a person. The first request has no pause, because the caller may
#: have decided already.
_min_poll_seconds = 0.5
_max_poll_seconds = 5.0


def run_call(invoke: Call, run_id: str) -> Call:
    """The call for the run that another call started.

    By its id: a wait for a person can outlast the idempotency key, and the same call would then start another run.
    """
    if invoke.method == "GET":
        return invoke
    path = f"{invoke.path.removesuffix('/invoke')}/invocations/{quote(run_id, safe='')}"
    return Call("GET", path, timeout_seconds=invoke.timeout_seconds)


class RunReader:
    """Turns server-sent events into events of a run. Each comes once, even after a reconnect."""

    def __init__(
        self,
        exchange: Exchange,
        run_id: str | None,
        *,
        last_event_id: str | None = None,
        wait_for_decision: bool = False,
    ) -> None:
        self._exchange = exchange
        self.run_id = run_id
        self.last_event_id = last_event_id
        self.text = RunText()
        self.result: InvocationResult | None = None
        self._error: PerchError | None = None
        self._wait_for_decision = wait_for_decision
        #: Set once the run has waited for a person.
        self.required: PerchError | None = None
        #: True from the event that the run waits until the stream is opened again.
        self.is_cut = False
        self._seen_approvals: set[str] = set()
        self._pause = 0.0

    def open(self, headers: httpx.Headers) -> None:
        """The run's id is the last part of its address."""
        if self.run_id is None and "location" in headers:
            self.run_id = headers["location"].rsplit("/", 1)[-1]

    def is_over(self) -> bool:
        """Raises the error of a failed run, each time."""
        if self._error:
            raise self._error
        return self.result is not None or (self.required is not None and not self._wait_for_decision)

    def next_pause(self) -> float:
        """How long to pause before the stream of a run that waits is opened again: longer each time."""
        pause = self._pause
        self._pause = min(max(pause * 1.5, _min_poll_seconds), _max_poll_seconds)
        self.is_cut = False
        return pause

    def read(self, event: ServerSentEvent) -> RunStreamEvent | None:
        """None for tokens that change nothing and for unknown events. Raises the error of a failed run."""
        self.last_event_id = event.id
        found = self._read(event)
        if found is not None:
            self._pause = 0.0
        return found

    def _read(self, event: ServerSentEvent) -> RunStreamEvent | None:
        if event.event not in ("token", *_plain_events, "action_required", "done", "error"):
            return None
        data: dict[str, Any] = json.loads(event.data)
        if event.event == "token":
            return self._token(data)
        if event.event in _plain_events:
            return _plain_events[event.event].from_dict(data)
        self.run_id = data["request_id"]
        if event.event == "action_required":
            return self._action_required(RunActionRequired.from_dict(data))
        if event.event == "done":
            self.result = InvocationResult.from_dict(data)
            return RunDone.from_dict(data)
        code, message, retryable = data["code"], data["message"], data.get("retryable")
        self._error = run_error(code, message, data["request_id"], retryable, self._exchange)
        raise self._error

    def _action_required(self, event: RunActionRequired) -> RunActionRequired | None:
        """A run that still waits reports so on every request. It is an event only if there is a new decision."""
        ids = [one.id for one in event.approvals]
        is_new = self.required is None or not self._seen_approvals.issuperset(ids)
        self._seen_approvals.update(ids)
        self.is_cut = True
        self.required = action_required(event.request_id, ids, self._exchange, event.message)
        return event if is_new else None

    def _token(self, data: dict[str, Any]) -> RunToken | None:
        change = self.text.take(data["step"], data["offset"], data["text"])
        return None if change is None else RunToken(step=data["step"], offset=change[0], text=change[1])
