"""One call of one operation, as both clients send it."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, final
from urllib.parse import quote

from ._model import to_wire

if TYPE_CHECKING:
    from collections.abc import Mapping


@final
class Omit:
    """The type of :data:`OMIT`, which marks a field that is not sent at all; ``None`` would be sent as ``null``."""

    def __repr__(self) -> str:
        return "OMIT"

    def __bool__(self) -> bool:
        return False


OMIT: Final = Omit()


def path_of(template: str, **params: str) -> str:
    """The path with its parameters filled in and escaped."""
    for name, value in params.items():
        if value in ("", ".", ".."):
            raise ValueError(f"{name} must not be {value!r}")
        template = template.replace("{" + name + "}", quote(value, safe=""))
    return template


def body_of(**fields: Any) -> dict[str, Any]:
    """The fields that were given."""
    return {name: to_wire(value) for name, value in fields.items() if value is not OMIT}


def given(value: Any) -> Any:
    """None leaves out a field that cannot be null."""
    return OMIT if value is None else value


def _in_query(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(to_wire(value))


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = OMIT
    headers: Mapping[str, str] = field(default_factory=dict)
    #: The same for all attempts of this call, so that it takes effect once.
    idempotency_key: str | None = None
    #: The tag of the state that this call may change.
    if_match: str | None = None
    #: The client's unless set.
    timeout_seconds: float | None = None

    def content(self) -> dict[str, Any]:
        """Headers, query and body, as arguments for httpx."""
        key = {} if self.idempotency_key is None else {"idempotency-key": self.idempotency_key}
        condition = {} if self.if_match is None else {"if-match": self.if_match}
        content: dict[str, Any] = {"headers": {**self.headers, **key, **condition}}
        query = {name: _in_query(value) for name, value in self.query.items() if value is not None}
        if query:
            content["params"] = query
        if self.body is not OMIT:
            content["json"] = self.body
        return content


def new_key(idempotency_key: str | None) -> str:
    """The caller's own, or a new one."""
    if idempotency_key is None:
        return str(uuid.uuid4())
    if not re.fullmatch(r"[\x21-\x7e]{1,255}", idempotency_key):
        raise ValueError("An idempotency_key is 1 to 255 visible ASCII characters without spaces")
    return idempotency_key
