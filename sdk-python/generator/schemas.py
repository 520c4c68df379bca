"""Types of schemas, whichever way they go over the wire."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .document import Json, pascal

if TYPE_CHECKING:
    from collections.abc import Iterable

_simple = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def docstring(text: str, indent: str) -> list[str]:
    text = " ".join(text.split()).replace("\\", "\\\\").replace("`", "``")
    return [f'{indent}"""{text}{" " if text.endswith(chr(34)) else ""}"""'] if text else []


def literal(values: Iterable[object]) -> str:
    return "Literal[" + ", ".join(json.dumps(one) if isinstance(one, str) else repr(one) for one in values) + "]"


def qualified(text: str, names: Iterable[str], module: str) -> str:
    """``m.Agent`` for ``Agent``, because the class of a resource may have the same name as its objects."""
    known = set(names)
    out, word = "", ""
    for character in text + "\0":
        if character.isidentifier() or (word and character.isalnum()):
            word += character
            continue
        is_name = word in known and not out.endswith(('"', "."))
        out += (f"{module}.{word}" if is_name else word) + character
        word = ""
    return out[:-1]


def _kind_of(part: Json) -> str | None:
    """The constant that distinguishes an object of a union from the others: in ``type``, or else its first field."""
    properties: Json = part.get("properties", {})
    first: Json = next(iter(properties.values()), {})
    found = properties.get("type", first).get("const")
    return None if found is None else str(found)


class Schemas:
    """Collects the schemas that the operations need, in the order of the document."""

    #: The type of a time.
    time = "datetime"

    def __init__(self, document: Json) -> None:
        self._schemas: Json = document["components"]["schemas"]
        self._named: dict[str, str] = {}
        self._classes: dict[str, list[str]] = {}
        self._unions: dict[str, str] = {}

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
            return self.enum(schema["enum"], name)
        kind = schema.get("type")
        if isinstance(kind, list):
            return " | ".join(_simple[one] for one in kind)
        if kind == "array":
            return self.list_of(self.type_of(schema["items"], name + "Item"))
        if kind == "object":
            return self._object(schema, name)
        if schema.get("format") == "date-time":
            return self.time
        return _simple.get(str(kind), "Any")

    def resolved(self, schema: Json) -> Json:
        while "$ref" in schema:
            schema = self._schemas[schema["$ref"].rsplit("/", 1)[1]]
        return schema

    def list_of(self, item: str) -> str:
        return f"list[{item}]"

    def enum(self, values: list[object], name: str) -> str:
        raise NotImplementedError

    def class_name(self, name: str) -> str:
        return name

    def class_lines(self, schema: Json, name: str) -> list[str]:
        raise NotImplementedError

    def class_type(self, schema: Json, name: str) -> str:
        """The type of an object of this class."""
        return self.class_name(name)

    def _reference(self, name: str) -> str:
        if name not in self._named:
            schema = self._schemas[name]
            self._named[name] = self.class_name(name)  # first, for types that hold themselves
            made = self.type_of(schema, name)
            if "oneOf" in schema:
                self._unions[self.class_name(name)] = made
            else:
                self._named[name] = made
        return self._named[name]

    def _union(self, parts: list[Json], name: str) -> str:
        types: list[str] = []
        for index, part in enumerate(parts, 1):
            kind = _kind_of(part) or (index if len(parts) > 2 else "")
            # Words beside an object: the name is the object's.
            words = "Word" if "enum" in part else ""
            one = self.type_of(part, name + pascal(str(kind)) + words)
            if one not in types:
                types.append(one)
        return " | ".join(types)

    def _object(self, schema: Json, name: str) -> str:
        is_open = schema.get("additionalProperties", False) is not False
        if is_open or not schema.get("properties"):
            return "dict[str, Any]"
        key = self.class_name(name)
        if key not in self._classes:
            self._classes[key] = []  # keeps its position before the classes it refers to
            self._classes[key] = self.class_lines(schema, name)
        return self.class_type(schema, name)

    def classes(self) -> list[str]:
        lines: list[str] = []
        for one in self._classes.values():
            lines += ["", "", *one]
        return lines

    def unions(self) -> list[str]:
        return ["", "", *(f"{name} = {union}" for name, union in self._unions.items())]

    def names(self) -> set[str]:
        return {*self._classes, *self._unions}

    def exports(self) -> list[str]:
        return ["__all__ = [", *(f'    "{name}",' for name in sorted(self.names())), "]"]
