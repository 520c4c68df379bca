"""One method for each operation, and one class for each resource, plain or async."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .document import Json, Operation, identifier, pascal, path_argument
from .models import RUN_EVENTS, Models, answer_of

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Flavour:
    """What differs between the two clients."""

    prefix: str
    define: str
    wait: str


PLAIN = Flavour("", "def", "")
ASYNC = Flavour("Async", "async def", "await ")


@dataclass(frozen=True)
class Parameter:
    wire: str
    name: str
    type: str
    default: str
    value: str
    description: str


def _in_models(text: str, names: Iterable[str]) -> str:
    """``m.Agent`` for ``Agent``: the class of a resource may have the same name as what it handles."""
    known = set(names)
    out, word = "", ""
    for character in text + "\0":
        if character.isidentifier() or (word and character.isalnum()):
            word += character
            continue
        out += (f"m.{word}" if word in known and not out.endswith('"') else word) + character
        word = ""
    return out[:-1]


class Methods:
    def __init__(self, document: Json, models: Models) -> None:
        self._schemas: Json = document["components"]["schemas"]
        self._models = models

    def _type(self, schema: Json, name: str) -> str:
        kind = self._models.type_of(schema, name)
        return _in_models(kind, self._models.names()).replace("list[", "Sequence[")

    def _resolved(self, schema: Json) -> Json:
        reference = schema.get("$ref")
        return self._resolved(self._schemas[reference.rsplit("/", 1)[1]]) if reference else schema

    def _parameter(self, wire: str, schema: Json, name: str, *, required: bool, in_body: bool) -> Parameter:
        kind = self._type(schema, name)
        if self._resolved(schema).get("format") == "date-time":
            kind = kind.replace("str", "str | datetime", 1)
        python = identifier(wire)
        is_nullable = kind.endswith(" | None")
        value = python
        default = ""
        if not required and is_nullable:
            kind, default = f"{kind.removesuffix(' | None')} | Omit | None", " = OMIT"
        elif not required:
            kind, default, value = f"{kind} | None", " = None", f"given({python})" if in_body else python
        return Parameter(wire, python, kind, default, value, str(self._resolved(schema).get("description", "")))

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
        schema = self._resolved(operation.body)
        required = schema.get("required", [])
        fields = [
            self._parameter(wire, inner, pascal(operation.id) + pascal(wire), required=wire in required, in_body=True)
            for wire, inner in schema.get("properties", {}).items()
        ]
        return sorted(fields, key=lambda one: one.default != "")

    def _signature(self, operation: Operation, extra: list[str], *, name: str, returns: str, define: str) -> list[str]:
        keywords = [*self._query(operation), *self._body(operation)]
        keywords.sort(key=lambda one: one.default != "")
        if operation.takes_if_match:
            extra = [*extra, "if_match: str | None = None"]
        if operation.takes_idempotency_key:
            extra = [*extra, "idempotency_key: str | None = None"]
        rows = [
            "self",
            *(f"{path_argument(one['name'])}: str" for one in operation.parameters("path")),
            "*",
            *(f"{one.name}: {one.type}{one.default}" for one in keywords),
            *extra,
            "timeout: float | None = None",
        ]
        return [f"    {define} {name}(", *(f"        {row}," for row in rows), f"    ) -> {returns}:"]

    def _docstring(self, operation: Operation, summary: str | None = None) -> list[str]:
        lines = [summary or f"{operation.spec['summary']}."]
        if summary is None and operation.spec.get("description"):
            lines += ["", *operation.spec["description"].replace("\n\n", "\n").split("\n")]
        described = [one for one in [*self._query(operation), *self._body(operation)] if one.description]
        lines += [""] if described else []
        lines += [f":param {one.name}: {' '.join(one.description.split())}" for one in described]
        text = [line.replace("\\", "\\\\").replace("`", "``") for line in lines]
        if len(text) == 1:
            return [f'        """{text[0]}"""']
        return [f'        """{text[0]}', *(f"        {line}".rstrip() for line in text[1:]), '        """']

    def _call(self, operation: Operation, headers: str = "") -> list[str]:
        lines = ["        call = Call(", f'            "{operation.method}",']
        wire = [one["name"] for one in operation.parameters("path")]
        if wire:
            rows = (f"                {name}={path_argument(name)}," for name in wire)
            lines += ["            path_of(", f'                "{operation.path}",', *rows, "            ),"]
        else:
            lines.append(f'            "{operation.path}",')
        query, body = self._query(operation), self._body(operation)
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
        return [*lines, "            timeout=timeout,", "        )"]

    def _plain(self, operation: Operation, flavour: Flavour) -> list[str]:
        answer = self._type_of_answer(operation)
        if operation.is_list:
            max_limit = next(
                one["schema"]["maximum"] for one in operation.parameters("query") if one["name"] == "limit"
            )
            returns = f"{flavour.prefix}Pager[{answer}]"
            head = self._signature(operation, [], name=operation.name, returns=returns, define="def")
            last = [f"        return {flavour.prefix}Pager(self._transport, call, {max_limit})"]
        else:
            head = self._signature(operation, [], name=operation.name, returns=answer, define=flavour.define)
            part = '["data"]' if set(operation.answer["properties"]) == {"success", "data"} else ""
            sent = f"({flavour.wait}self._transport.send(call))" if flavour.wait else "self._transport.send(call)"
            last = [f"        answer: {answer} = {sent}[1]{part}", "        return answer"]
        return [*head, *self._docstring(operation), *self._call(operation), *last]

    def _type_of_answer(self, operation: Operation) -> str:
        kind = answer_of(self._models, operation)
        return _in_models(kind, self._models.names())

    def _invoke(self, operation: Operation, flavour: Flavour) -> list[str]:
        """Waiting for a run and starting one are two methods, because they treat a 202 differently."""
        answer = self._type_of_answer(operation)
        wait = ["wait_seconds: float | None = None"]
        waiting = "Run the agent and wait for its response, for at most ``wait_seconds`` if given."
        starting = "Start a run in the background. Returns its ``request_id``, which ``runs.get`` and ``follow`` take."
        sent = "(await self._transport.send(call))" if flavour.wait else "self._transport.send(call)"
        return [
            *self._signature(operation, wait, name="invoke", returns=answer, define=flavour.define),
            f'        """{waiting}"""',
            *self._call(operation),
            f"        return {flavour.wait}self._transport.wait_for_run(call, wait_seconds)",
            "",
            *self._signature(operation, [], name="invoke_in_background", returns="str", define=flavour.define),
            f'        """{starting}"""',
            *self._call(operation, '{"prefer": "respond-async"}'),
            f'        return str({sent}[1]["data"]["request_id"])',
        ]

    def _stream(self, operation: Operation, events: Json, flavour: Flavour) -> list[str]:
        """``follow`` for a GET, else the operation's name with ``_stream``."""
        is_run = events.get("$ref") == RUN_EVENTS
        name = "follow" if operation.method == "GET" else f"{operation.name}_stream"
        kind = "RunStream" if is_run else f"EventStream[{self._type(events, pascal(operation.id) + 'Event')}]"
        summary = f"{operation.spec['summary']}, as a stream that reconnects by itself."
        return [
            *self._signature(operation, [], name=name, returns=f"{flavour.prefix}{kind}", define="def"),
            *self._docstring(operation, summary),
            *self._call(operation),
            f"        return {flavour.prefix}{kind.partition('[')[0]}(self._transport, call)",
        ]

    def of(self, operation: Operation, flavour: Flavour) -> list[str]:
        make = self._invoke if operation.id == "invokeAgent" else self._plain
        lines = make(operation, flavour)
        if operation.events is not None:
            lines += ["", *self._stream(operation, operation.events, flavour)]
        return lines
