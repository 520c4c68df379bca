"""Classes for the objects that the service returns."""

from __future__ import annotations

import json

from .document import Json, Operation, identifier, pascal
from .schemas import Schemas, docstring, literal

_longest_in_place = 90
#: Events of a run have classes of their own, which apply each token to the text.
RUN_EVENTS = "#/components/schemas/RunEvent"
#: The attributes that every object has beside its fields.
_taken = {"from_dict", "to_dict", "unknown_fields"}


class Models(Schemas):
    def __init__(self, document: Json) -> None:
        super().__init__(document)
        self._aliases: dict[str, list[str]] = {}
        self._decoders: dict[str, dict[str, str]] = {}
        #: Names on the wire of the fields of each class.
        self.fields: dict[str, set[str]] = {}

    def enum(self, values: list[object], name: str) -> str:
        """Inline if it is short, else under the first name it is used with."""
        rows = [literal([value]).removeprefix("Literal[")[:-1] for value in values]
        known = next((alias for alias, others in self._aliases.items() if others == rows), None)
        if known is None and name not in self._schemas and len(literal(values)) < _longest_in_place:
            return literal(values)
        self._aliases.setdefault(known or name, rows)
        return known or name

    def class_lines(self, schema: Json, name: str) -> list[str]:
        properties: Json = schema["properties"]
        required = schema.get("required", [])
        attributes = {wire: identifier(wire) for wire in properties}
        if taken := _taken & {*attributes.values()}:
            raise ValueError(f"{name} has a field that every object has: {taken}")
        lines = [f"class {name}(Model):", *docstring(schema.get("description", ""), "    ")]
        if len(lines) > 1:
            lines.append("")
        renamed = {attribute: wire for wire, attribute in attributes.items() if wire != attribute}
        if renamed:
            rows = (f'        "{attribute}": "{wire}",' for attribute, wire in renamed.items())
            lines += ["    _wire_names: ClassVar[dict[str, str]] = {", *rows, "    }", ""]
        decoders: dict[str, str] = {}
        for wire, attribute in attributes.items():
            kind = self.type_of(properties[wire], name + pascal(wire))
            if wire not in required:
                kind = f"{kind} = None" if kind.endswith(" | None") else f"{kind} | None = None"
            lines += [f"    {attribute}: {kind}", *docstring(properties[wire].get("description", ""), "    ")]
            decoder = self.decoder_of(properties[wire], name + pascal(wire))
            if decoder:
                decoders[attribute] = decoder
        self._decoders[name] = decoders
        self.fields[name] = set(properties)
        return lines

    def decoder_of(self, schema: Json, name: str) -> str | None:
        """The code that decodes a value from JSON; None if the value needs no decoding."""
        found = self.resolved(schema)
        if found.get("format") == "date-time":
            return "timestamp"
        if found.get("type") == "array":
            inner = self.decoder_of(found["items"], name + "Item")
            return inner and f"each({inner})"
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
        every = found.get("anyOf") or found.get("oneOf") or []
        # A word is its own value.
        parts = [one for one in every if one.get("type") != "null" and not {"enum", "const"} & one.keys()]
        if len(parts) == 1:
            return self.decoder_of(parts[0], name)
        kind = self.type_of(schema, name)
        kinds = [one for one in self._unions.get(kind, kind).split(" | ") if one != "None"]
        if not all(one in self._classes for one in kinds):
            return None
        if len(kinds) == 1:
            return f"one({kind})"
        return _by_field({one: self.resolved(part) for one, part in zip(kinds, parts, strict=True)})

    def source(self) -> str:
        lines = [
            '"""What the service returns. Made by generate.py from openapi.json: do not edit."""',
            "",
            "from __future__ import annotations",
            "",
            "from typing import TYPE_CHECKING, Any, ClassVar, Literal",
            "",
            "from .._model import Model, by_field, decodes, each, one, timestamp",
            "",
            "if TYPE_CHECKING:",
            "    from datetime import datetime",
            "",
            *self.exports(),
            "",
        ]
        for name, values in self._aliases.items():
            lines += [f"{name} = Literal[", *(f"    {value}," for value in values), "]"]
        lines += [*self.classes(), *self.unions(), ""]
        for name, decoders in self._decoders.items():
            if decoders:
                rows = (f"    {field}={decoder}," for field, decoder in decoders.items())
                lines += ["decodes(", f"    {name},", *rows, ")"]
        return "\n".join(lines) + "\n"

    def names(self) -> set[str]:
        return {*super().names(), *self._aliases}


def _by_field(kinds: dict[str, Json]) -> str:
    """The field that shows which of several classes an object belongs to."""
    for field in next(iter(kinds.values()))["properties"]:
        values = {name: kind["properties"].get(field, {}).get("const") for name, kind in kinds.items()}
        if None not in values.values():
            rows = ", ".join(f"{json.dumps(value)}: {name}" for name, value in values.items())
            return f'by_field("{field}", {{{rows}}})'
    raise ValueError(f"Nothing says which of these an object is: {[*kinds]}")


def answer_of(models: Models, operation: Operation) -> str:
    """The result of a method: ``data`` of an object, an item of a list, the whole body of anything else."""
    schema = operation.answer
    name = operation.id[:1].upper() + operation.id[1:]
    if operation.is_list:
        return models.type_of(schema["properties"]["data"]["items"], f"{name}Item")
    if set(schema["properties"]) == {"success", "data"}:
        return models.type_of(schema["properties"]["data"], f"{name}Result")
    return models.type_of(schema, f"{name}Result")
