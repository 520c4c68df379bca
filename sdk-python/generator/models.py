"""Types for what goes over the wire."""

from __future__ import annotations

import json
import keyword
from typing import TYPE_CHECKING

from .document import Json, Operation, pascal

if TYPE_CHECKING:
    from collections.abc import Iterable

_simple = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_longest_in_place = 90
#: Events of a run have classes of their own, which apply each token to the text.
RUN_EVENTS = "#/components/schemas/RunEvent"


def docstring(text: str, indent: str) -> list[str]:
    text = " ".join(text.split()).replace("\\", "\\\\").replace("`", "``")
    return [f'{indent}"""{text}{" " if text.endswith(chr(34)) else ""}"""'] if text else []


def literal(values: Iterable[object]) -> str:
    return "Literal[" + ", ".join(json.dumps(one) if isinstance(one, str) else repr(one) for one in values) + "]"


class Models:
    """Collects what the operations need, in the order of the document."""

    def __init__(self, document: Json) -> None:
        self._schemas: Json = document["components"]["schemas"]
        self._named: dict[str, str] = {}
        self._classes: dict[str, list[str]] = {}
        self._unions: dict[str, str] = {}
        self._aliases: dict[str, list[str]] = {}

    def type_of(self, schema: Json, name: str) -> str:  # noqa: PLR0911 - one line for each kind of schema
        """The type of a schema. ``name`` is for an object that has none of its own."""
        if "$ref" in schema:
            return self._reference(schema["$ref"].rsplit("/", 1)[1])
        for union in ("anyOf", "oneOf"):
            if union in schema:
                return self._union(schema[union], name)
        if "const" in schema:
            return literal([schema["const"]])
        if "enum" in schema:
            return self._enum(schema["enum"], name)
        kind = schema.get("type")
        if isinstance(kind, list):
            return " | ".join(_simple[one] for one in kind)
        if kind == "array":
            return f"list[{self.type_of(schema['items'], name + 'Item')}]"
        if kind == "object":
            return self._object(schema, name)
        return _simple.get(str(kind), "Any")

    def _enum(self, values: list[object], name: str) -> str:
        """Inline if it is short, else under the first name it is used with."""
        rows = [literal([value]).removeprefix("Literal[")[:-1] for value in values]
        known = next((alias for alias, others in self._aliases.items() if others == rows), None)
        if known is None and name not in self._schemas and len(literal(values)) < _longest_in_place:
            return literal(values)
        self._aliases.setdefault(known or name, rows)
        return known or name

    def _reference(self, name: str) -> str:
        if name not in self._named:
            schema = self._schemas[name]
            self._named[name] = name  # first, for types that hold themselves
            made = self.type_of(schema, name)
            if " | " in made and "oneOf" in schema:
                self._unions[name] = made
            elif made != name:
                self._named[name] = made
        return self._named[name]

    def _union(self, parts: list[Json], name: str) -> str:
        types: list[str] = []
        for index, part in enumerate(parts, 1):
            kind = part.get("properties", {}).get("type", {}).get("const", index if len(parts) > 2 else "")
            one = self.type_of(part, name + pascal(str(kind)))
            if one not in types:
                types.append(one)
        return " | ".join(types)

    def _object(self, schema: Json, name: str) -> str:
        is_open = schema.get("additionalProperties", False) is not False
        if is_open or not schema.get("properties"):
            return "dict[str, Any]"
        if name not in self._classes:
            self._classes[name] = []  # keeps its position before the classes it refers to
            self._classes[name] = self._class(schema, name)
        return name

    def _class(self, schema: Json, name: str) -> list[str]:
        required = schema.get("required", [])
        fields = {}
        for field, inner in schema["properties"].items():
            kind = self.type_of(inner, name + pascal(field))
            fields[field] = kind if field in required else f"NotRequired[{kind}]"
        if any(keyword.iskeyword(field) for field in fields):
            # A field that is a word of the language cannot be written as an attribute.
            rows = [f"        {json.dumps(field)}: {json.dumps(kind)}," for field, kind in fields.items()]
            return [f"{name} = TypedDict(", f'    "{name}",', "    {", *rows, "    },", ")"]
        lines = [f"class {name}(TypedDict):", *docstring(schema.get("description", ""), "    ")]
        if len(lines) > 1:
            lines.append("")
        for field, kind in fields.items():
            lines += [f"    {field}: {kind}", *docstring(schema["properties"][field].get("description", ""), "    ")]
        return lines

    def names(self) -> set[str]:
        return {*self._aliases, *self._classes, *self._unions}

    def source(self) -> str:
        head = [
            '"""What goes over the wire. Made by generate.py from openapi.json: do not edit."""',
            "",
            "from __future__ import annotations",
            "",
            "import sys",
            "from typing import Any, Literal, TypedDict",
            "",
            "if sys.version_info >= (3, 11):",
            "    from typing import NotRequired",
            "else:",
            "    from typing_extensions import NotRequired",
            "",
        ]
        for name, values in self._aliases.items():
            head += [f"{name} = Literal[", *(f"    {value}," for value in values), "]"]
        for lines in self._classes.values():
            head += ["", "", *lines]
        head += ["", ""]
        for name, union in self._unions.items():
            head.append(f"{name} = {union}")
        return "\n".join(head) + "\n"


def answer_of(models: Models, operation: Operation) -> str:
    """What a method returns: ``data`` of an object, an item of a list, the whole body of anything else."""
    schema = operation.answer
    name = operation.id[:1].upper() + operation.id[1:]
    if operation.is_list:
        return models.type_of(schema["properties"]["data"]["items"], f"{name}Item")
    if set(schema["properties"]) == {"success", "data"}:
        return models.type_of(schema["properties"]["data"], f"{name}Result")
    return models.type_of(schema, f"{name}Result")
