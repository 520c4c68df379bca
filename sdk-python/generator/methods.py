"""One method for each operation, and one class for each resource, plain or async."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .document import Json, Operation, identifier, pascal, path_argument
from .models import RUN_EVENTS, Models, answer_of
from .schemas import qualified

if TYPE_CHECKING:
    from .params import Params


@dataclass(frozen=True)
class Flavour:
    """The differences between the two clients."""

    prefix: str
    define: str
    wait: str
    suffix: str


PLAIN = Flavour("", "def", "", "")
ASYNC = Flavour("Async", "async def", "await ", "_async")


@dataclass(frozen=True)
class Parameter:
    wire: str
    name: str
    type: str
    default: str
    value: str
    description: str


#: Options of a call. A field of the same name could not be distinguished from it.
_options = {"timeout_seconds", "idempotency_key", "if_match", "wait_seconds", "wait_for_decision", "last_event_id"}
#: The place in a list to begin at, and the number of items.
_positions = {"limit", "offset", "cursor", "start_time", "end_time"}

_max_columns = 120
_wait_for_decision = "wait_for_decision: bool = False"
_about_decisions = [
    "        Raises :class:`ActionRequiredError` if it waits for a person. With ``wait_for_decision`` it waits, for",
    "        as long as that takes, and goes on after the decision.",
]


def _return(function: str, arguments: str) -> list[str]:
    """A call, on one line if it fits."""
    line = f"        return {function}({arguments})"
    if len(line) <= _max_columns:
        return [line]
    return [f"        return {function}(", f"            {arguments}", "        )"]


class Methods:
    def __init__(self, models: Models, params: Params) -> None:
        self._models = models
        self._params = params

    def _parameter(self, wire: str, schema: Json, name: str, *, required: bool, in_body: bool) -> Parameter:
        kind = qualified(self._params.type_of(schema, name), self._params.names(), "p")
        python = identifier(wire)
        if python in _options:
            raise ValueError(f"{name} has the name of an option")
        is_nullable = kind.endswith(" | None")
        value = python
        default = ""
        if not required and is_nullable:
            kind, default = f"{kind.removesuffix(' | None')} | Omit | None", " = OMIT"
        elif not required:
            kind, default, value = f"{kind} | None", " = None", f"given({python})" if in_body else python
        return Parameter(wire, python, kind, default, value, str(self._params.resolved(schema).get("description", "")))

    def _query(self, operation: Operation) -> list[Parameter]:
        return [
            self._parameter(
                one["name"],
                one["schema"],
                pascal(operation.id) + pascal(one["name"]),
                required=one["required"],
                in_body=False,
            )
            for one in operation.parameters("query")
        ]

    def _body(self, operation: Operation) -> list[Parameter]:
        if operation.body is None:
            return []
        schema = self._params.resolved(operation.body)
        required = schema.get("required", [])
        fields = [
            self._parameter(wire, inner, pascal(operation.id) + pascal(wire), required=wire in required, in_body=True)
            for wire, inner in schema.get("properties", {}).items()
        ]
        return sorted(fields, key=lambda one: one.default != "")

    def _keywords(self, operation: Operation) -> list[Parameter]:
        return sorted([*self._query(operation), *self._body(operation)], key=lambda one: one.default != "")

    def _signature(
        self,
        operation: Operation,
        extra: list[str],
        *,
        name: str,
        returns: str,
        define: str,
        keywords: list[Parameter] | None = None,
        limit: str = "timeout_seconds: float | None = None",
    ) -> list[str]:
        if operation.takes_if_match:
            extra = [*extra, "if_match: str | None = None"]
        if operation.takes_idempotency_key:
            extra = [*extra, "idempotency_key: str | None = None"]
        rows = [
            "self",
            *(f"{path_argument(one['name'])}: str" for one in operation.parameters("path")),
            "*",
            *(f"{one.name}: {one.type}{one.default}" for one in keywords or self._keywords(operation)),
            *extra,
            limit,
        ]
        return [f"    {define} {name}(", *(f"        {row}," for row in rows), f"    ) -> {returns}:"]

    def _overloads(self, operation: Operation, flavour: Flavour) -> list[str]:
        """An agent has a model, or is remote. The document states that only in words."""
        if operation.id != "createAgent":
            return []
        keywords = self._keywords(operation)
        with_model = [replace(one, type="str", default="") if one.name == "model" else one for one in keywords]
        remote = "p.RuntimeHttpParam | m.RuntimeHttp"
        is_remote = [replace(one, type=remote, default="") if one.name == "runtime" else one for one in keywords]
        lines = []
        for variant in (with_model, is_remote):
            variant.sort(key=lambda one: one.default != "")
            answer = self._type_of_answer(operation)
            head = self._signature(
                operation, [], name=operation.name, returns=answer, define=flavour.define, keywords=variant
            )
            lines += ["    @overload", *head[:-1], f"{head[-1]} ...", ""]
        return lines

    def _docstring(
        self, operation: Operation, summary: str | None = None, keywords: list[Parameter] | None = None
    ) -> list[str]:
        lines = [summary or f"{operation.spec['summary']}."]
        if summary is None and operation.spec.get("description"):
            lines += ["", *operation.spec["description"].replace("\n\n", "\n").split("\n")]
        every = keywords or [*self._query(operation), *self._body(operation)]
        described = [one for one in every if one.description]
        lines += [""] if described else []
        lines += [f":param {one.name}: {' '.join(one.description.split())}" for one in described]
        text = [line.replace("\\", "\\\\").replace("`", "``") for line in lines]
        if len(text) == 1:
            return [f'        """{text[0]}"""']
        return [f'        """{text[0]}', *(f"        {line}".rstrip() for line in text[1:]), '        """']

    def _call(
        self,
        operation: Operation,
        headers: str = "",
        *,
        has_timeout: bool = True,
        keywords: list[Parameter] | None = None,
    ) -> list[str]:
        lines = ["        call = Call(", f'            "{operation.method}",']
        wire = [one["name"] for one in operation.parameters("path")]
        if wire:
            rows = (f"                {name}={path_argument(name)}," for name in wire)
            lines += ["            path_of(", f'                "{operation.path}",', *rows, "            ),"]
        else:
            lines.append(f'            "{operation.path}",')
        query, body = self._query(operation), self._body(operation)
        if keywords is not None:
            query = [one for one in query if one in keywords]
        if query:
            rows = (f'                "{one.wire}": {one.value},' for one in query)
            lines += ["            query={", *rows, "            },"]
        if operation.body is not None:
            rows = (f"                {one.wire}={one.value}," for one in body)
            lines += ["            body=body_of(", *rows, "            ),"]
        if headers:
            lines.append(f"            headers={headers},")
        if operation.takes_if_match:
            lines.append("            if_match=if_match,")
        if operation.takes_idempotency_key:
            lines.append("            idempotency_key=new_key(idempotency_key),")
        timeout = ["            timeout_seconds=timeout_seconds,"] if has_timeout else []
        return [*lines, *timeout, "        )"]

    def _plain(self, operation: Operation, flavour: Flavour) -> list[str]:
        answer = self._type_of_answer(operation)
        if operation.is_list:
            max_limit = next(
                one["schema"]["maximum"] for one in operation.parameters("query") if one["name"] == "limit"
            )
            returns = f"{flavour.prefix}PageList[{answer}]"
            head = self._signature(operation, [], name=operation.name, returns=returns, define="def")
            last = [f"        return {flavour.prefix}PageList(self._transport, call, {answer}, {max_limit})"]
        else:
            head = self._signature(operation, [], name=operation.name, returns=answer, define=flavour.define)
            is_data = set(operation.answer["properties"]) == {"success", "data"}
            fetch = "fetch" if is_data else "fetch_whole"
            last = [f"        return {flavour.wait}self._transport.{fetch}(call, {answer})"]
        overloads = self._overloads(operation, flavour)
        return [*overloads, *head, *self._docstring(operation), *self._call(operation), *last]

    def _type_of_answer(self, operation: Operation) -> str:
        return qualified(answer_of(self._models, operation), self._models.names(), "m")

    def _invoke(self, operation: Operation, flavour: Flavour) -> list[str]:
        """Waiting for a run and starting one are two methods, because they treat a 202 differently."""
        answer = self._type_of_answer(operation)
        accepted = operation.spec["responses"]["202"]["content"]["application/json"]["schema"]["properties"]["data"]
        started = f"m.{self._models.type_of(accepted, 'StartedRun')}"
        wait = ["wait_seconds: float | None = None", _wait_for_decision]
        starting = "Start a run in the background. ``runs.wait``, ``get`` and ``follow`` take its ``request_id``."
        return [
            *self._signature(operation, wait, name="invoke", returns=answer, define=flavour.define),
            '        """Run the agent and wait for its response, for at most ``wait_seconds`` if given.',
            "",
            *_about_decisions,
            '        """',
            *self._call(operation),
            *_return(
                f"{flavour.wait}wait_for_response{flavour.suffix}",
                "self._transport, call, wait_seconds, wait_for_decision=wait_for_decision",
            ),
            "",
            *self._signature(operation, [], name="invoke_in_background", returns=started, define=flavour.define),
            f'        """{starting}"""',
            *self._call(operation, '{"prefer": "respond-async"}'),
            f"        return {flavour.wait}self._transport.fetch(call, {started})",
        ]

    def _stream(self, operation: Operation, events: Json, flavour: Flavour) -> list[str]:
        """``follow`` for a GET, else the operation's name with ``_stream``."""
        is_run = events.get("$ref") == RUN_EVENTS
        name = "follow" if operation.method == "GET" else f"{operation.name}_stream"
        extra: list[str] = []
        if is_run:
            is_follow = operation.method == "GET"
            position = ["last_event_id"] if is_follow else []
            options = [f"{each}={each}" for each in (*position, "wait_for_decision")]
            kind, last = "RunStream", ", ".join(["run_id" if is_follow else "None", *options])
            extra = [*(f"{each}: str | None = None" for each in position), _wait_for_decision]
        else:
            item = self._models.type_of(events, pascal(operation.id) + "Event")
            last = qualified(item, self._models.names(), "m")
            kind = f"EventStream[{last}]"
        summary = f"{operation.spec['summary']}, as a stream that reconnects by itself."
        # A stream of a list begins now and has no pages.
        keywords = [one for one in self._keywords(operation) if not operation.is_list or one.name not in _positions]
        returns = f"{flavour.prefix}{kind}"
        return [
            *self._signature(operation, extra, name=name, returns=returns, define="def", keywords=keywords),
            *self._docstring(operation, summary, keywords),
            *self._call(operation, keywords=keywords),
            *_return(f"{flavour.prefix}{kind.partition('[')[0]}", f"self._transport, call, {last}"),
        ]

    def _deploy_and_wait(self, operation: Operation, flavour: Flavour) -> list[str]:
        wait = f"{flavour.wait}deploy_and_wait{flavour.suffix}(self._transport, call, timeout_seconds)"
        return [
            *self._signature(
                operation,
                [],
                name="deploy_and_wait",
                returns=self._type_of_answer(operation),
                define=flavour.define,
                limit="timeout_seconds: float = 300.0",
            ),
            '        """Create a deployment and wait until its checks have passed, so that it is live.',
            "",
            "        A canary is live beside what was live before. Raises :class:`DeploymentFailedError` if a check",
            "        failed, and :class:`TimeoutError` if that took longer than ``timeout_seconds``; it goes on then.",
            '        """',
            *self._call(operation, has_timeout=False),
            f"        return {wait}",
        ]

    def _wait(self, operation: Operation, flavour: Flavour) -> list[str]:
        return [
            *self._signature(
                operation, [_wait_for_decision], name="wait", returns="m.InvocationResult", define=flavour.define
            ),
            '        """Wait until a run has ended, and return the same as ``agents.invoke``.',
            "",
            "        Raises :class:`RunFailedError` if it failed, :class:`RunCancelledError` if it was cancelled, and",
            "        :class:`StillRunningError` if ``timeout_seconds`` are over; the run goes on.",
            *_about_decisions,
            '        """',
            *self._call(operation, has_timeout=False),
            *_return(
                f"{flavour.wait}wait_for_run{flavour.suffix}",
                "self._transport, call, run_id, timeout_seconds, wait_for_decision=wait_for_decision",
            ),
        ]

    def _follow_events(self, operation: Operation, flavour: Flavour) -> list[str]:
        filters = [one for one in self._query(operation) if one.name in ("type", "agent_id")]
        extra = ["since: datetime | None = None", "interval_seconds: float = 2.0"]
        returns = f"{flavour.prefix}Iterator[{self._type_of_answer(operation)}]"
        rows = [*(f"{one.name}={one.name}" for one in filters), "timeout_seconds=timeout_seconds", "**position"]
        return [
            *self._signature(operation, extra, name="follow", returns=returns, define="def", keywords=filters),
            '        """New events, each once, without end. It polls, so that Perch need not be able to reach you.',
            "",
            "        :param since: Events at this time or later. The default is now.",
            '        """',
            "",
            f"        def list_events(**position: Any) -> {flavour.prefix}PageList[{self._type_of_answer(operation)}]:",
            f"            return self.list({', '.join(rows)})",
            "",
            f"        return follow_events{flavour.suffix}(list_events, since, interval_seconds)",
        ]

    def of(self, operation: Operation, flavour: Flavour) -> list[str]:
        """The operation's method, and those that send more than one request."""
        make = self._invoke if operation.id == "invokeAgent" else self._plain
        lines = make(operation, flavour)
        if operation.events is not None:
            lines += ["", *self._stream(operation, operation.events, flavour)]
        more = {
            "getInvocation": self._wait,
            "createDeployment": self._deploy_and_wait,
            "listEvents": self._follow_events,
        }
        if operation.id in more:
            lines += ["", *more[operation.id](operation, flavour)]
        return lines
