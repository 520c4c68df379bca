"""Makes src/perch_sdk/_generated from openapi.json. `pnpm generate` calls it; it needs only Python."""

from __future__ import annotations

from pathlib import Path

from generator.document import Json, Operation, load, operations, pascal
from generator.methods import ASYNC, PLAIN, Flavour, Methods
from generator.models import Models, answer_of
from generator.params import Params

FOLDER = Path(__file__).parent / "src/perch_sdk/_generated"
_generated = "Made by generate.py from openapi.json: do not edit."

_waits = ("deploy_and_wait", "wait_for_response", "wait_for_run")


def _module(all_operations: list[Operation], methods: Methods, flavour: Flavour) -> str:
    prefix = flavour.prefix
    lines = [
        f'"""The operations of the service. {_generated}"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING, overload",
        "",
        "from .. import webhooks as webhook_signatures",
        "from .._call import OMIT, Call, Omit, body_of, given, new_key, path_of",
        f"from .._follow_events import follow_events{flavour.suffix}",
        f"from .._pages import {prefix}PageList",
        f"from .._streams import {prefix}EventStream, {prefix}RunStream",
        f"from .._waiting import {', '.join(name + flavour.suffix for name in _waits)}",
        "from . import models as m",
        "",
        "if TYPE_CHECKING:",
        f"    from collections.abc import {prefix}Iterator, Sequence",
        "    from datetime import datetime",
        "    from typing import Any, Literal",
        "",
        f"    from .._transport import {prefix}Transport",
        "    from . import params as p",
    ]
    resources = dict.fromkeys(one.resource for one in all_operations)
    alone = [one for one in all_operations if one.resource == one.path.removeprefix("/v1/") == "me"]
    for resource in resources:
        mine = [one for one in all_operations if one.resource == resource and one not in alone]
        if not mine:
            continue
        lines += ["", "", f"class {prefix}{pascal(resource)}:"]
        lines += [
            f"    def __init__(self, transport: {prefix}Transport) -> None:",
            "        self._transport = transport",
        ]
        if resource == "webhooks":
            lines += ["", "    verify = staticmethod(webhook_signatures.verify)"]
        for operation in mine:
            lines += ["", *methods.of(operation, flavour)]
    lines += ["", "", f"class {prefix}Operations:", '    """The resources of the service."""', ""]
    lines += [f"    def __init__(self, transport: {prefix}Transport) -> None:", "        self._transport = transport"]
    for resource in resources:
        if not any(one.resource == resource for one in alone):
            lines.append(f"        self.{resource} = {prefix}{pascal(resource)}(transport)")
    for operation in alone:
        named = Operation(operation.method, operation.path, operation.spec, operation.resource, operation.resource)
        lines += ["", *methods.of(named, flavour)]
    return "\n".join(lines) + "\n"


def sources(document: Json) -> dict[str, str]:
    all_operations = operations(document)
    models = Models(document)
    for name in ("ErrorDetail", "Event"):
        models.type_of({"$ref": f"#/components/schemas/{name}"}, "")
    for operation in all_operations:
        answer_of(models, operation)
    params = Params(document, models)
    methods = Methods(models, params)
    return {
        "__init__.py": f'"""{_generated}"""\n',
        "operations.py": _module(all_operations, methods, PLAIN),
        "async_operations.py": _module(all_operations, methods, ASYNC),
        "models.py": models.source(),
        "params.py": params.source(),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, source in sources(load()).items():
        (FOLDER / name).write_text(source, "utf-8")
