"""Makes src/perch_sdk/_generated from openapi.json. `pnpm generate` calls it; it needs Python alone."""

from __future__ import annotations

from pathlib import Path

from generator.document import Operation, load, operations, pascal
from generator.methods import ASYNC, PLAIN, Flavour, Methods
from generator.models import Models

FOLDER = Path(__file__).parent / "src/perch_sdk/_generated"
_generated = "Made by generate.py from openapi.json: do not edit."


def _module(all_operations: list[Operation], methods: Methods, flavour: Flavour) -> str:
    prefix = flavour.prefix
    lines = [
        f'"""The operations of the service. {_generated}"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING",
        "",
        "from .. import webhooks as webhook_signatures",
        "from .._call import OMIT, Call, Omit, body_of, given, new_key, path_of",
        f"from .._pages import {prefix}Pager",
        f"from .._streams import {prefix}EventStream, {prefix}RunStream",
        "",
        "if TYPE_CHECKING:",
        "    from collections.abc import Sequence",
        "    from datetime import datetime",
        "    from typing import Any, Literal",
        "",
        f"    from .._transport import {prefix}Transport",
        "    from . import models as m",
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


def sources() -> dict[str, str]:
    document = load()
    all_operations = operations(document)
    models = Models(document)
    models.type_of({"$ref": "#/components/schemas/ErrorDetail"}, "")
    models.type_of({"$ref": "#/components/schemas/Event"}, "")
    methods = Methods(document, models)
    return {
        "__init__.py": f'"""{_generated}"""\n',
        "operations.py": _module(all_operations, methods, PLAIN),
        "async_operations.py": _module(all_operations, methods, ASYNC),
        "models.py": models.source(),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, source in sources().items():
        (FOLDER / name).write_text(source, "utf-8")
