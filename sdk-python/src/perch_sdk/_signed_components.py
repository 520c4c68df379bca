"""The text that a signature of a request signs (RFC 9421, section 2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ._errors import RequestVerificationError
from ._structured_fields import malformed, parse_dictionary, string_of

if TYPE_CHECKING:
    from ._structured_fields import Item


class HasItems(Protocol):
    """Headers as most servers provide them, such as a mapping or ``email.message.Message``."""

    def items(self) -> Iterable[tuple[str, str]]: ...


#: All headers of a request. Pairs may name a header more than once, and may be bytes, as ASGI has them.
RequestHeaders = (
    HasItems | Mapping[str, "str | Sequence[str]"] | Iterable["tuple[str, str]"] | Iterable["tuple[bytes, bytes]"]
)

_FOLD = re.compile(r"[ \t]*\r?\n[ \t]+")
_COVERABLE = re.compile(r"[\t\x20-\x7e]*")
_URI = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#]+)(/[^?#]*)(\?[^#]*)?")


class Message(NamedTuple):
    """A request as a signature sees it."""

    method: str
    #: The address that the sender used, without a fragment.
    target_uri: str
    #: All lines of a header in one, by its name in lower case.
    fields: Mapping[str, str]


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def read_fields(headers: RequestHeaders) -> dict[str, str]:
    pairs = headers.items() if hasattr(headers, "items") else headers
    lines: dict[str, list[str]] = {}
    for name, value in pairs:
        values = [value] if isinstance(value, str | bytes) else value
        canonical = [_FOLD.sub(" ", _text(one)).strip(" \t") for one in values]
        lines.setdefault(_text(name).lower(), []).extend(canonical)
    return {name: ", ".join(values) for name, values in lines.items() if values}


def _derived_value(name: str, message: Message) -> str | None:
    found = _URI.fullmatch(message.target_uri)
    if not found:
        raise malformed("The address of the request is neither a path nor a URL.")
    scheme, authority, path, query = found.groups(default="")
    values = {
        "@method": message.method,
        "@target-uri": message.target_uri,
        "@scheme": scheme,
        "@authority": authority,
        "@path": path,
        "@query": query or "?",  # an absent query counts as an empty one
        "@request-target": path + query,
    }
    return values.get(name)


def _unsupported(identifier: str) -> RequestVerificationError:
    return RequestVerificationError(
        "unsupported_component",
        f"The signature covers {identifier}, which this version cannot check. Update the SDK.",
    )


def _field_value(item: Item, name: str, message: Message) -> str | None:
    field = message.fields.get(name)
    if not item.parameters or field is None:
        return field
    key = string_of(item.parameters.get("key"))
    if key is None or len(item.parameters) > 1:
        raise _unsupported(item.text)
    member = parse_dictionary(name, field).get(key)
    return member.text if member else None


def _component_value(item: Item, message: Message) -> str | None:
    name = string_of(item.value)
    if name is None or name != name.lower():
        raise _unsupported(item.text)
    if not name.startswith("@"):
        return _field_value(item, name, message)
    value = None if item.parameters else _derived_value(name, message)
    if value is None:
        raise _unsupported(item.text)
    return value


def _component_line(item: Item, message: Message) -> str:
    value = _component_value(item, message)
    if value is None:
        raise RequestVerificationError(
            "missing_component",
            f"The signature covers {item.text}, which the request does not have. "
            "Pass all headers of the request as they came.",
        )
    # Anything else could pass for another line of the base.
    if not _COVERABLE.fullmatch(value):
        raise malformed(f"{item.text} has a character that a signature cannot cover.")
    return f"{item.text}: {value}"


def signature_base(message: Message, signature_input: Item) -> bytes:
    """``signature_input`` is the signature's member of ``Signature-Input``."""
    items = signature_input.items or ()
    if len({item.text for item in items}) < len(items):
        raise malformed("The signature covers a component twice.")
    lines = [_component_line(item, message) for item in items]
    return "\n".join([*lines, f'"@signature-params": {signature_input.text}']).encode("ascii")
