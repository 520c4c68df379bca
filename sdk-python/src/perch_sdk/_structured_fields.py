"""Dictionaries of structured fields (RFC 9651), as far as message signatures use them.

Stricter than the RFC if that matters only to an attacker: a key that comes twice, a number with leading zeros, or
base64 with stray bits is refused. So every value has one spelling, and a change of the signed text is noticed.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, NamedTuple

from ._errors import RequestVerificationError

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEY = re.compile(r"[a-z*][a-z0-9_.*-]*")
_BARE_ITEM = re.compile(
    "|".join(
        (
            r'"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"',  # string
            r":(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?:",  # bytes
            r"-?(?:0|[1-9][0-9]{0,11})\.(?:0|[0-9]{0,2}[1-9])",  # decimal
            r"0|-?[1-9][0-9]{0,14}",  # integer
            r"\?[01]",  # boolean
            r"[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*",  # token
        )
    )
)
_SPACES = re.compile(" +")
_OPTIONAL_SPACES = re.compile(r"[ \t]+")
_INTEGER = re.compile("-?[0-9]+")


class Item(NamedTuple):
    #: With its parameters, as a signature base spells it.
    text: str
    value: str
    #: By name, each value as it is spelled.
    parameters: Mapping[str, str]
    #: None unless it is an inner list.
    items: tuple[Item, ...] | None = None


def malformed(message: str) -> RequestVerificationError:
    return RequestVerificationError("malformed", message)


class _Reader:
    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._at = 0

    def take(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self._text, self._at)
        if not found:
            return None
        self._at = found.end()
        return found[0]

    def skip(self, character: str) -> bool:
        found = self._text.startswith(character, self._at)
        self._at += found
        return found

    def need(self, pattern: re.Pattern[str]) -> str:
        found = self.take(pattern)
        if found is None:
            raise self._unreadable()
        return found

    def need_character(self, character: str) -> None:
        if not self.skip(character):
            raise self._unreadable()

    def at_end(self) -> bool:
        return self._at == len(self._text)

    def twice(self, entry: str) -> RequestVerificationError:
        return malformed(f"The header {self._name} has {entry} twice. A request has one signature of Perch.")

    def _unreadable(self) -> RequestVerificationError:
        position = f"at its character {self._at + 1}"
        return malformed(
            f"The header {self._name} cannot be read {position}. Pass all headers of the request as they came."
        )


def _read_parameters(reader: _Reader) -> dict[str, str]:
    parameters: dict[str, str] = {}
    while reader.skip(";"):
        reader.take(_SPACES)
        name = reader.need(_KEY)
        if name in parameters:
            raise reader.twice(name)
        parameters[name] = reader.need(_BARE_ITEM) if reader.skip("=") else "?1"
    return parameters


def _item(value: str, parameters: dict[str, str], items: tuple[Item, ...] | None = None) -> Item:
    texts = (f";{name}" if value == "?1" else f";{name}={value}" for name, value in parameters.items())
    return Item(value + "".join(texts), value, parameters, items)


def _read_inner_list(reader: _Reader) -> tuple[Item, ...]:
    items: list[Item] = []
    while True:
        spaces = reader.take(_SPACES)
        if reader.skip(")"):
            return tuple(items)
        if items and spaces is None:
            reader.need_character(" ")
        items.append(_item(reader.need(_BARE_ITEM), _read_parameters(reader)))


def _read_member(reader: _Reader) -> Item:
    if not reader.skip("="):
        return _item("?1", _read_parameters(reader))  # a key alone is a true value
    if not reader.skip("("):
        return _item(reader.need(_BARE_ITEM), _read_parameters(reader))
    items = _read_inner_list(reader)
    return _item(f"({' '.join(item.text for item in items)})", _read_parameters(reader), items)


def parse_dictionary(name: str, text: str) -> dict[str, Item]:
    """The members of a header that is a dictionary. ``name`` is for the error."""
    members: dict[str, Item] = {}
    reader = _Reader(name, text)
    reader.take(_SPACES)
    while not reader.at_end():
        key = reader.need(_KEY)
        if key in members:
            raise reader.twice(key)
        members[key] = _read_member(reader)
        reader.take(_OPTIONAL_SPACES)
        if reader.at_end():
            break
        reader.need_character(",")
        reader.take(_OPTIONAL_SPACES)
        if reader.at_end():
            reader.need(_KEY)  # nothing may follow a comma but another member
    return members


def string_of(value: str | None) -> str | None:
    """The text of a string; None if the value is something else."""
    return re.sub(r'\\(["\\])', r"\1", value[1:-1]) if value and value.startswith('"') else None


def integer_of(value: str | None) -> int | None:
    return int(value) if value and _INTEGER.fullmatch(value) else None


def bytes_of(value: str | None) -> bytes | None:
    return base64.b64decode(value[1:-1]) if value and value.startswith(":") else None
