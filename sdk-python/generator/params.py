"""Types of the arguments of callers: dictionaries as they go over the wire, or objects that the service returned."""

from __future__ import annotations

import json
import keyword
from typing import TYPE_CHECKING

from .document import Json, pascal
from .schemas import Schemas, docstring, qualified

if TYPE_CHECKING:
    from .models import Models


class Params(Schemas):
    time = "str | datetime"

    def __init__(self, document: Json, models: Models) -> None:
        super().__init__(document)
        self._models = models

    def enum(self, values: list[object], name: str) -> str:
        return qualified(self._models.enum(values, name), self._models.names(), "m")

    def list_of(self, item: str) -> str:
        return f"Sequence[{item}]"

    def class_name(self, name: str) -> str:
        return f"{name}Param"

    def class_type(self, schema: Json, name: str) -> str:
        """An object that the service returned will do, if the service takes all its fields back."""
        returned = name.replace("Patch", "").removeprefix("New")
        fields = self._models.fields.get(returned)
        own = self.class_name(name)
        return f"{own} | m.{returned}" if fields and fields <= set(schema["properties"]) else own

    def class_lines(self, schema: Json, name: str) -> list[str]:
        required = schema.get("required", [])
        fields = {}
        for field, inner in schema["properties"].items():
            kind = self.type_of(inner, name + pascal(field))
            fields[field] = kind if field in required else f"NotRequired[{kind}]"
        own = self.class_name(name)
        if any(keyword.iskeyword(field) for field in fields):
            # A field that is a word of the language cannot be written as an attribute.
            rows = [f"        {json.dumps(field)}: {json.dumps(kind)}," for field, kind in fields.items()]
            return [f"{own} = TypedDict(", f'    "{own}",', "    {", *rows, "    },", ")"]
        lines = [f"class {own}(TypedDict):", *docstring(schema.get("description", ""), "    ")]
        if len(lines) > 1:
            lines.append("")
        for field, kind in fields.items():
            lines += [f"    {field}: {kind}", *docstring(schema["properties"][field].get("description", ""), "    ")]
        return lines

    def source(self) -> str:
        lines = [
            '"""What callers give as dictionaries. Made by generate.py from openapi.json: do not edit."""',
            "",
            "from __future__ import annotations",
            "",
            "import sys",
            "from typing import TYPE_CHECKING, Any, Literal, TypedDict",
            "",
            "from . import models as m",
            "",
            "if sys.version_info >= (3, 11):",
            "    from typing import NotRequired",
            "else:",
            "    from typing_extensions import NotRequired",
            "",
            "if TYPE_CHECKING:",
            "    from collections.abc import Sequence",
            "    from datetime import datetime",
            "",
            *self.exports(),
        ]
        return "\n".join([*lines, *self.classes(), *self.unions()]) + "\n"
